# SPDX-License-Identifier: Apache-2.0
"""A column with the segments of its rows, inside compiled functions."""

import functools
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..table._column import Array, Column
from ._grouped_column import Segments
from ._in_step import Reducing, Request


class GroupedRows:
    """A column (see `bare`) with its segments, and cached masks and counts.

    Methods that return `Reducing` are reductions that run in step with others.
    """

    def __init__(self, column: Column, segments: Segments):
        self.column, self.segments, self.data = column, segments, column.data
        self.is_float: bool = column.is_float
        self.can_miss: bool = column.can_miss
        self._counts: Array | None = None

    @functools.cached_property
    def missing(self) -> Array:
        return self.column.missing()

    @functools.cached_property
    def present(self) -> Array:
        """The segment ids of rows with a value, -1 elsewhere."""
        ids = self.segments.ids
        return jnp.where(self.missing, np.int32(-1), ids) if self.can_miss else ids

    def of_group(self, op: str, x: Array) -> Request:
        """Asks for a reduction of an array over all rows of each group."""
        return Request(op, x, self.segments.ids)

    def of_present(self, op: str, x: Array, ddof: int = 0) -> Request:
        """Asks for a reduction of an array over the rows with a value."""
        if op == "sum" and self._masks:
            return self.of_group(op, self.without_missing(x, 0))
        return Request(op, x, self.present, ddof)

    def sizes(self) -> Reducing:
        """Returns the number of rows of each segment, int32."""
        return (yield Request("count", None, self.segments.ids))

    def counted(self) -> Reducing:
        """Returns the number of values in each segment, int32."""
        if self._counts is None:
            if self._masks:
                self._counts = yield self.of_group("sum", self._flags)
            else:
                self._counts = yield Request("count", None, self.present)
        return self._counts

    def whole(self) -> Reducing:
        """Returns whether no value of a segment is missing."""
        counts = yield from self.counted()
        sizes = yield from self.sizes()
        return counts == sizes

    def for_extreme(self, is_max: bool) -> tuple[Array, Array]:
        """The data and the ids for a minimum or maximum; that of no values is arbitrary."""
        if not self._masks:
            return self.data, self.present
        dtype = self.data.dtype
        if jnp.issubdtype(dtype, jnp.floating):
            identity: Any = -np.inf if is_max else np.inf
        elif dtype == jnp.bool_:
            identity = not is_max
        else:
            limits = jnp.iinfo(dtype)
            identity = limits.min if is_max else limits.max
        return self.without_missing(self.data, identity), self.segments.ids

    @property
    def _masks(self) -> bool:
        """Whether missing values are masked, so that columns have the same ids, and one message."""
        return self.can_miss and self.segments.is_sharded

    @functools.cached_property
    def _flags(self) -> Array:
        return (~self.missing).astype(jnp.int32)

    def for_rows(self, values: Array) -> Array:
        """Gathers each row's value from the values of the segments; zero for missing rows."""
        return self.segments.for_rows(values, self.present)

    def without_missing(self, x: Array, identity: object) -> Array:
        """Replaces missing values with the identity element."""
        return jnp.where(self.missing, x.dtype.type(identity), x) if self.can_miss else x
