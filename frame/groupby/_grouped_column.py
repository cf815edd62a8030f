# SPDX-License-Identifier: Apache-2.0
"""A column with its segment ids, inside compiled functions."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ...shardings._compat import is_x64_enabled
from ..table._column import NAT, Array, ColumnType, missing_rows
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


def array_kind(type: ColumnType) -> str:
    """The kind of array of a column: "code", "time" or "number"."""
    return "code" if type.has_codes else "time" if type.is_time else "number"


class GroupedRows:
    """The values and segment ids of one column, with cached masks and counts."""

    def __init__(
        self,
        data: Array,
        valid: Array | None,
        kind: str,
        segment_ids: Array,
        num_segments: int,
        layout: Layout,
    ):
        self.data, self.valid, self.kind = data, valid, kind
        self.segment_ids, self.num_segments, self.layout = segment_ids, num_segments, layout

    @property
    def is_float(self) -> bool:
        return self.kind == "number" and jnp.issubdtype(self.data.dtype, jnp.inexact)

    @property
    def can_miss(self) -> bool:
        return self.valid is not None or self.kind != "number" or self.is_float

    @functools.cached_property
    def missing(self) -> Array:
        if self.valid is None and self.kind == "code":
            return self.data < 0
        if self.valid is None and self.kind == "time":
            return self.data == NAT
        return missing_rows(self.data, self.valid, ColumnType())

    @functools.cached_property
    def present(self) -> Array:
        """The segment ids of rows with a value, -1 elsewhere."""
        return (
            jnp.where(self.missing, np.int32(-1), self.segment_ids)
            if self.can_miss
            else self.segment_ids
        )

    @functools.cached_property
    def counts(self) -> Array:
        """The number of values in each segment, int32."""
        return primitives.segment_count(self.present, self.num_segments, **self.layout.on_mesh)

    def reduce(self, op: str, x: Array | None, ids: Array, **settings: Any) -> Array:
        return primitives.segment_reduce(
            x, ids, self.num_segments, op, **settings, **self.layout.on_mesh
        )

    def for_segments(self, rows: Array, row_ids: Array) -> Array:
        """The row at each segment's row id, zero for -1; replicated like results of reductions."""
        return self.layout.on_every_device(gather(rows, row_ids, self.layout))

    def for_rows(self, values: Array) -> Array:
        """Gathers each row's value from the values of the segments; zero for missing rows."""
        return gather(values, self.present, ONE_DEVICE)

    def without_missing(self, x: Array, identity: Any) -> Array:
        """Replaces missing values with the identity element."""
        return jnp.where(self.missing, x.dtype.type(identity), x) if self.can_miss else x


def wide(dtype: Any) -> Any:
    """pandas' dtype of a sum of values."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return dtype
    is_unsigned = jnp.issubdtype(dtype, jnp.unsignedinteger)
    return jax.dtypes.canonicalize_dtype(np.uint64 if is_unsigned else np.int64)


def float64() -> Any:
    """float64, or float32 without x64 mode."""
    return np.float64 if is_x64_enabled() else np.float32


def quotient(total: Array, counts: Array) -> Array:
    """Divides by counts; NaN for counts of zero, which add no NaN to the derivative."""
    is_positive = counts > 0
    divisor = jnp.where(is_positive, counts, jnp.ones((), counts.dtype)).astype(total.dtype)
    return jnp.where(is_positive, total / divisor, total.dtype.type(np.nan))


def as_times(values: Array) -> Array:
    """Truncates floats to integer times; NaN becomes NaT."""
    is_missing = jnp.isnan(values)
    whole = jnp.where(is_missing, np.float64(0), values).astype(jnp.int64)
    return jnp.where(is_missing, np.int64(NAT), whole)
