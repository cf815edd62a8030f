# SPDX-License-Identifier: Apache-2.0
"""The rows of one column with their slots, as compiled functions look at them."""

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
    """What is computed of a column. Static under `jit`; every argument has a value."""

    op: str
    min_count: int = -1
    ddof: int = 1
    skipna: bool = True
    q: float = 0.5
    interpolation: str = "linear"


def array_kind(type: ColumnType) -> str:
    """What the array of a column of some type holds."""
    return "code" if type.has_codes else "time" if type.is_time else "number"


class GroupedRows:
    """The values of one column, their slots, and what is known of them."""

    def __init__(
        self,
        data: Array,
        valid: Array | None,
        kind: str,
        slots: Array,
        num_slots: int,
        layout: Layout,
    ):
        self.data, self.valid, self.kind = data, valid, kind
        self.slots, self.num_slots, self.layout = slots, num_slots, layout

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
        """The slots of rows that have a value, -1 elsewhere."""
        return jnp.where(self.missing, np.int32(-1), self.slots) if self.can_miss else self.slots

    @functools.cached_property
    def counts(self) -> Array:
        """The rows of each slot that have a value, int32."""
        return primitives.segment_count(self.present, self.num_slots, **self.layout.on_mesh)

    def reduce(self, op: str, x: Array | None, ids: Array, **settings: Any) -> Array:
        return primitives.segment_reduce(
            x, ids, self.num_slots, op, **settings, **self.layout.on_mesh
        )

    def for_slots(self, rows: Array, places: Array) -> Array:
        """The row at the place of each slot, zero at -1; on every device, as what is reduced."""
        return self.layout.on_every_device(gather(rows, places, self.layout))

    def of_slots(self, values: Array) -> Array:
        """For each row the value of its slot, zero where it has none."""
        return gather(values, self.present, ONE_DEVICE)

    def without_missing(self, x: Array, identity: Any) -> Array:
        """Values, with one that changes nothing in place of the missing."""
        return jnp.where(self.missing, x.dtype.type(identity), x) if self.can_miss else x


def wide(dtype: Any) -> Any:
    """The dtype in which values of a dtype are added up, as pandas shows sums of them."""
    if jnp.issubdtype(dtype, jnp.inexact):
        return dtype
    is_unsigned = jnp.issubdtype(dtype, jnp.unsignedinteger)
    return jax.dtypes.canonicalize_dtype(np.uint64 if is_unsigned else np.int64)


def float64() -> Any:
    """float64, or float32 without x64 mode."""
    return np.float64 if is_x64_enabled() else np.float32


def quotient(total: Array, counts: Array) -> Array:
    """What counts divide, NaN where they are not positive; no NaN in the derivative elsewhere."""
    is_some = counts > 0
    divisor = jnp.where(is_some, counts, jnp.ones((), counts.dtype)).astype(total.dtype)
    return jnp.where(is_some, total / divisor, total.dtype.type(np.nan))


def as_times(values: Array) -> Array:
    """Floats as times: cut to whole numbers, NaT for NaN."""
    is_missing = jnp.isnan(values)
    whole = jnp.where(is_missing, np.float64(0), values).astype(jnp.int64)
    return jnp.where(is_missing, np.int64(NAT), whole)
