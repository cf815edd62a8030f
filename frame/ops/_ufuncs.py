# SPDX-License-Identifier: Apache-2.0
"""NumPy's universal functions on frames and series: `np.sqrt(series)`, `np.maximum(frame, 0)`."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..table._column import Array, Column, fill_missing
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._table import Count
from ._array_ops import LOGIC, REFLECTED
from ._safe_gradient import by_row
from ._unary import change

# Universal functions with an operator; pandas dispatches them to it.
_OPERATORS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv",
    "floor_divide": "floordiv", "remainder": "mod", "power": "pow",
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le",
    "greater": "gt", "greater_equal": "ge",
    "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
}  # fmt: skip
_SIGNS = {"negative": "neg", "positive": "pos", "absolute": "abs", "invert": "invert"}


class NumpyFunctions(NDFrame):
    """Implements NumPy's unary and binary universal functions."""

    def __array_ufunc__(self: Any, ufunc: np.ufunc, method: str, *inputs: Any, **how: Any) -> Any:
        if method != "__call__" or how or not hasattr(jnp, ufunc.__name__) or ufunc.nout > 1:
            raise NotImplementedError(
                f"np.{ufunc.__name__}: frames and series only support plain calls of functions "
                "that jax.numpy has. Convert with to_numpy() first."
            )
        if len(inputs) == 1:
            num_rows = self._table.num_rows
            columns = [apply_function(ufunc, one, num_rows) for one in self._table.columns]
            return self._like(self._table.with_columns(columns))
        left: Any
        right: Any
        left, right = (x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in inputs)
        is_reflected = not isinstance(left, NDFrame)
        if isinstance(left, SeriesBase) and isinstance(right, FrameBase):
            left, right, is_reflected = right, left, True
        mine: Any
        mine, other = (right, left) if is_reflected else (left, right)
        op = _OPERATORS.get(ufunc.__name__, f"np.{ufunc.__name__}")
        if is_reflected and op in REFLECTED:
            return mine._operate(REFLECTED[op], other)
        return mine._operate(op, other, reflected=is_reflected and op not in LOGIC)


def apply_function(ufunc: np.ufunc, column: Column, num_rows: Count) -> Column:
    """Applies a universal function to a numeric column, with NumPy's result dtype."""
    name = ufunc.__name__
    if name in _SIGNS:
        return change(_SIGNS[name], column)
    if not column.is_numeric:
        raise TypeError(f"np.{name}: values must be numbers, got {column.dtype_name}")
    if column.dtype == jnp.bfloat16:
        return Column(_apply(name, column.data, num_rows, column.dtype, column.dtype))
    column = fill_missing(column)
    dtype, result = ufunc.resolve_dtypes((column.dtype, None))
    return Column(_apply(name, column.data, num_rows, dtype, result))


@functools.partial(jax.jit, static_argnums=(0, 3, 4))
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
