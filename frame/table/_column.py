# SPDX-License-Identifier: Apache-2.0
"""One column: an array on the device, the type of its values, and a mask of missing ones."""

import dataclasses
import functools
from collections.abc import Sequence
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pyarrow as pa

from ...primitives.staging import tiered
from ...shardings._compat import is_x64_enabled
from ._counted import NAT, arrow_type
from ._dictionary import ArrowObjects, Dictionary, HostObjects
from ._distinct_objects import DistinctObjects
from ._dtypes import as_dtype, wide
from ._nullable import Family, has_dtype, nullable_dtype
from ._types import DtypeLike

Array: TypeAlias = jax.Array
Kind: TypeAlias = Literal[
    "number", "string", "category", "datetime", "timedelta", "object", "list",
    "date", "time", "decimal", "period",
]  # fmt: skip

# The kinds whose arrays are int64 counts, NaT where a value is missing. Those without a unit of
# time since 1970 are described in `_counted`.
_COUNTED = ("datetime", "timedelta", "date", "time", "decimal", "period")
# Units of time, the coarsest first.
UNITS = ("s", "ms", "us", "ns")


class ListType(NamedTuple):
    """How pandas and Arrow show lists.

    Attributes:
        form: pandas' objects, which are Python lists ("list"; "nullable" if a missing one is NA) or
            arrays ("array"), as in what it reads from Arrow; or an Arrow-backed dtype ("arrow").
        arrow: the type of lists in Arrow; None for the one of the values.
    """

    form: Literal["list", "nullable", "array", "arrow"] = "list"
    arrow: pa.DataType | None = None


@dataclasses.dataclass(frozen=True)
class ColumnType:
    """The logical type of a column. Static under `jit`.

    Attributes:
        kind: "number" includes bool and complex. "string", "category" and "object" are int32
            codes into `dictionary`, -1 where missing, and "list" int32 numbers of lists. "datetime"
            and "timedelta" are int64 counts of `unit`, NaT (the least int64) where missing. "date",
            "time" (of day), "decimal" and "period" are counts, too; see `_counted`.
        dictionary: the values that codes index.
        unit: "s", "ms", "us" or "ns".
        ordered: whether the order of the categories is meaningful.
        lists: how the lists of a column of kind "list" are shown; see `ListColumn`.
        zone: the time zone of datetimes, which count UTC: a name of the IANA data base, "UTC", or
            a fixed offset such as "UTC+02:00". None for datetimes without a zone.
        family: "masked" for pandas' dtypes of values and a mask, such as Int64, and "arrow" for
            those of Arrow. None for the default dtypes. See `_nullable`.
        digits: the precision and the scale of decimals.
        freq: the frequency of periods.
    """

    kind: Kind = "number"
    dictionary: Dictionary | HostObjects | None = None
    unit: str | None = None
    ordered: bool = False
    lists: ListType | None = None
    zone: str | None = None
    family: Family | None = None
    digits: tuple[int, int] | None = None
    freq: str | None = None

    @property
    def has_codes(self) -> bool:
        """Whether the array holds codes into a dictionary, or numbers of lists."""
        return self.dictionary is not None or self.lists is not None

    @property
    def is_time(self) -> bool:
        """Whether the values are datetimes or timedeltas."""
        return self.kind in ("datetime", "timedelta")

    @property
    def is_counted(self) -> bool:
        """Whether the array holds int64 counts, NaT where a value is missing."""
        return self.kind in _COUNTED

    def compares_with(self, other: "ColumnType") -> bool:
        """Whether both are times of one kind that compare: all with a zone, or all without."""
        return (
            self.is_time and self.kind == other.kind and (self.zone is None) == (other.zone is None)
        )

    def named(self, dtype: Any) -> str:
        """pandas' dtype name for a column stored as `dtype`."""
        if self.family is not None:
            return self.nullable(dtype).name
        match self.kind:
            case "number":
                return np.dtype(dtype).name
            case "string":
                return "str"
            case "datetime":
                zone = "" if self.zone is None else f", {self.zone}"
                return f"datetime64[{self.unit}{zone}]"
            case "timedelta":
                return f"timedelta64[{self.unit}]"
            case "list":
                if self.lists is not None and self.lists.form == "arrow":
                    return f"{self.lists.arrow}[pyarrow]"
                return "object"
            case "object" if isinstance(self.dictionary, ArrowObjects):
                return str(self.dictionary.take(np.empty(0, np.int32)).dtype)
            case "period":
                return f"period[{self.freq}]"
            case "date" | "time" | "decimal":
                return "object"
        return self.kind

    def nullable(self, dtype: DtypeLike) -> Any:
        """pandas' nullable dtype for a column stored as `dtype`."""
        assert self.family is not None
        if self.is_counted and not self.is_time:
            return pd.ArrowDtype(arrow_type(self))
        return nullable_dtype(self.family, self.kind, dtype, self.unit, self.zone)

    def of_family(self, family: Family | None) -> "ColumnType":
        """The type with the label of another family."""
        return self if family == self.family else dataclasses.replace(self, family=family)


NUMBER = ColumnType()


@jax.tree_util.register_dataclass
@dataclasses.dataclass(frozen=True)
class Column:
    """A column. A pytree: the arrays are data, the type is static.

    Attributes:
        data: one value per row; padding is arbitrary.
        valid: the rows with a value, for bools and integers; None if no value is missing. Other
            types store missing values in `data`: NaN, NaT, or the code -1. Concrete integers of
            default dtypes have no mask in x64 mode: with missing values they are float64. Default
            bools with a mask are pandas' objects, whichever of their rows are left.
        type: the logical type of the values.
    """

    data: Array
    valid: Array | None = None
    type: ColumnType = dataclasses.field(default=NUMBER, metadata={"static": True})
    # How to compute a deferred column; None for columns with arrays. See `DeferredColumn`.
    node: ClassVar[Any] = None
    # The lists of a `ListColumn`, with the column of their values; None for other columns.
    lists: ClassVar[Any] = None

    def __reduce__(self) -> Any:
        # Without cached fields.
        return Column, (self.data, self.valid, self.type)

    @property
    def capacity(self) -> int:
        """The number of rows, including padding."""
        return self.data.shape[0]

    @property
    def dtype(self) -> np.dtype:
        """The dtype of the array."""
        return np.dtype(self.data.dtype)

    @property
    def kind(self) -> Kind:
        """The kind of the values."""
        return self.type.kind

    @property
    def dtype_name(self) -> str:
        """pandas' dtype name if no value is missing."""
        return self.type.named(self.dtype)

    @property
    def is_bool(self) -> bool:
        """Whether the values are bools."""
        return self.kind == "number" and self.dtype == np.bool_

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers or bools."""
        return self.kind == "number"

    @property
    def counts_as_number(self) -> bool:
        """Whether `numeric_only=True` keeps the column: not objects, nor bools of Arrow."""
        return self.is_numeric and not (
            self.is_of_objects or (self.is_bool and self.family == "arrow")
        )

    @property
    def is_of_objects(self) -> bool:
        """Whether pandas holds the values as objects: bools with missing values, not nullable."""
        return self.is_bool and self.valid is not None and not self.is_nullable

    @property
    def is_nullable(self) -> bool:
        """Whether the dtype is one of pandas' nullable ones."""
        return self.family is not None

    @property
    def family(self) -> Family | None:
        """The family of the dtype; see `ColumnType`."""
        return self.type.family

    @property
    def is_float(self) -> bool:
        """Whether the values are real or complex floats."""
        if self.kind != "number":
            return False
        dtype = self.dtype
        # JAX's own dtypes, such as bfloat16, have no kind of NumPy.
        return dtype.kind in "fc" or (dtype.kind == "V" and jnp.issubdtype(dtype, jnp.inexact))

    @property
    def dictionary(self) -> Dictionary:
        """The dictionary of a string or category column."""
        assert isinstance(self.type.dictionary, Dictionary)
        return self.type.dictionary

    @property
    def can_miss(self) -> bool:
        """Whether the column can hold missing values."""
        return self.valid is not None or not self.is_numeric or self.is_float

    def missing(self) -> Array:
        """Detects missing values, one flag per row."""
        return missing_rows(self.data, self.valid, self._encoding)

    def present(self) -> Array:
        """The inverse of `missing`."""
        return present_rows(self.data, self.valid, self._encoding)

    @property
    def _encoding(self) -> str:
        """The values that encode missing ones, if there is no mask."""
        return "code" if self.type.has_codes else "time" if self.type.is_counted else "nan"

    def mask(self) -> Array:
        """`valid` as an array, also if no value is missing."""
        return jnp.ones(self.data.shape, jnp.bool_) if self.valid is None else self.valid

    @property
    def arrays(self) -> tuple[Array, Array | None]:
        """The arrays alone, as compiled functions take them."""
        return self.data, self.valid

    @property
    def inner(self) -> tuple["Column", ...]:
        """The columns of values that other rows share, such as those of lists."""
        return ()

    @property
    def stored(self) -> "Column":
        """The column in the representation in which its rows move; see `UnencodedColumn`."""
        return self

    def forced(self) -> "Column":
        """The column with its arrays; see `DeferredColumn`."""
        return self

    def with_stored(self, stored: "Column") -> "Column":
        """The same column with another stored column."""
        return stored

    def moved(self, arrays: tuple[Array, Array | None]) -> "Column":
        """The same column with the stored arrays of other rows."""
        return self.with_arrays(arrays)

    def lists_on_host(self, num_rows: int) -> Any:
        """The lists of the first rows, as pandas shows them; see `ListColumn`."""
        raise NotImplementedError(f"{self.kind}: the column has no lists.")

    def with_arrays(self, arrays: tuple[Array, Array | None]) -> "Column":
        """A column of the same type with other arrays."""
        data, valid = arrays
        return Column(data, valid, self.type)


_CODES = ColumnType("object", DistinctObjects(np.empty(0, object)))
_TIMES = ColumnType("timedelta", unit="ns")


def bare(column: Column) -> Column:
    """A column without its dictionary or unit: such columns share compiled programs."""
    if column.is_numeric:
        return plain(column.forced())
    type = _CODES if column.type.has_codes else _TIMES
    return Column(column.data, column.valid, type)


def plain(column: Column) -> Column:
    """The column with the default dtype of its arrays, not pandas' nullable one."""
    return of_family(column, None)


def of_family(column: Column, family: Family | None) -> Column:
    """The column with a nullable dtype of a family that has one for its values."""
    if column.family == family:
        return column
    if family is not None and not has_dtype(family, column.kind, column.dtype):
        return column
    stored = column.stored
    if stored is not column:
        return column.with_stored(of_family(stored, family))
    return Column(column.data, column.valid, column.type.of_family(family))


class Scalar(NamedTuple):
    """A scalar operand that is broadcast to the rows of a column.

    Attributes:
        value: a number, a string, a time, or None.
        is_typed: whether its dtype takes part in promotion; otherwise it is weakly typed.
    """

    value: Any
    is_typed: bool = False

    @property
    def is_number(self) -> bool:
        """Whether the value is a bool or a number of Python, NumPy or JAX."""
        if isinstance(self.value, (bool, int, float, complex)):
            return True
        dtype = getattr(self.value, "dtype", None)
        return isinstance(dtype, np.dtype) and (dtype.kind in "biufc" or dtype == jnp.bfloat16)


@functools.partial(tiered, static_argnums=2)
def missing_rows(data: Array, valid: Array | None, encoding: str) -> Array:
    """Detects missing values, which are codes, times or NaNs unless there is a mask."""
    if valid is not None:
        return ~valid
    if encoding == "code":
        return data < 0
    if encoding == "time":
        return data == NAT
    if jnp.issubdtype(data.dtype, jnp.inexact):
        return jnp.isnan(data)
    return jnp.zeros(data.shape, jnp.bool_)


@functools.partial(tiered, static_argnums=2)
def present_rows(data: Array, valid: Array | None, encoding: str) -> Array:
    """The inverse of `missing_rows`."""
    return ~missing_rows(data, valid, encoding)


@tiered
def _inverse(flags: Array) -> Array:
    return ~flags


def inverse(flags: Any) -> Any:
    """The inverse of flags; `~` of an array of JAX would be compiled in its first call."""
    return ~flags if isinstance(flags, np.ndarray) else _inverse(flags)


@tiered
def all_of(flags: Sequence[Array]) -> Array:
    """Whether a row has all of several flags."""
    return functools.reduce(jnp.logical_and, flags)


def fill_missing(column: Column) -> Column:
    """Converts masked integers to float64 with NaN, as pandas does; nullable ones keep the mask."""
    # The mask is asked for last: a deferred column computes it.
    if column.is_bool or column.is_nullable or column.valid is None:
        return column
    return Column(nan_unless(column.valid, column.data))


def as_floats(column: Column) -> Column:
    """Converts integers and bools that miss values to float64 with NaN, nullable ones too."""
    column = plain(column)
    return column if column.valid is None else Column(nan_unless(column.valid, column.data))


@tiered
def nan_unless(valid: Array, data: Array) -> Array:
    """The numbers as floats, NaN where they are not valid."""
    return jnp.where(valid, data.astype(wide(np.float64)), jnp.nan)


@tiered
def zero_unless(valid: Array, data: Array) -> Array:
    """The numbers, zero where they are not valid."""
    return jnp.where(valid, data, data.dtype.type(0))


@tiered
def select(flags: Array, if_true: Any, if_false: Any) -> Array:
    """The values of one of two arrays or numbers of one dtype, by flags."""
    return jnp.where(flags, if_true, if_false)


def common_family(columns: Sequence[Column]) -> Family | None:
    """The family of what columns have in common: a nullable one if any is nullable."""
    families = [column.family for column in columns]
    return "arrow" if "arrow" in families else "masked" if "masked" in families else None


def in_dtype(columns: Sequence[Column], dtype: Any) -> tuple[Column, ...]:
    """Casts columns of numbers to one dtype; all get masks if one keeps its mask."""
    family = common_family(columns)
    if jnp.issubdtype(dtype, jnp.inexact):
        columns = [fill_missing(plain(column)) for column in columns]
    has_masks = any(column.valid is not None for column in columns)
    return tuple(
        of_family(
            Column(as_dtype(column.data, dtype), column.mask() if has_masks else None),
            family,
        )
        for column in columns
    )


def show_holes(column: Column) -> Column:
    """`fill_missing` in x64 mode only, because float32 does not represent every integer."""
    return fill_missing(column) if is_x64_enabled() else column
