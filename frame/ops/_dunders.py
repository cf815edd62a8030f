# SPDX-License-Identifier: Apache-2.0
"""The operators of Python."""

from typing import Any, ClassVar

from ..table._ndframe import NDFrame


class Operators(NDFrame):
    """The operators of Python, in terms of `_operate`."""

    __hash__: ClassVar[None] = None  # pyright: ignore

    def _operate(self, op: str, other: Any, *, reflected: bool = False) -> Any:
        raise NotImplementedError

    def __bool__(self) -> bool:
        raise ValueError(
            f"The truth value of a {type(self).__name__} is ambiguous. "
            "Use a.empty, a.bool(), a.item(), a.any() or a.all()."
        )

    def __matmul__(self, other: Any) -> Any:
        return self.dot(other)  # pyright: ignore

    def __add__(self, other: Any) -> Any:
        return self._operate("add", other)

    def __radd__(self, other: Any) -> Any:
        return self._operate("add", other, reflected=True)

    def __sub__(self, other: Any) -> Any:
        return self._operate("sub", other)

    def __rsub__(self, other: Any) -> Any:
        return self._operate("sub", other, reflected=True)

    def __mul__(self, other: Any) -> Any:
        return self._operate("mul", other)

    def __rmul__(self, other: Any) -> Any:
        return self._operate("mul", other, reflected=True)

    def __truediv__(self, other: Any) -> Any:
        return self._operate("truediv", other)

    def __rtruediv__(self, other: Any) -> Any:
        return self._operate("truediv", other, reflected=True)

    def __floordiv__(self, other: Any) -> Any:
        return self._operate("floordiv", other)

    def __rfloordiv__(self, other: Any) -> Any:
        return self._operate("floordiv", other, reflected=True)

    def __mod__(self, other: Any) -> Any:
        return self._operate("mod", other)

    def __rmod__(self, other: Any) -> Any:
        return self._operate("mod", other, reflected=True)

    def __pow__(self, other: Any) -> Any:
        return self._operate("pow", other)

    def __rpow__(self, other: Any) -> Any:
        return self._operate("pow", other, reflected=True)

    def __and__(self, other: Any) -> Any:
        return self._operate("and", other)

    def __rand__(self, other: Any) -> Any:
        return self._operate("and", other)

    def __or__(self, other: Any) -> Any:
        return self._operate("or", other)

    def __ror__(self, other: Any) -> Any:
        return self._operate("or", other)

    def __xor__(self, other: Any) -> Any:
        return self._operate("xor", other)

    def __rxor__(self, other: Any) -> Any:
        return self._operate("xor", other)

    def __eq__(self, other: Any) -> Any:
        return self._operate("eq", other)

    def __ne__(self, other: Any) -> Any:
        return self._operate("ne", other)

    def __lt__(self, other: Any) -> Any:
        return self._operate("lt", other)

    def __le__(self, other: Any) -> Any:
        return self._operate("le", other)

    def __gt__(self, other: Any) -> Any:
        return self._operate("gt", other)

    def __ge__(self, other: Any) -> Any:
        return self._operate("ge", other)
