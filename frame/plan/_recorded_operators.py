# SPDX-License-Identifier: Apache-2.0
"""Python's operators and NumPy's universal functions, recorded as expressions."""

from collections.abc import Callable
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np

from ..ops._array_ops import SYMBOLS
from ..ops._operators import UFUNC_OPERATORS

Method: TypeAlias = Callable[..., Any]


def _operator(symbol: str, *, is_reflected: bool = False) -> Method:
    def operator(self: Any, other: object) -> Any:
        return self.of(symbol, other, self) if is_reflected else self.of(symbol, self, other)

    return operator


def _unary(symbol: str) -> Method:
    def operator(self: Any) -> Any:
        return self.of(symbol, self)

    return operator


class RecordedOperators:
    """Operators that record themselves by the class method `of`."""

    __slots__ = ()

    __add__: Method = _operator("+")
    __radd__: Method = _operator("+", is_reflected=True)
    __sub__: Method = _operator("-")
    __rsub__: Method = _operator("-", is_reflected=True)
    __mul__: Method = _operator("*")
    __rmul__: Method = _operator("*", is_reflected=True)
    __truediv__: Method = _operator("/")
    __rtruediv__: Method = _operator("/", is_reflected=True)
    __floordiv__: Method = _operator("//")
    __rfloordiv__: Method = _operator("//", is_reflected=True)
    __mod__: Method = _operator("%")
    __rmod__: Method = _operator("%", is_reflected=True)
    __pow__: Method = _operator("**")
    __rpow__: Method = _operator("**", is_reflected=True)
    __and__: Method = _operator("&")
    __rand__: Method = _operator("&", is_reflected=True)
    __or__: Method = _operator("|")
    __ror__: Method = _operator("|", is_reflected=True)
    __xor__: Method = _operator("^")
    __rxor__: Method = _operator("^", is_reflected=True)
    __eq__: Method = _operator("==")
    __ne__: Method = _operator("!=")
    __lt__: Method = _operator("<")
    __le__: Method = _operator("<=")
    __gt__: Method = _operator(">")
    __ge__: Method = _operator(">=")
    __invert__: Method = _unary("~")
    __neg__: Method = _unary("neg")
    __pos__: Method = _unary("pos")
    __abs__: Method = _unary("abs")

    def __array_ufunc__(
        self: Any, ufunc: np.ufunc, method: str, *inputs: object, **keywords: object
    ) -> Any:
        name = ufunc.__name__
        if method != "__call__" or keywords or not hasattr(jnp, name) or ufunc.nout > 1:
            raise NotImplementedError(
                f"np.{name}: expressions only support plain calls of functions that jax.numpy "
                "has. Evaluate the expression first."
            )
        symbol = SYMBOLS[UFUNC_OPERATORS[name]] if name in UFUNC_OPERATORS else f"np.{name}"
        return self.of(symbol, *inputs)
