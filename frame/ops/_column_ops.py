# SPDX-License-Identifier: Apache-2.0
"""Operations on two columns, or a column and a scalar: dispatch by type, and numbers."""

import decimal
import fractions
import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import by_pieces, tiered
from ...shardings._compat import is_x64_enabled
from ..table._column import (
    Array,
    Column,
    ListType,
    Scalar,
    fill_missing,
    missing_rows,
    of_family,
    show_holes,
)
from ..table._defer import defer_map, may_defer_map
from ..table._dtypes import is_held, wide
from ..table._exact_numbers import lower_neighbours
from ..table._holes import assumes_holes
from ..table._host_column import column_of, computed
from ..table._lists import ListColumn
from ..table._nodes import Map, Source
from ..table._object_functions import as_objects
from ..table._table import Count, is_row
from ..table._take import any_missing
from ..table._tracing import at_once, is_traced
from ._array_ops import COMPARISONS, LOGIC, REFLECTED, NumberPlan, combine_numbers, plan_numbers
from ._code_ops import combine_categories, combine_strings, constant, decode_pair, invalid
from ._count_ops import combine_counts
from ._datetime_ops import as_time, combine_times
from ._nullable_ops import as_flags, default_operation, nullable_result, without_mask
from ._object_ops import combine_objects
from ._safe_gradient import by_row


def combine(
    op: str, pairs: Sequence[tuple[object, object]], num_rows: Count, names: Any = ()
) -> tuple[Column, ...]:
    """Applies an operation to pairs of operands; all pairs of numbers share one compiled call.

    An operand is a Column or a Scalar. `names` are those of the columns, for errors.
    """
    if all(_is_plain_number(a) and _is_plain_number(b) for a, b in pairs):
        return _combine_number_pairs(op, pairs, num_rows)
    given = pairs
    if op in COMPARISONS:
        pairs = [decode_pair(op, a, b) for a, b in pairs]
    if any(_is_nullable(a) or _is_nullable(b) for a, b in pairs):
        found = [
            _combine_nullable(op, a, b, num_rows, names[position : position + 1])
            for position, (a, b) in enumerate(pairs)
        ]
        for pair in given:
            if _are_category_and_column(*pair):
                _check_truth_of_values(pair[1], num_rows)
        return tuple(
            without_mask(op, result) if _are_category_and_column(*pair) else result
            for pair, result in zip(given, found, strict=True)
        )
    results: dict[int, Column] = {}
    numbers: dict[int, tuple[Any, Any]] = {}
    for position, (a, b) in enumerate(pairs):
        if _is_number(a) and _is_number(b):
            numbers[position] = a, b
        else:
            name = names[position] if position < len(names) else None
            results[position] = _combine_typed(op, a, b, name, num_rows)
    if numbers:
        combined = _combine_number_pairs(op, tuple(numbers.values()), num_rows)
        results.update(zip(numbers, combined, strict=True))
    return tuple(results[position] for position in range(len(pairs)))


def _are_category_and_column(a: object, b: object) -> bool:
    """Whether pandas compares the values of a category as NumPy does, without NA in the result."""
    return isinstance(a, Column) and isinstance(b, Column) and a.kind == "category" != b.kind


def _check_truth_of_values(other: Any, num_rows: Count) -> None:
    """Raises as NumPy does for a category beside NA of strings or bools, if the rows are known."""
    has_objects = other.is_nullable and (other.kind == "string" or other.is_bool)
    if not has_objects or is_traced(other, num_rows) or assumes_holes():
        return
    if any_missing(other.present(), num_rows):
        raise TypeError("boolean value of NA is ambiguous")


def _is_nullable(side: object) -> bool:
    return isinstance(side, Column) and side.family is not None


def _combine_nullable(op: str, a: object, b: object, num_rows: Count, names: Any) -> Column:
    """Applies an operation to a pair that may have a column of a nullable dtype."""
    if not (_is_nullable(a) or _is_nullable(b)):
        return combine(op, [(a, b)], num_rows, names)[0]
    if any(isinstance(side, Column) and side.kind == "object" for side in (a, b)):
        # Objects meet the values of a nullable dtype, and NA.
        return _combine_typed(op, a, b, names[0] if names else None, num_rows)
    if op in LOGIC:
        a, b = as_flags(a, b), as_flags(b, a)
    default_op, x, y = default_operation(op, a, b)
    (result,) = combine(default_op, [(x, y)], num_rows, names)
    return nullable_result(op, a, b, result)


def _is_number(side: Any) -> bool:
    return side.is_number if isinstance(side, Scalar) else side.is_numeric


def _is_plain_number(side: Any) -> bool:
    return _is_number(side) and not _is_nullable(side)


def _of_lists_as_objects(side: object, num_rows: Count, op: str) -> Any:
    if not isinstance(side, ListColumn):
        return side
    # Arrays have no equality of their own.
    lists = side.with_form(ListType()) if op in ("eq", "ne") else side
    return as_objects(lists, num_rows, op)


def _combine_typed(op: str, a: Any, b: Any, name: Any, num_rows: Count) -> Column:
    """Applies an operation to a pair that is not all numeric."""
    columns = [side for side in (a, b) if isinstance(side, Column)]
    kinds = {column.kind for column in columns}
    if "list" in kinds:
        # pandas adds and compares lists as objects.
        a, b = (_of_lists_as_objects(side, num_rows, op) for side in (a, b))
        return combine_objects(op, a, b, name, num_rows)
    if "object" in kinds:
        return combine_objects(op, a, b, name, num_rows)
    if "category" in kinds:
        return combine_categories(op, a, b)
    if "string" in kinds:
        return combine_strings(op, a, b, num_rows)
    if any(column.type.is_counted and not column.type.is_time for column in columns):
        result = combine_counts(op, a, b, num_rows)
        return result if isinstance(result, Column) else combine(op, [result], num_rows, [name])[0]
    times = [as_time(side, other, op) for side, other in ((a, b), (b, a))]
    if any(times):
        return combine_times(op, a, b, times, num_rows)
    other = a if isinstance(a, Scalar) else b
    is_exact = isinstance(other.value, (decimal.Decimal, fractions.Fraction))
    compares = op in COMPARISONS and (op in ("eq", "ne") or columns[0].dtype.kind != "c")
    if is_exact and compares and columns[0].is_numeric and other.value == other.value:
        of_column = op if other is b else REFLECTED[op]
        return _compare_exactly(of_column, columns[0], other.value, num_rows)
    # Numbers and a non-number are never equal, and what is missing has no order.
    is_missing = other.value is None or other.value is pd.NA
    if op in ("eq", "ne") or (is_missing and op in ("lt", "le", "gt", "ge")):
        return constant(columns[0], op == "ne")
    if other.value is pd.NA:
        raise NotImplementedError(
            f"{op}: a column of {columns[0].dtype_name} holds no NA, which pandas has as objects. "
            "Use nan in its place, or call convert_dtypes() first."
        )
    raise invalid(op, a, b)


def _compare_exactly(op: str, column: Column, value: Any, num_rows: Count) -> Column:
    """Compares numbers with a number that their dtype may not hold, such as a decimal."""
    dtype = np.dtype(np.int8) if column.is_bool else column.dtype.type(0).real.dtype
    (number,), (gap,) = lower_neighbours(pd.Index([value], dtype=object), dtype)
    if gap and op in ("eq", "ne"):
        return constant(column, op == "ne")
    if gap < 0:
        return constant(column, op in ("gt", "ge"))
    if gap:
        # No number of the dtype lies between this one and the greater value.
        op = {"lt": "le", "ge": "gt"}.get(op, op)
    return combine(op, [(column, Scalar(number, is_typed=True))], num_rows)[0]


class Operand(NamedTuple):
    """An operand's numbers, and flags of the rows with a value (None: all)."""

    data: Any
    valid: Array | None = None


def _combine_number_pairs(
    op: str, pairs: Sequence[tuple[object, object]], num_rows: Count
) -> tuple[Column, ...]:
    """Combines pairs of numbers, each a Column or a Scalar, in one compiled call."""
    columns: list[Any] = []
    plans: list[NumberPlan] = []
    sides: list[Any] = []
    for a, b in pairs:
        columns.append(_deferred_pair(op, a, b))
        if columns[-1] is None:
            x, y = _side(op, a, b), _side(op, b, a)
            plans.append(_plan(_power_by(b) if op == "pow" else op, x, y, num_rows))
            sides += x, y
    if plans:

        def operands(arrays: Sequence[Any]) -> tuple[Any, ...]:
            rows = iter(arrays)
            each = [
                Operand(*next(rows)) if isinstance(side, Column) else Operand(side)
                for side in sides
            ]
            return tuple(zip(each[::2], each[1::2], strict=True)), num_rows, tuple(plans)

        own = [side for side in sides if isinstance(side, Column)]
        results = iter(computed(_combine, own, operands))
        for position, column in enumerate(columns):
            if column is None:
                columns[position] = column_of(*next(results))
    return tuple(columns)


_ROUNDED_ONCE = frozenset(("add", "sub", "mul", "truediv", *COMPARISONS, *LOGIC))


def _deferred_pair(op: str, a: Any, b: Any) -> Column | None:
    """Combines a pair of numbers of many rows, deferred; None if it must be now."""
    if op not in _ROUNDED_ONCE or not may_defer_map(a if isinstance(a, Column) else b):
        return None
    if any(isinstance(side, Column) and side.valid is not None for side in (a, b)):
        return None
    operands = [
        side if isinstance(side, Column) else _side(op, side, other)
        for side, other in ((a, b), (b, a))
    ]
    dtypes = [np.dtype(operand.dtype) for operand in operands]
    if not all(dtype.kind in "biu" or dtype in (np.float32, np.float64) for dtype in dtypes):
        return None
    plan = plan_numbers(op, *dtypes, False, is_x64_enabled())
    return defer_map(_of_rows, (plan,), operands, _dtype_of(plan, *dtypes, is_x64_enabled()))


def factors_of(column: Column) -> tuple[Column, Column] | None:
    """The two factors of a deferred product of columns, in its dtype; None for others."""
    product = column.node
    if not isinstance(product, Map) or product.function is not _of_rows:
        return None
    (plan,) = product.settings
    if plan.op != "mul" or plan.dtype != column.dtype:
        return None
    columns = [
        operand.column if isinstance(operand, Source) else operand
        for operand in product.operands
        if isinstance(operand, (Source, Column))
    ]
    if len(columns) < 2 or any(operand.dtype != column.dtype for operand in columns):
        return None
    left, right = columns
    return left, right


def _of_rows(plan: NumberPlan, a: Array, b: Array) -> Array:
    shape = jnp.broadcast_shapes(jnp.shape(a), jnp.shape(b))
    return combine_numbers(plan, jnp.broadcast_to(a, shape), jnp.broadcast_to(b, shape))


@functools.lru_cache(maxsize=4096)
def _dtype_of(plan: NumberPlan, a: np.dtype, b: np.dtype, x64: bool) -> np.dtype:
    """The dtype of a result."""
    del x64  # part of the cache key, as in `plan_numbers`
    dtypes = map(jax.dtypes.canonicalize_dtype, (a, b))
    rows = (jax.ShapeDtypeStruct((1,), dtype) for dtype in dtypes)
    return np.dtype(jax.eval_shape(functools.partial(combine_numbers, plan), *rows).dtype)


def _side(op: str, side: Any, other: Any) -> Any:
    """An operand as it is computed with: a column of numbers, or a scalar with a dtype."""
    if isinstance(side, Scalar):
        other_dtype, value = _computed(op, other).dtype, side.value
        if not side.is_typed:
            value = scalar_like(value, other_dtype, op)
        if op in LOGIC and value.dtype.kind in "fc":
            raise TypeError(
                f"Cannot perform '{op}_' with a dtyped [{other_dtype}] array and scalar of type "
                f"[{type(side.value).__name__}]"
            )
        return value
    side = _computed(op, side)
    if side.is_bool and side.valid is not None and op not in (*LOGIC, *COMPARISONS):
        side = fill_missing(Column(side.data.astype(wide(np.int64)), side.valid))
    return side


def _computed(op: str, column: Column) -> Column:
    """The column that is computed with: integers that may have missing values are floats.

    Without x64 mode they are compared as they are: float32 does not represent every integer. Inside
    `jit` they stay integers in `&`, `|` and `^`, which floats do not have.
    """
    if op in LOGIC and is_traced(column.valid):
        return column
    return show_holes(column) if op in COMPARISONS else fill_missing(column)


_FLOAT64, _BFLOAT16 = np.dtype(np.float64), np.dtype(jnp.bfloat16)


def scalar_like(value: Any, dtype: np.dtype, op: str = "add") -> Any:
    """Casts a scalar as pandas does for an operation with an array of `dtype`.

    NumPy scalars count as Python numbers in arithmetic, and keep their dtype elsewhere.
    """
    # Most scalars: NumPy's promotion takes several times as long.
    kind = type(value)
    if (kind is float and dtype.kind in "biu") or (kind in (int, float) and dtype == _FLOAT64):
        return np.float64(value)
    if isinstance(value, jax.Array):
        kind = np.dtype(value.dtype).kind
        if kind == "f" or (kind == "i" and jax.typeof(value).weak_type):
            like = dtype if dtype == _BFLOAT16 else np.result_type(dtype, 1.0 if kind == "f" else 1)
            return value.astype(jax.dtypes.canonicalize_dtype(like))
        return value
    if isinstance(value, np.ndarray):
        value = value[()]
    if isinstance(value, (np.integer, np.floating)) and (
        op not in COMPARISONS + LOGIC or not is_held(value)
    ):
        value = value.item()
    if hasattr(value, "dtype"):
        return value
    if dtype == _BFLOAT16:
        return jnp.asarray(value, dtype if isinstance(value, (int, float)) else None)
    if isinstance(value, bool):
        return np.bool_(value)
    if isinstance(value, int) and dtype.kind in "iu":
        if op == "truediv":
            return np.float64(value)
        info = np.iinfo(dtype)
        if op in COMPARISONS and not info.min <= value <= info.max:
            return np.float64(np.inf if value > 0 else -np.inf)
        return dtype.type(value)
    with np.errstate(over="ignore"):
        promoted = np.result_type(dtype, value).type(value)
    if is_held(promoted):
        return promoted
    if op not in COMPARISONS:
        raise OverflowError(f"Python integer {value} out of bounds for {wide(promoted.dtype)}")
    return np.float64(np.inf if value > 0 else -np.inf)


def _plan(op: str, x: Any, y: Any, num_rows: Count) -> NumberPlan:
    a, b = np.dtype(x.dtype), np.dtype(y.dtype)
    has_zeros = op in ("floordiv", "mod") and _has_zeros(op, _data(x), _data(y), num_rows)
    plan = plan_numbers(op, a, b, has_zeros, is_x64_enabled())
    if op == "pow" and plan.dtype.kind == "i" and b.kind == "i":
        exponents = _data(y)
        is_known = not is_traced(exponents, num_rows)
        if is_known and bool(at_once(_any_negative, exponents, num_rows)):
            raise ValueError("Integers to negative integer powers are not allowed.")
    return plan


def _data(side: Any) -> Any:
    return side.data if isinstance(side, Column) else side


@tiered
def _any_negative(values: Any, num_rows: Count) -> Any:
    return any_missing(values >= 0, num_rows) if values.ndim else values < 0


def _power_by(exponent: object) -> str:
    """Names the operation for a power: as in NumPy, the exponents 2 and 0.5 have their own."""
    value = exponent.value if isinstance(exponent, Scalar) else None
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.number)):
        return "pow"
    return {2: "square", 0.5: "sqrt"}.get(value, "pow")


def _has_zeros(op: str, a: Any, b: Any, num_rows: Count) -> bool:
    """Whether a row is divided by zero: the result is then float64, as in pandas."""
    is_integer = a.dtype.kind in "biu" and b.dtype.kind in "biu"
    if op == "mod" and (not is_integer or b.dtype == np.bool_):
        return False
    if a.dtype.kind not in "biuf":
        return False
    if is_traced(b) or (is_traced(a, num_rows) and (b.ndim or not is_integer)):
        # Integers have no infinity, so they become floats; floats keep their dtype.
        return is_integer
    if not b.ndim and is_integer:
        return bool(b == 0)
    if not is_integer and np.result_type(a.dtype, b.dtype) == np.float64:
        return False
    if assumes_holes():
        return True
    return bool(at_once(_divides_by_zero, a, b, num_rows))


@tiered
def _divides_by_zero(a: Array, b: Array, num_rows: Count) -> Array:
    shape = jnp.broadcast_shapes(a.shape, b.shape)
    is_zero = ~b if b.dtype == jnp.bool_ else b == b.dtype.type(0)
    is_division_by_zero = jnp.broadcast_to(is_zero & (a == a), shape)
    return jnp.any(is_division_by_zero & is_row(shape[0], num_rows))


@functools.partial(tiered, in_pieces=True, static_argnums=2)
def _combine(operands: Any, num_rows: Count, plans: tuple[NumberPlan, ...]) -> tuple[Operand, ...]:
    return tuple(
        _combined(plan, x, y, num_rows) for (x, y), plan in zip(operands, plans, strict=True)
    )


def _combined(plan: NumberPlan, x: Operand, y: Operand, num_rows: Count) -> Operand:
    shape = jnp.broadcast_shapes(jnp.shape(x.data), jnp.shape(y.data))
    a, b = jnp.broadcast_to(x.data, shape), jnp.broadcast_to(y.data, shape)
    if plan.op in LOGIC and y.valid is not None and a.dtype == b.dtype == np.bool_:
        # In pandas a missing right operand is False, and a missing left one gives False.
        b, y = b & y.valid, Operand(y.data)
    valid = x.valid if y.valid is None else y.valid if x.valid is None else x.valid & y.valid
    if valid is None:
        return Operand(_numbers(plan, a, b, num_rows))
    if plan.op not in COMPARISONS and plan.op not in LOGIC:
        # Bools with missing values are objects in pandas, whose arithmetic counts True as 1.
        if plan.dtype == np.bool_:
            plan = plan._replace(dtype=wide(np.int64))
        data = _numbers(plan, a, b, num_rows)
        if jnp.issubdtype(data.dtype, jnp.inexact):
            return Operand(jnp.where(valid, data, data.dtype.type(np.nan)))
        return Operand(data, valid)
    data = _numbers(plan, a, b, num_rows)
    if plan.op in LOGIC and data.dtype != np.bool_:
        return Operand(data, valid)
    return Operand(data | ~valid if plan.op == "ne" else data & valid)


def _numbers(plan: NumberPlan, a: Array, b: Array, num_rows: Count) -> Array:
    combined = functools.partial(combine_numbers, plan)
    if a.ndim and plan.op in _ROUNDED_ONCE and plan.dtype.kind != "c":
        combined = functools.partial(by_pieces, combined)
    result = jax.eval_shape(combined, a, b)
    if not result.shape or not jnp.issubdtype(result.dtype, jnp.inexact):
        return combined(a, b)
    return by_row(combined, None if plan.op in ("add", "sub") else 1.0, num_rows, a, b)


def filled_pair(a: Any, b: Any, value: Any) -> tuple[Any, Any]:
    """Replaces a missing value by `value` where only one of the two operands is missing."""
    sides = [a, b]
    for side in sides:
        if isinstance(side, Column) and not side.is_numeric:
            raise NotImplementedError(
                f"fill_value must be None for a column of {side.dtype_name}. "
                "Call fillna() before the operation."
            )
    if isinstance(value, np.integer) and not is_held(value):
        value = int(value)
    sides = [
        fill_missing(side) if isinstance(side, Column) and not isinstance(value, int) else side
        for side in sides
    ]
    if all(isinstance(side, Scalar) or not side.can_miss for side in sides):
        return sides[0], sides[1]
    x, y = (side.arrays if isinstance(side, Column) else None for side in sides)
    left, right = (
        side if isinstance(side, Scalar) else of_family(Column(*filled), side.family)
        for side, filled in zip(sides, _filled(x, y, value), strict=True)
    )
    return left, right


@tiered
def _filled(x: Any, y: Any, value: Any) -> tuple[Any, Any]:
    x_missing, y_missing = (
        np.bool_(False) if side is None else missing_rows(side[0], side[1], "nan")
        for side in (x, y)
    )
    either = x_missing ^ y_missing

    def fill(side: Any, is_missing: Any) -> Any:
        if side is None:
            return None
        (data, valid), is_filled = side, is_missing & either
        data = jnp.where(is_filled, jnp.asarray(value).astype(data.dtype), data)
        return data, None if valid is None else valid | is_filled

    return fill(x, x_missing), fill(y, y_missing)
