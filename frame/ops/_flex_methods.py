# SPDX-License-Identifier: Apache-2.0
"""The operators as methods (`add`, `sub`, ...), with `axis` and `fill_value`."""

from typing import Any

from ..table._ndframe import FrameBase, SeriesBase
from ._dunders import Method

_DOCSTRING = """`{left} {symbol} {right}`, with an axis and a fill value.

        Rows and columns are aligned by label. If one of two values is missing, `fill_value`
        replaces it.

        Differences from pandas:
            `level=` raises NotImplementedError. A `fill_value` must be a number.
        """


def _check_level(name: str, level: Any) -> None:
    if level is not None:
        raise NotImplementedError(
            f"{name}: level must be None. Align the labels with merge() or join() first."
        )


def _named(method: Any, name: str, symbol: str, reflected: bool) -> Any:
    method.__name__ = name
    left, right = ("other", "self") if reflected else ("self", "other")
    method.__doc__ = _DOCSTRING.format(left=left, right=right, symbol=symbol)
    return method


def _of_series(name: str, op: str, symbol: str, *, reflected: bool = False) -> Any:
    def method(
        self: Any, other: Any, level: Any = None, fill_value: Any = None, axis: Any = 0
    ) -> Any:
        _check_level(name, level)
        if axis not in (0, "index", None):
            raise ValueError(f"No axis named {axis} for object type Series")
        return self._flex(op, other, reflected, fill_value)

    return _named(method, name, symbol, reflected)


def _of_frame(name: str, op: str, symbol: str, *, reflected: bool = False) -> Any:
    def method(
        self: Any, other: Any, axis: Any = "columns", level: Any = None, fill_value: Any = None
    ) -> Any:
        _check_level(name, level)
        if axis not in (0, 1, "index", "rows", "columns", None):
            raise ValueError(f"No axis named {axis} for object type DataFrame")
        return self._flex(op, other, reflected, fill_value, axis in (0, "index", "rows"))

    return _named(method, name, symbol, reflected)


class SeriesFlexMethods(SeriesBase):
    """The operators of a series as methods."""

    add: Method = _of_series("add", "add", "+")
    sub: Method = _of_series("sub", "sub", "-")
    mul: Method = _of_series("mul", "mul", "*")
    truediv: Method = _of_series("truediv", "truediv", "/")
    floordiv: Method = _of_series("floordiv", "floordiv", "//")
    mod: Method = _of_series("mod", "mod", "%")
    pow: Method = _of_series("pow", "pow", "**")
    radd: Method = _of_series("radd", "add", "+", reflected=True)
    rsub: Method = _of_series("rsub", "sub", "-", reflected=True)
    rmul: Method = _of_series("rmul", "mul", "*", reflected=True)
    rtruediv: Method = _of_series("rtruediv", "truediv", "/", reflected=True)
    rfloordiv: Method = _of_series("rfloordiv", "floordiv", "//", reflected=True)
    rmod: Method = _of_series("rmod", "mod", "%", reflected=True)
    rpow: Method = _of_series("rpow", "pow", "**", reflected=True)
    div: Method = truediv
    divide: Method = truediv
    rdiv: Method = rtruediv
    multiply: Method = mul
    subtract: Method = sub
    eq: Method = _of_series("eq", "eq", "==")
    ne: Method = _of_series("ne", "ne", "!=")
    lt: Method = _of_series("lt", "lt", "<")
    le: Method = _of_series("le", "le", "<=")
    gt: Method = _of_series("gt", "gt", ">")
    ge: Method = _of_series("ge", "ge", ">=")


class FrameFlexMethods(FrameBase):
    """The operators of a frame as methods."""

    add: Method = _of_frame("add", "add", "+")
    sub: Method = _of_frame("sub", "sub", "-")
    mul: Method = _of_frame("mul", "mul", "*")
    truediv: Method = _of_frame("truediv", "truediv", "/")
    floordiv: Method = _of_frame("floordiv", "floordiv", "//")
    mod: Method = _of_frame("mod", "mod", "%")
    pow: Method = _of_frame("pow", "pow", "**")
    radd: Method = _of_frame("radd", "add", "+", reflected=True)
    rsub: Method = _of_frame("rsub", "sub", "-", reflected=True)
    rmul: Method = _of_frame("rmul", "mul", "*", reflected=True)
    rtruediv: Method = _of_frame("rtruediv", "truediv", "/", reflected=True)
    rfloordiv: Method = _of_frame("rfloordiv", "floordiv", "//", reflected=True)
    rmod: Method = _of_frame("rmod", "mod", "%", reflected=True)
    rpow: Method = _of_frame("rpow", "pow", "**", reflected=True)
    div: Method = truediv
    divide: Method = truediv
    rdiv: Method = rtruediv
    multiply: Method = mul
    subtract: Method = sub
    eq: Method = _of_frame("eq", "eq", "==")
    ne: Method = _of_frame("ne", "ne", "!=")
    lt: Method = _of_frame("lt", "lt", "<")
    le: Method = _of_frame("le", "le", "<=")
    gt: Method = _of_frame("gt", "gt", ">")
    ge: Method = _of_frame("ge", "ge", ">=")
