# SPDX-License-Identifier: Apache-2.0
"""`series.list`: lengths, elements and slices of lists."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pyarrow as pa

from ..table._column import Column, of_family
from ..table._dtypes import wide
from ..table._expand_lists import expand_lists, expanded_values
from ..table._from_host import column_from
from ..table._holes import assumes_holes
from ..table._list_slices import elements_at, sliced_lists
from ..table._lists import ListColumn, lengths_of
from ..table._ndframe import SeriesBase
from ..table._object_functions import as_objects
from ..table._table import Table
from ..table._take import any_missing, settled
from ..table._to_host import to_host
from ..table._tracing import answered_at_once, is_traced
from ..table._types import DtypeLike
from ._read_only import ReadOnly


class ListMethods(ReadOnly):
    """`series.list`: pandas' methods of lists, on the device.

    A slice shares the values; nothing is copied. Methods work inside `jit`, and over a mesh.

    Differences from pandas:
        Series of any lists have it, not only those of an Arrow-backed dtype. Negative positions
        count from the end. Inside `jit` a position after the end gives a missing value.

    Example:
        >>> from jaxframes.frame import JaxSeries
        >>> tokens = JaxSeries(["a b c", "d"]).str.split()
        >>> tokens.list.len().tolist(), tokens.list[-1].tolist()
        ([3, 1], ['c', 'd'])
    """

    def __init__(self, series: SeriesBase):
        self._series = series
        self._column: ListColumn = list_column(series)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"'ListMethods' object has no attribute {name!r}")

    def __iter__(self) -> Any:
        raise TypeError("'ListMethods' object is not iterable")

    def len(self) -> Any:
        """The number of values of each list."""
        return self._series._with_column(lengths(self._column, self._series._table, np.int32))

    def __getitem__(self, key: Any) -> Any:
        table = self._series._table
        if isinstance(key, slice):
            return self._series._with_column(sliced_lists(self._column, key, table.layout))
        if not isinstance(key, (int, np.integer)):
            raise ValueError(f"key must be an int or slice, got {type(key).__name__}")
        column = elements_at(self._column, int(key), table)
        if not is_traced(self._column, table.num_rows):
            _check_position(self._column, int(key), table)
        return self._series._with_column(column)

    def flatten(self, *, capacity: int | None = None) -> Any:
        """The values of all lists, with the label of their row each.

        Inside `jit`, `capacity` must be the maximum number of values.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries(["a b", "", "c"]).str.split().list.flatten().tolist()
            ['a', 'b', 'c']
        """
        table = self._series._table
        lists = expand_lists(self._column, table, capacity, "flatten", keeps_empty=False)
        values = expanded_values(self._column, lists, table)
        return self._series._like(lists.rows_of(table).with_columns([values]))


def holds_lists(column: Column) -> bool:
    """Whether a column holds lists, on the device or, as its first value tells, on the host."""
    if column.kind != "object" or column.type.dictionary is None:
        return column.kind == "list"
    values = column.type.dictionary.values
    first = next((value for value in values if value is not None and value is not np.nan), None)
    return isinstance(first, (list, np.ndarray))


def list_column(series: SeriesBase) -> ListColumn:
    """The lists of a series; those of Python objects are copied to the device."""
    column = series._only
    if isinstance(column, ListColumn):
        return column
    message = f"Can only use the '.list' accessor with lists, not {column.dtype_name}."
    if column.kind != "object" or is_traced(column.data, series._table.num_rows):
        raise AttributeError(message)
    return lists_of_objects(column, series._table, message)


def lists_of_objects(column: Column, table: Table, message: str) -> ListColumn:
    """Lists of Python or NumPy, with values of one type, as a column of lists.

    Raises:
        AttributeError: the objects are not such lists; with the message.
    """
    objects = to_host(column, table.num_rows_on_host)
    try:
        lists = pa.array(objects, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise AttributeError(f"{message} {error}") from None
    made = column_from(lists, table.capacity, table.layout)
    if not isinstance(made, ListColumn):
        raise AttributeError(message)
    return made.with_form(made.form._replace(form="list"))


def lengths(column: ListColumn, table: Table, dtype: DtypeLike) -> Column:
    """The number of values of each row's list, in a dtype, missing for a missing list."""
    counts = lengths_of(column, table.layout)
    counts = Column(counts.data.astype(wide(dtype)), counts.valid)
    if column.form.form == "arrow":
        return of_family(counts, "arrow")
    if column.form.form == "nullable" and not is_traced(counts, table.num_rows):
        # pandas has the numbers as objects if one is missing, then NA.
        if assumes_holes() or any_missing(counts.present(), table.num_rows):
            return as_objects(of_family(counts, "masked"), table.num_rows, "len")
        return Column(counts.data)
    return settled(counts, table.num_rows)


def _check_position(column: ListColumn, position: int, table: Table) -> None:
    """Raises unless each list has a value at a position."""
    at_least = position + 1 if position >= 0 else -position
    shortest = _shortest(lengths_of(column, table.layout), table)
    if shortest < at_least:
        raise IndexError(
            f"Index {position} is out of bounds: should be in [0, {shortest}). "
            f"Use .str[{position}], which is missing in shorter lists."
        )


@answered_at_once
def _shortest(lengths: Column, table: Table) -> int:
    most = np.int32(np.iinfo(np.int32).max)
    counts = jnp.where(lengths.mask() & table.is_row(), lengths.data, most)
    return int(jnp.min(counts, initial=most))
