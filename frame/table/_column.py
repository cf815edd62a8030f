# SPDX-License-Identifier: Apache-2.0
"""One column: an array on the device, what its values mean, and which of them are missing."""

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
from jax.sharding import NamedSharding, PartitionSpec

from ...shardings._compat import is_x64_enabled
from ._dictionary import Dictionary, HostObjects
from ._dtypes import cast_exactly, wide

Array: TypeAlias = jax.Array
Kind: TypeAlias = Literal["number", "string", "category", "datetime", "timedelta", "object"]

NAT = np.iinfo(np.int64).min
# What times are counted in, the coarsest first.
UNITS = ("s", "ms", "us", "ns")


@dataclasses.dataclass(frozen=True)
class ColumnType:
    """What the values of a column's array mean. Static under `jit`.

    Attributes:
        kind: "number" (bool and complex too), or what the numbers stand for: "string", "category"
            and "object" are int32 codes into `dictionary`, -1 where missing; "datetime" and
            "timedelta" are int64 counts of `unit`, the least int64 (NaT) where missing.
        dictionary: what codes number.
        unit: "s", "ms", "us" or "ns".
        ordered: of a category, whether its order means anything.
    """

    kind: Kind = "number"
    dictionary: Dictionary | HostObjects | None = None
    unit: str | None = None
    ordered: bool = False

    @property
    def has_codes(self) -> bool:
        """Whether the array holds codes into a dictionary."""
        return self.dictionary is not None

    @property
    def is_time(self) -> bool:
        """Whether the array counts units of time."""
        return self.unit is not None

    def named(self, dtype: Any) -> str:
        """The dtype that pandas shows, of a column whose array has `dtype`."""
        match self.kind:
            case "number":
                return np.dtype(dtype).name
            case "string":
                return "str"
            case "datetime":
                return f"datetime64[{self.unit}]"
            case "timedelta":
                return f"timedelta64[{self.unit}]"
        return self.kind


NUMBER = ColumnType()


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Column:
    """A column. A pytree: the arrays are data, the type is static.

    Attributes:
        data: one value for each row, and anything for padding.
        valid: of bools and integers, which rows have a value; None where all have. Other types
            hold a missing value in `data`: NaN, NaT, or the code -1.
        type: what the values mean.
    """

    data: Array
    valid: Array | None = None
    type: ColumnType = dataclasses.field(default=NUMBER, metadata={"static": True})

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array."""
        return np.dtype(self.data.dtype)

    @property
    def kind(self) -> Kind:
        """What the values are."""
        return self.type.kind

    @property
    def dtype_name(self) -> str:
        """The dtype that pandas shows where nothing is missing."""
        return self.type.named(self.data.dtype)

    @property
    def is_bool(self) -> bool:
        """Whether the values are bools."""
        return self.kind == "number" and self.dtype == np.bool_

    @property
    def is_numeric(self) -> bool:
        """Whether one can calculate with the values: numbers and bools."""
        return self.kind == "number"

    @property
    def is_float(self) -> bool:
        """Whether the values are real or complex floats, which hold NaN."""
        return self.kind == "number" and jnp.issubdtype(self.data.dtype, jnp.inexact)

    @property
    def dictionary(self) -> Dictionary:
        """The dictionary of strings or of a category."""
        assert isinstance(self.type.dictionary, Dictionary)
        return self.type.dictionary

    @property
    def can_miss(self) -> bool:
        """Whether its type leaves room for missing values."""
        return self.valid is not None or not self.is_numeric or self.is_float

    def missing(self) -> Array:
        """A flag for each row: True where there is no value."""
        return missing_rows(self.data, self.valid, self.type)

    def mask(self) -> Array:
        """`valid`, written out where all rows have a value."""
        return jnp.ones(self.data.shape, jnp.bool_) if self.valid is None else self.valid

    @property
    def arrays(self) -> tuple[Array, Array | None]:
        """What compiled functions are given: they know no dictionaries."""
        return self.data, self.valid

    def with_arrays(self, arrays: tuple[Array, Array | None]) -> "Column":
        """A column of the same type."""
        data, valid = arrays
        return Column(data, valid, self.type)


def missing_rows(data: Array, valid: Array | None, type: ColumnType) -> Array:
    """A flag for each row: True where there is no value."""
    if valid is not None:
        return ~valid
    if type.has_codes:
        return data < 0
    if type.is_time:
        return data == NAT
    if jnp.issubdtype(data.dtype, jnp.inexact):
        return jnp.isnan(data)
    return jnp.zeros(data.shape, jnp.bool_)


def ordered_keys(
    column: Column, *, descending: bool = False, missing_first: bool = False
) -> tuple[tuple[Array, bool], ...]:
    """What to sort rows by, and the direction of each, so that they come out in the values' order.

    Missing values come last in both directions, or first. One word where that is possible.
    """
    data, missing = column.data, ()
    if missing_first and column.can_miss:
        missing = ((~column.missing(), False),)
    elif column.valid is not None:
        missing = ((~column.valid, False),)
    if column.is_numeric:
        key = data if column.valid is None else jnp.where(column.valid, data, data.dtype.type(0))
        keys = _parts(key) if column.dtype.kind == "c" else (key,)
        return (*missing, *((one, descending) for one in keys))
    key = _unsigned_order(column)
    if descending:
        # All but the greatest, which stands for a missing value, in reverse.
        most = np.iinfo(key.dtype).max
        most = key.dtype.type(most)
        key = jnp.where(key == most, most, most - key.dtype.type(1) - key)
    return (*missing, (key, False))


def group_keys(column: Column) -> tuple[Array, ...]:
    """Keys that are equal where the values are, two missing ones too, missing last."""
    return tuple(key for key, _ in ordered_keys(column))


def distinct_keys(column: Column) -> tuple[Array, ...]:
    """As `group_keys`, but complex numbers differ where different parts of them are NaN.

    So pandas has it where it looks at the numbers themselves, not at which of them are missing.
    """
    if column.dtype.kind == "c":
        return column.missing(), column.data.real, column.data.imag
    return group_keys(column)


def _parts(data: Array) -> tuple[Array, Array]:
    """The real and the imaginary parts of complex numbers, both NaN where either is."""
    is_missing = jnp.isnan(data)
    nan = data.real.dtype.type(np.nan)
    return jnp.where(is_missing, nan, data.real), jnp.where(is_missing, nan, data.imag)


def _unsigned_order(column: Column) -> Array:
    """Codes or times as unsigned numbers of the same order, the greatest where missing."""
    if column.type.has_codes:
        return jax.lax.bitcast_convert_type(column.data, jnp.uint32)
    # The order of int64 as that of uint64, in which NaT is 0: one less than that is the greatest.
    bits = jax.lax.bitcast_convert_type(column.data, jnp.uint64)
    return (bits ^ np.uint64(1 << 63)) - np.uint64(1)


def fill_missing(column: Column) -> Column:
    """The same column as pandas shows it where something is missing: integers become float64."""
    if column.valid is None or column.is_bool:
        return column
    return Column(jnp.where(column.valid, column.data.astype(wide(np.float64)), jnp.nan))


def in_dtype(columns: Sequence[Column], dtype: Any) -> tuple[Column, ...]:
    """Columns of numbers cast to one dtype; if one has a mask, and no NaN can stand for it, all."""
    if jnp.issubdtype(dtype, jnp.inexact):
        columns = [fill_missing(column) for column in columns]
    has_masks = any(column.valid is not None for column in columns)
    return tuple(
        Column(cast_exactly(column.data, np.dtype(dtype)), column.mask() if has_masks else None)
        for column in columns
    )


def show_holes(column: Column) -> Column:
    """`fill_missing` where floats have 64 bits; smaller ones do not hold every integer."""
    return fill_missing(column) if is_x64_enabled() else column


def to_host(column: Column, num_rows: int) -> Any:
    """The first rows as an array of pandas or NumPy, of the dtype that pandas would show."""
    data = host_array(column.data)[:num_rows]
    match column.kind:
        case "category":
            return pd.Categorical.from_codes(
                data, categories=column.dictionary.values, ordered=column.type.ordered
            )
        case "string" | "object":
            assert column.type.dictionary is not None
            return column.type.dictionary.take(data)
        case "datetime" | "timedelta":
            letter = "M" if column.kind == "datetime" else "m"
            return data.view(f"{letter}8[{column.type.unit}]")
    if data.dtype == jnp.bfloat16:
        # pandas has no dtype for it.
        data = data.astype(np.float32)
    if column.valid is None:
        return data
    valid = host_array(column.valid)[:num_rows]
    if valid.all():
        return data
    if data.dtype == np.bool_:
        shown = data.astype(object)
        shown[~valid] = np.nan
        return shown
    return np.where(valid, data, np.nan)


def without_rows(column: Column) -> Column:
    """A column of the same type that has no rows, on the host."""
    nothing: Any = np.empty(0, column.dtype)
    return Column(nothing, None, column.type)


def no_rows(column: Column) -> Any:
    """What `to_host` gives of no rows: an array of the dtype that pandas shows."""
    return to_host(without_rows(column), 0)


def host_array(array: Array) -> np.ndarray:
    """All rows of an array, on this host, also where other processes hold some of them."""
    if isinstance(array, jax.Array) and not array.is_fully_addressable:
        if array.is_fully_replicated:
            return np.asarray(array.addressable_data(0))
        sharding = array.sharding
        assert isinstance(sharding, NamedSharding)
        everywhere = jax.device_put(array, NamedSharding(sharding.mesh, PartitionSpec()))
        return np.asarray(everywhere.addressable_data(0))
    return np.asarray(array)
