# SPDX-License-Identifier: Apache-2.0
"""Unary operations: sign, absolute value, complement, rounding, functions of NumPy."""

import functools
import operator
from collections.abc import Mapping
from typing import Any, Self

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._arguments import check_rest
from ..table._column import NAT, Array, Column, fill_missing, of_family, plain
from ..table._defer import map_rows
from ..table._distinct_values import through_values
from ..table._dtypes import wide
from ..table._host_column import computed_values
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._object_functions import as_objects, evaluate_each
from ..table._table import Count
from ..table._take import missing_elsewhere
from ..table._tracing import is_traced
from ._array_ops import divided
from ._count_ops import rounded_decimals
from ._nullable_ops import without_half_floats
from ._safe_gradient import by_row


def change(op: str, column: Column, num_rows: Count) -> Column:
    """Applies `neg`, `pos`, `abs` or `invert` to a column."""
    if column.kind == "object":
        return evaluate_each(column, num_rows, _OF_OBJECTS[op], op)
    if column.kind in ("timedelta", "decimal") and op != "invert":
        return Column(_change_times(op, column.data), None, column.type)
    if not column.is_numeric or (op == "invert" and column.is_float):
        raise TypeError(f"bad operand type for unary {_SYMBOLS[op]}: '{column.dtype_name}'")
    if column.is_nullable:
        changed = change(op, plain(column.with_arrays((column.data, None))), num_rows)
        return of_family(changed.with_arrays((changed.data, column.valid)), column.family)
    if column.is_bool and column.valid is not None:
        if op == "invert" and not is_traced(column.valid):
            # As in pandas, they are objects: a missing one raises, and the others are integers.
            return evaluate_each(as_objects(column, num_rows, op), num_rows, operator.invert, op)
        if op == "neg":
            column = Column(column.data.astype(wide(np.int64)), column.valid)
    if op != "invert":
        column = fill_missing(column)
    if op == "invert" and column.is_bool and column.valid is None:
        return map_rows(_change, (op,), (column,), np.bool_)
    return computed_values(_change, column, lambda data: (op, data))


_SIGNS = {"negative": "neg", "positive": "pos", "absolute": "abs", "invert": "invert"}
_OF_OBJECTS = {"neg": operator.neg, "pos": operator.pos, "abs": abs, "invert": operator.invert}
_SYMBOLS = {"neg": "-", "pos": "+", "abs": "abs()", "invert": "~"}


@functools.partial(tiered, static_argnums=0)
def _change(op: str, x: Array) -> Array:
    if x.dtype == jnp.bool_:
        return x if op in ("pos", "abs") else ~x
    match op:
        case "neg":
            return -x
        case "abs":
            return _magnitude(x)
        case "invert":
            return ~x
    return x


def _magnitude(x: Array) -> Array:
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.abs(x)
    # NaN has no sign, so its derivative would make the gradient NaN.
    is_missing = jnp.isnan(x)
    return jnp.where(is_missing, x, jnp.abs(jnp.where(is_missing, x.dtype.type(1), x)))


@functools.partial(tiered, static_argnums=0)
def _change_times(op: str, x: Array) -> Array:
    # NaT is the smallest integer, which is its own negative.
    return x if op == "pos" else -x if op == "neg" else jnp.where(x == NAT, x, jnp.abs(x))


def rounded(column: Column, decimals: int) -> Column:
    """Rounds numbers and decimals half to even; returns other columns unchanged."""
    if column.kind == "decimal":
        return rounded_decimals(column, decimals)
    if column.kind != "number" or column.is_bool:
        return column
    column = fill_missing(column)
    if not column.is_float and decimals >= 0:
        return column
    family = column.family
    if column.is_float:
        factor: Any = column.dtype.type(10.0 ** abs(decimals))
    else:
        factor = wide(np.float64).type(10.0**-decimals)
    result = computed_values(_rounded, column, lambda data: (data, factor, decimals < 0))
    return of_family(result, family)


@functools.partial(tiered, static_argnums=2)
def _rounded(x: Array, factor: Array, is_coarser: bool) -> Array:
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        # As in NumPy: in float64, which is not exact beyond 2**53.
        return (jnp.round(divided(x.astype(wide(np.float64)), factor)) * factor).astype(x.dtype)
    if jnp.issubdtype(x.dtype, jnp.complexfloating):
        return jax.lax.complex(
            _rounded(x.real, factor.real, is_coarser), _rounded(x.imag, factor.real, is_coarser)
        )
    if is_coarser:
        return jnp.round(divided(x, factor)) * factor
    return divided(jnp.round(x * factor), factor)


def apply_function(ufunc: np.ufunc, column: Column, num_rows: Count) -> Column:
    """Applies a universal function to a numeric column, with NumPy's result dtype."""
    name = ufunc.__name__
    if name in _SIGNS:
        return change(_SIGNS[name], column, num_rows)
    if not column.is_numeric:
        raise TypeError(f"np.{name}: values must be numbers, got {column.dtype_name}")
    if column.dtype == jnp.bfloat16:
        return Column(_apply(name, column.data, num_rows, column.dtype, column.dtype))
    if column.is_nullable:
        result = apply_function(ufunc, plain(column.with_arrays((column.data, None))), num_rows)
        result = without_half_floats(result, column.family)
        (result,) = missing_elsewhere([result], column.present()) if column.can_miss else (result,)
        return of_family(result, column.family)
    column = fill_missing(column)
    dtype, result = ufunc.resolve_dtypes((column.dtype, None))
    return Column(_apply(name, column.data, num_rows, dtype, result))


@functools.partial(tiered, static_argnums=(0, 3, 4))
def _apply(name: str, x: Array, num_rows: Count, dtype: np.dtype, result: np.dtype) -> Array:
    x = x.astype(jax.dtypes.canonicalize_dtype(dtype))
    function = getattr(jnp, name)
    if jnp.issubdtype(jax.eval_shape(function, x).dtype, jnp.inexact):
        result_data = by_row(function, _WITH_DERIVATIVE.get(name, 0.5), num_rows, x)
    else:
        result_data = function(x)
    return result_data.astype(jax.dtypes.canonicalize_dtype(result))


# A point with a finite derivative for functions without one at 0.5.
_WITH_DERIVATIVE = {"arccosh": 2.0}


class Unary(NDFrame):
    """Unary operations of frames and series."""

    def _changed(self, op: str) -> Self:
        table = self._table
        return self._with_columns([change(op, column, table.num_rows) for column in table.columns])

    def __neg__(self) -> Self:
        return self._changed("neg")

    def __pos__(self) -> Self:
        return self._changed("pos")

    def __invert__(self) -> Self:
        return self._changed("invert")

    def __abs__(self) -> Self:
        return self._changed("abs")

    def abs(self) -> Self:
        """The absolute value of each number."""
        return abs(self)

    def __round__(self, decimals: object = None) -> Self:
        return self.round(0 if decimals is None else decimals)

    def round(self, decimals: Any = 0, **rest: object) -> Self:
        """Rounds each number half to even.

        `decimals` is one number or, for a frame, a dict or series by column label. Other columns
        are unchanged.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> JaxFrame({"x": [0.25, 1.75]}).round({"x": 1}).x.tolist()
            [0.2, 1.8]
        """
        check_rest("round", rest)
        columns = self._table.columns
        if not isinstance(self, FrameBase):
            places = operator.index(decimals)
            if columns[0].kind == "object":
                # As in pandas, objects of a series are rounded, and those of a frame are not.
                table, each = self._table, lambda shown: shown.round(places)
                objects = through_values(columns[0], table.num_rows, table.layout, each, "round")
                return self._with_columns([objects])
            return self._with_columns([rounded(columns[0], places)])
        if isinstance(decimals, SeriesBase):
            decimals = decimals.to_pandas()
        if isinstance(decimals, (Mapping, pd.Series)):
            by_label: dict[Any, Any] = dict(decimals)
            if not all(isinstance(one, (int, np.integer)) for one in by_label.values()):
                raise TypeError("Values in decimals must be integers")
        elif isinstance(decimals, (int, np.integer)):
            by_label = dict.fromkeys(self._labels, decimals)
        else:
            raise TypeError("decimals must be an integer, a dict-like or a Series")
        return self._with_columns(
            [
                rounded(column, int(by_label[label])) if label in by_label else column
                for label, column in zip(self._labels, columns, strict=True)
            ]
        )
