# SPDX-License-Identifier: Apache-2.0
"""The operators under their names, which take a value for what is missing, and an axis."""

from typing import Any

from ..table._ndframe import FrameBase, SeriesBase

_DOCSTRING = """`{left} {symbol} {right}`, with an axis and a value for what is missing.

        Rows and columns are brought together by their labels. Where one of two values is missing,
        `fill_value` stands in for it.

        Differences from pandas:
            `level=` raises NotImplementedError. A `fill_value` must be a number.
        """


def _check_level(name: str, level: Any) -> None:
    if level is not None:
        raise NotImplementedError(
            f"{name}: level must be None. Bring the labels together with merge() or join() first."
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
    """The operators of a series under their names."""

    add = _of_series("add", "add", "+")
    sub = _of_series("sub", "sub", "-")
    mul = _of_series("mul", "mul", "*")
    truediv = _of_series("truediv", "truediv", "/")
    floordiv = _of_series("floordiv", "floordiv", "//")
    mod = _of_series("mod", "mod", "%")
    pow = _of_series("pow", "pow", "**")
    radd = _of_series("radd", "add", "+", reflected=True)
    rsub = _of_series("rsub", "sub", "-", reflected=True)
    rmul = _of_series("rmul", "mul", "*", reflected=True)
    rtruediv = _of_series("rtruediv", "truediv", "/", reflected=True)
    rfloordiv = _of_series("rfloordiv", "floordiv", "//", reflected=True)
    rmod = _of_series("rmod", "mod", "%", reflected=True)
    rpow = _of_series("rpow", "pow", "**", reflected=True)
    div = truediv
    divide = truediv
    rdiv = rtruediv
    multiply = mul
    subtract = sub
    eq = _of_series("eq", "eq", "==")
    ne = _of_series("ne", "ne", "!=")
    lt = _of_series("lt", "lt", "<")
    le = _of_series("le", "le", "<=")
    gt = _of_series("gt", "gt", ">")
    ge = _of_series("ge", "ge", ">=")


class FrameFlexMethods(FrameBase):
    """The operators of a frame under their names."""

    add = _of_frame("add", "add", "+")
    sub = _of_frame("sub", "sub", "-")
    mul = _of_frame("mul", "mul", "*")
    truediv = _of_frame("truediv", "truediv", "/")
    floordiv = _of_frame("floordiv", "floordiv", "//")
    mod = _of_frame("mod", "mod", "%")
    pow = _of_frame("pow", "pow", "**")
    radd = _of_frame("radd", "add", "+", reflected=True)
    rsub = _of_frame("rsub", "sub", "-", reflected=True)
    rmul = _of_frame("rmul", "mul", "*", reflected=True)
    rtruediv = _of_frame("rtruediv", "truediv", "/", reflected=True)
    rfloordiv = _of_frame("rfloordiv", "floordiv", "//", reflected=True)
    rmod = _of_frame("rmod", "mod", "%", reflected=True)
    rpow = _of_frame("rpow", "pow", "**", reflected=True)
    div = truediv
    divide = truediv
    rdiv = rtruediv
    multiply = mul
    subtract = sub
    eq = _of_frame("eq", "eq", "==")
    ne = _of_frame("ne", "ne", "!=")
    lt = _of_frame("lt", "lt", "<")
    le = _of_frame("le", "le", "<=")
    gt = _of_frame("gt", "gt", ">")
    ge = _of_frame("ge", "ge", ">=")
