# SPDX-License-Identifier: Apache-2.0
"""Segments of rows, and columns with their segments, inside compiled functions."""

import dataclasses
import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..reductions._moments import positive
from ..table._column import Array, Column, ColumnType
from ..table._dictionary import HostObjects
from ..table._dtypes import wide
from ..table._layout import ONE_DEVICE, Layout
from ..table._take import gather


class Reduction(NamedTuple):
    """A reduction and its arguments. Static under `jit`."""

    op: str
    min_count: int = -1
    ddof: int = 1
    skipna: bool = True
    q: float = 0.5
    interpolation: str = "linear"


@functools.partial(
    jax.tree_util.register_dataclass,
    data_fields=("ids", "of_groups"),
    meta_fields=("num_segments", "layout"),
)
@dataclasses.dataclass(frozen=True)
class Segments:
    """The segment of each row, and the segments that are groups. A pytree.

    Attributes:
        ids: the segment id of each row, -1 for rows without a group.
        of_groups: the segment id of each group; None if segment ids number the groups.
        num_segments: the number of segment ids. Static.
        layout: the layout of the rows. Static.
    """

    ids: Array
    of_groups: Array | None
    num_segments: int
    layout: Layout

    def reduce(self, op: str, x: Any, ids: Array | None = None, **settings: Any) -> Any:
        """Reduces the rows of each segment, by default of all rows with a group."""
        settings |= self.layout.on_mesh
        ids = self.ids if ids is None else ids
        return primitives.segment_reduce(x, ids, self.num_segments, op, **settings)

    def scan(self, x: Any, op: Any, **settings: Any) -> Any:
        """Scans the rows of each segment."""
        settings |= {"is_sorted": False, "num_segments": self.num_segments, **self.layout.on_mesh}
        return primitives.segmented_scan(x, op, segment_ids=self.ids, **settings)

    def select_groups(self, values: Any) -> Any:
        """Selects the groups' values from those of all segments. Traced."""
        if self.of_groups is not None:
            values = jax.tree.map(lambda leaf: leaf[self.of_groups], values)
        return self.layout.constrain(values)


_CODES = ColumnType("object", HostObjects(np.empty(0, object)))
_TIMES = ColumnType("timedelta", unit="ns")


def bare(column: Column) -> Column:
    """A column without its dictionary or unit: such columns share compiled programs."""
    if column.is_numeric:
        return column
    type = _CODES if column.type.has_codes else _TIMES
    return dataclasses.replace(column, type=type)


class GroupedRows:
    """A column (see `bare`) with its segments, and cached masks and counts."""

    def __init__(self, column: Column, segments: Segments):
        self.column, self.segments, self.data = column, segments, column.data
        self.is_float: bool = column.is_float
        self.can_miss: bool = column.can_miss

    @functools.cached_property
    def missing(self) -> Array:
        return self.column.missing()

    @functools.cached_property
    def present(self) -> Array:
        """The segment ids of rows with a value, -1 elsewhere."""
        ids = self.segments.ids
        return jnp.where(self.missing, np.int32(-1), ids) if self.can_miss else ids

    @functools.cached_property
    def counts(self) -> Array:
        """The number of values in each segment, int32."""
        return self.segments.reduce("count", None, self.present)

    @functools.cached_property
    def is_whole(self) -> Array:
        """Whether no value of a segment is missing."""
        return self.counts == self.segments.reduce("count", None)

    def reduce(self, op: str, x: Any, **settings: Any) -> Any:
        """Reduces an array over the rows with a value."""
        return self.segments.reduce(op, x, self.present, **settings)

    def for_rows(self, values: Array) -> Array:
        """Gathers each row's value from the values of the segments; zero for missing rows."""
        return gather(values, self.present, ONE_DEVICE)

    def without_missing(self, x: Array, identity: Any) -> Array:
        """Replaces missing values with the identity element."""
        return jnp.where(self.missing, x.dtype.type(identity), x) if self.can_miss else x


def sum_dtype(dtype: Any) -> Any:
    """pandas' dtype of a sum of values."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return dtype
    return wide(np.uint64 if jnp.issubdtype(dtype, jnp.unsignedinteger) else np.int64)


def quotient(total: Array, counts: Array) -> Array:
    """Divides by counts; NaN for counts of zero, which add no NaN to the derivative."""
    mean = total / positive(counts).astype(total.dtype)
    return jnp.where(counts > 0, mean, total.dtype.type(np.nan))
