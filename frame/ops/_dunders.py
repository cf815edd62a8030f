# SPDX-License-Identifier: Apache-2.0
"""Python's operators."""

from collections.abc import Callable
from typing import Any, ClassVar, TypeAlias

from ..table._ndframe import NDFrame

Method: TypeAlias = Callable[..., Any]


def _operator(op: str, *, reflected: bool = False) -> Method:
    def operator(self: Any, other: Any) -> Any:
        return self._operate(op, other, reflected=reflected)

    return operator


class Operators(NDFrame):
    """Python's operators, in terms of `_operate`."""

    __hash__: ClassVar[None] = None

    def _operate(self, op: str, other: Any, *, reflected: bool = False) -> Any:
        raise NotImplementedError

    def __bool__(self) -> bool:
        raise ValueError(
            f"The truth value of a {type(self).__name__} is ambiguous. "
            "Use a.empty, a.bool(), a.item(), a.any() or a.all()."
        )

    def __matmul__(self, other: Any) -> Any:
        return self.dot(other)

    __add__: Method = _operator("add")
    __radd__: Method = _operator("add", reflected=True)
    __sub__: Method = _operator("sub")
    __rsub__: Method = _operator("sub", reflected=True)
    __mul__: Method = _operator("mul")
    __rmul__: Method = _operator("mul", reflected=True)
    __truediv__: Method = _operator("truediv")
    __rtruediv__: Method = _operator("truediv", reflected=True)
    __floordiv__: Method = _operator("floordiv")
    __rfloordiv__: Method = _operator("floordiv", reflected=True)
    __mod__: Method = _operator("mod")
    __rmod__: Method = _operator("mod", reflected=True)
    __pow__: Method = _operator("pow")
    __rpow__: Method = _operator("pow", reflected=True)
    __and__: Method = _operator("and")
    __rand__: Method = __and__
    __or__: Method = _operator("or")
    __ror__: Method = __or__
    __xor__: Method = _operator("xor")
    __rxor__: Method = __xor__
    __eq__: Method = _operator("eq")
    __ne__: Method = _operator("ne")
    __lt__: Method = _operator("lt")
    __le__: Method = _operator("le")
    __gt__: Method = _operator("gt")
    __ge__: Method = _operator("ge")
