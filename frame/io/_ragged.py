# SPDX-License-Identifier: Apache-2.0
"""`to_ragged` and `from_ragged`: lists as values and offsets for the primitives."""

from collections.abc import Hashable
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np

from ...primitives import Ragged
from ..accessors._list import list_column
from ..table._array_owners import share_with_caller
from ..table._column import NUMBER, Array, Column, fill_missing, plain
from ..table._expand_lists import expand_lists, expanded_values
from ..table._layout import ONE_DEVICE, Layout
from ..table._lists import Lists, column_of_lists, spans_of
from ..table._ndframe import NDFrame, SeriesBase
from ..table._row_index import RANGE
from ..table._table import NO_ROWS, Table, as_count
from ..table._take import position
from ..table._tracing import is_traced


class SeriesRagged(SeriesBase):
    """Lists as ragged values of the primitives, and back."""

    def to_ragged(self, *, capacity: int | None = None) -> Ragged:
        """Converts lists to values and offsets, which segment ops take.

        Outside `jit` there is a segment for each row. Inside `jit` there is one for each row of the
        capacity, empty after the last row, and `capacity` must be the maximum number of values. A
        missing list is an empty segment. Strings are dictionary codes, as in `to_jax`; over a mesh
        values and offsets are sharded like rows if it divides their numbers.

        Example:
            >>> from jaxframes import primitives
            >>> from jaxframes.frame import JaxSeries
            >>> words = JaxSeries(["to be or not", "", "to be"]).str.split()
            >>> ragged = words.to_ragged()
            >>> ragged.values.tolist(), ragged.offsets.tolist()
            ([3, 0, 2, 1, 3, 0], [0, 4, 4, 6])
            >>> primitives.segment_count(ragged.segment_ids, ragged.num_segments).tolist()
            [4, 0, 2]
        """
        column, table = list_column(self), self._table
        if column.lists.values.kind == "list":
            raise NotImplementedError(
                "to_ragged: lists must hold values, got lists of lists. Use list.flatten() first."
            )
        lists = expand_lists(column, table, capacity, "to_ragged", keeps_empty=False)
        values = fill_missing(plain(expanded_values(column, lists, table))).data
        # The values of rows alone: those after the last row have arbitrary lists.
        lengths = jnp.where(table.is_row(), spans_of(column, table.layout)[1], 0)
        if not is_traced(values, lengths):
            values = table.layout.trim(values, int(lists.num_values))
            lengths = table.layout.trim(lengths, table.num_rows_on_host)
            share_with_caller(values)
        starts = Ragged.from_lengths(values, lengths).offsets[:-1]
        # Not by `at[-1].set`: over a mesh XLA would set an element of each shard.
        count = jnp.where(lists.needed > 0, lists.needed, lists.num_values).astype(jnp.int32)
        return Ragged(values, jnp.concatenate([starts, count[None]]))

    @classmethod
    def from_ragged(cls, ragged: Ragged, *, like: object = None, name: Hashable = None) -> Self:
        """Converts values and offsets to lists, a row for each segment.

        Args:
            ragged: the values, one array of numbers, and the offsets.
            like: a frame or a series whose rows these are, such as that of `to_ragged`; by default
                the rows are labelled 0, 1, ...
            name: the name of the series.

        Works inside `jit`.

        Example:
            >>> import jax.numpy as jnp
            >>> from jaxframes.frame import JaxSeries
            >>> from jaxframes.primitives import Ragged
            >>> ragged = Ragged.from_lengths(jnp.array([5, 6, 7]), jnp.array([2, 1]))
            >>> JaxSeries.from_ragged(ragged).tolist()
            [[5, 6], [7]]
        """
        values: Any = ragged.values
        if not isinstance(values, jax.Array) or values.ndim != 1:
            raise TypeError(
                "from_ragged: values must be one array of one dimension, got "
                f"{jax.tree.map(jax.typeof, values)}. Make a series of each."
            )
        if like is None:
            layout = ONE_DEVICE
            num_rows: Any = as_count(ragged.num_segments)
            table = Table((), RANGE, num_rows, NO_ROWS, layout)
        else:
            table = _rows_of(like, ragged.num_segments)
        column = _column_of(ragged, values, table)
        return cls._of(table.with_columns([column]), name)


def _rows_of(like: object, num_segments: int) -> Table:
    """The rows of a frame or series, which has one for each segment."""
    if not isinstance(like, NDFrame):
        raise TypeError(f"from_ragged: like must be a frame or a series, got {type(like).__name__}")
    table = like._table
    are_traced = is_traced(table.num_rows)
    if num_segments != table.capacity and (are_traced or num_segments != len(like)):
        rows = f"a capacity of {table.capacity}" if are_traced else f"{len(like)} rows"
        raise ValueError(
            f"from_ragged: like must have a row for each of {num_segments} segments, got {rows}."
        )
    return table


def _column_of(ragged: Ragged, values: Array, table: Table) -> Column:
    layout, capacity = table.layout, table.capacity
    starts, lengths = ragged.offsets[:-1], ragged.lengths
    # Values that did not fit the capacity are lost.
    lengths = jnp.clip(values.shape[0] - starts, 0, lengths)
    padding = capacity - starts.shape[0]
    if padding:
        starts, lengths = jnp.pad(starts, (0, padding)), jnp.pad(lengths, (0, padding))
    room = layout.divisible(max(values.shape[0], 1))
    if room != values.shape[0]:
        values = jnp.pad(values, (0, room - values.shape[0]))
    else:
        share_with_caller(values)
    placed = [_placed(one, layout) for one in (starts.astype(np.int32), lengths, values)]
    lists = Lists(placed[0], placed[1], Column(placed[2], None, NUMBER))
    return column_of_lists(position(capacity, layout), lists)


def _placed(rows: Array, layout: Layout) -> Array:
    return layout.constrain(rows) if is_traced(rows) else layout.place(rows)
