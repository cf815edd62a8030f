# SPDX-License-Identifier: Apache-2.0
"""Operations on columns of nullable dtypes: those of default dtypes, and masks beside them.

The numbers of all rows are combined, of missing rows too, as if they had no masks. What is missing
in an operand is missing in the result, but for powers of 1, powers by 0, and Kleene logic.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import (
    NAT,
    Array,
    Column,
    Scalar,
    fill_missing,
    in_dtype,
    of_family,
    plain,
    select,
)
from ..table._dtypes import wide
from ..table._nullable import Family
from ._array_ops import COMPARISONS, LOGIC, SYMBOLS

# Of integers by zero: 0, as in NumPy, where the default dtypes have infinities and NaN.
_BY_ZERO = {"floordiv": "whole floordiv", "mod": "whole mod"}
# A missing operand is 0. A missing divisor is not: one zero makes floats of integers.
_FILLS = {"pow": (1, 1), "floordiv": (0, 1), "mod": (0, 1)}


def default_operation(op: str, a: object, b: object) -> tuple[str, Any, Any]:
    """The operation on operands of default dtypes without masks that gives the values."""
    fills = _FILLS.get(op, (0, 0))
    x, y = (_default_operand(op, side, other, fill)
            for side, other, fill in zip((a, b), (b, a), fills, strict=True))  # fmt: skip
    are_numbers = all(side.is_number if isinstance(side, Scalar) else side.is_numeric
                      for side in (x, y))  # fmt: skip
    return _BY_ZERO.get(op, op) if are_numbers and _is_whole(a, b) else op, x, y


def _is_whole(a: Any, b: Any) -> bool:
    """Whether integers divided by zero stay integers: the left side decides, as in pandas."""
    if any(isinstance(side, Column) and side.family == "arrow" for side in (a, b)):
        return True
    if any(isinstance(side, Scalar) and side.value is pd.NA for side in (a, b)):
        return True
    return isinstance(a, Column) and a.family == "masked" and not a.is_bool


def as_flags(side: Any, other: Any) -> Any:
    """Numbers of a default dtype beside bools with a mask, which ask whether they are not zero."""
    are_numbers = isinstance(side, Column) and side.is_numeric and side.family is None
    has_flags = isinstance(other, Column) and other.is_bool and other.family == "masked"
    if not (are_numbers and has_flags) or side.is_bool:
        return side
    return Column(fill_missing(side).data != 0)


def _default_operand(op: str, side: Any, other: Any, fill: int) -> Any:
    if isinstance(side, Column):
        column = plain(side)
        if side.family == "arrow" and op not in COMPARISONS and _is_signed(other):
            column = _signed(column)
        if column.valid is None or not column.is_numeric:
            return column
        data = select(column.valid, column.data, np.asarray(fill).astype(column.dtype))
        return Column(data, None, column.type)
    is_nan = isinstance(side.value, float) and side.value != side.value
    if side.value is pd.NA or ((side.value is None or is_nan) and _is_of_arrow(other)):
        # Any value of the other's kind: the result is missing.
        if other.is_numeric:
            return Scalar(False if other.is_bool and op in LOGIC else 1)
        return Scalar("" if other.kind == "string" else None)
    if side.value is None and op not in COMPARISONS:
        raise TypeError(
            f"unsupported operand type(s) for {SYMBOLS.get(op, op)}: '{other.dtype_name}' and "
            "'NoneType'. Use pandas.NA for a missing value."
        )
    is_of_python = type(side.value) is float or (type(side.value) is int and not other.is_float)
    if is_of_python and other.family == "arrow" and op not in COMPARISONS:
        # Arrow has no weak numbers: those of Python are of 64 bits, but integers beside floats.
        dtype = wide(np.float64 if type(side.value) is float else np.int64)
        return Scalar(dtype.type(side.value), is_typed=True)
    return side


def _is_signed(side: Any) -> bool:
    dtype = side.dtype if isinstance(side, Column) else np.asarray(side.value).dtype
    return dtype.kind == "i"


def _signed(column: Column) -> Column:
    """64-bit integers with a sign: those of Arrow that meet a signed one."""
    if column.dtype != np.uint64:
        return column
    return column.with_arrays((column.data.astype(np.int64), column.valid))


class _Side(NamedTuple):
    """An operand: its values, and flags of those that are not missing (None: all)."""

    data: Any
    present: Any = None


def without_mask(op: str, flags: Column) -> Column:
    """Flags of a comparison in the default dtype: a missing value is unequal to every value."""
    flags = plain(flags)
    if flags.valid is None:
        return flags
    return Column(select(flags.valid, flags.data, np.bool_(op == "ne")))


def nullable_result(op: str, a: object, b: object, result: Column) -> Column:
    """The result of the default operation in the nullable dtype of its operands."""
    columns = [side for side in (a, b) if isinstance(side, Column)]
    if op in ("eq", "ne") and _are_unlike(columns):
        return _of_unlike(op, columns[0], columns[1], result)
    is_of_strings = any(column.kind == "string" for column in columns)
    is_of_arrow = any(column.family == "arrow" for column in columns)
    # pandas compares its own strings in Arrow, too.
    family: Family = "arrow" if is_of_arrow or (is_of_strings and op in COMPARISONS) else "masked"
    sides = [_side(side, columns[0]) for side in (a, b)]
    result = without_half_floats(result, family)
    if not result.is_numeric:
        # Strings, times and counts have a value of their own for missing ones.
        missing = np.asarray(-1 if result.type.has_codes else NAT, result.dtype)
        for side in sides:
            if side.data is not None and side.present is not None:
                present = jnp.broadcast_to(side.present, result.data.shape)
                result = result.with_arrays((select(present, result.data, missing), None))
        # The left column decides for strings, and for durations by numbers of Arrow.
        decides = op in ("truediv", "floordiv") or result.kind == "string"
        if decides and isinstance(a, Column) and a.kind == result.kind:
            return of_family(result, a.family)
        return of_family(result, family)
    if all(side.present is None for side in sides):
        return of_family(result, family)
    is_logic = op in LOGIC and all(_is_bool(side) for side in (a, b))
    if not (is_logic or (op == "pow" and family == "masked")):
        # Values decide nothing: what is missing on a side is missing.
        sides = [_Side(None, side.present) for side in sides]
    if op == "pow":
        # A missing scalar is neither one nor zero.
        sides = [
            _Side(None, side.present) if isinstance(side.present, np.bool_) else side
            for side in sides
        ]
    return of_family(Column(*_with_missing(op, *sides, result.data)), family)


def without_half_floats(result: Column, family: Family | None) -> Column:
    """The result of an operation, with float32 for float16: as in pandas, only Arrow has both."""
    if family == "arrow" or result.dtype != np.float16:
        return result
    return in_dtype([result], np.float32)[0]


def _is_bool(side: Any) -> bool:
    if isinstance(side, Column):
        return side.is_bool
    return pd.isna(side.value) or isinstance(side.value, (bool, np.bool_))


def _are_unlike(columns: Sequence[Column]) -> bool:
    """Whether two columns have no values in common: of numbers, strings, times, periods ..."""
    kinds = {column.kind for column in columns}
    if kinds == {"datetime"}:
        return len({column.type.zone is None for column in columns}) > 1
    if kinds <= {"decimal", "number"}:
        # Arrow has no bools among its numbers.
        is_of_arrow = any(column.family == "arrow" for column in columns)
        return is_of_arrow and len({column.is_bool for column in columns}) > 1
    return len(kinds) > 1


def _of_unlike(op: str, a: Column, b: Column, flags: Column) -> Column:
    """Flags of whether values of two kinds are equal, which none are, in pandas' dtype."""
    result = Column(jnp.full_like(flags.data, op == "ne"))
    if a.family == "masked" and a.is_numeric and b.family != "arrow":
        flags = Column(*_with_missing(op, _side(a, a), _side(b, b), result.data))
        return of_family(flags, "masked")
    # Only numbers with a mask on the left know missing values.
    is_default = a.family is None and not a.is_numeric and b.family == "masked"
    return result if is_default else of_family(result, "arrow")


def _is_of_arrow(column: Any) -> bool:
    """Whether Arrow calculates with the values, for which None and NaN are missing too."""
    return column.family == "arrow" or (column.kind == "string" and column.is_nullable)


def _side(side: Any, column: Column) -> _Side:
    if isinstance(side, Column):
        # NaN of a default dtype is missing, too.
        present = side.present() if side.can_miss else None
        return _Side(side.data if side.is_numeric else None, present)
    value = side.value
    is_none = value is None or value is pd.NaT or (isinstance(value, float) and value != value)
    if value is pd.NA or (is_none and _is_of_arrow(column)):
        return _Side(np.bool_(False), np.bool_(False))
    return _Side(np.asarray(value) if side.is_number and not hasattr(value, "aval") else value)


@functools.partial(tiered, static_argnums=0)
def _with_missing(op: str, x: _Side, y: _Side, data: Array) -> tuple[Array, Array | None]:
    """The numbers of a result, and its mask; floats miss as NaN."""
    parts = [jnp.broadcast_to(side.present, data.shape) for side in (x, y)
             if side.present is not None]  # fmt: skip
    valid = functools.reduce(jnp.logical_and, parts)
    if op == "pow":
        # pandas: 1 ** NA is 1, and so is NA ** 0.
        ones = _present(x, data) & _equals(x.data, 1)
        zeros = _present(y, data) & _equals(y.data, 0)
        data = jnp.where(valid | ~(ones | zeros), data, data.dtype.type(1))
        valid = valid | ones | zeros
    elif op in ("and", "or") and x.data is not None:
        # False & NA is False, True | NA is True: either side alone decides.
        decides = op == "or"
        decided = [_present(side, data) & (side.data == decides) for side in (x, y)]
        is_decided = decided[0] | decided[1]
        data = jnp.where(is_decided, decides, data)
        valid = valid | is_decided
    if jnp.issubdtype(data.dtype, jnp.inexact):
        return jnp.where(valid, data, data.dtype.type(np.nan)), None
    return data, valid


def _equals(data: Array | None, number: int) -> Any:
    return np.bool_(False) if data is None else data == np.asarray(number).astype(data.dtype)


def _present(side: _Side, data: Array) -> Array:
    present = np.bool_(True) if side.present is None else side.present
    return jnp.broadcast_to(present, data.shape)
