# SPDX-License-Identifier: Apache-2.0
"""Python's operators, as methods too (`add`, ...), and NumPy's universal functions."""

from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..align._align import in_capacity_of, same_labels
from ..align._common_types import common_pair, same_categories
from ..table._alive import named
from ..table._column import Array, Column, in_dtype, show_holes
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._object_functions import host_series
from ..table._table import Count, is_row
from ..table._tracing import answered_at_once, is_traced
from ..table._types import Axis, LevelOrLevels
from ._array_ops import LOGIC, REFLECTED, SYMBOLS
from ._column_ops import combine
from ._unary import apply_function

Method: TypeAlias = Callable[..., Any]


class Operation(NamedTuple):
    """An operator with its options; a flex method compares unaligned operands too.

    Attributes:
        op: the operator.
        is_reflected: whether the operands are in the other order.
        fill_value: what a missing value of one operand counts as; None for itself.
        is_flex: whether it is a method.
        level: the level of labels by which operands are aligned; None for all.
    """

    op: str
    is_reflected: bool = False
    fill_value: Any = None
    is_flex: bool = True
    level: Any = None


def _operator(op: str, *, reflected: bool = False) -> Method:
    operation = Operation(op, reflected, is_flex=False)

    def operator(self: Any, other: object) -> Any:
        return self._apply(operation, other)

    return named(operator, f"__{'r' * reflected}{op}__")


# Universal functions with an operator; pandas dispatches them to it.
UFUNC_OPERATORS = {
    "add": "add", "subtract": "sub", "multiply": "mul", "divide": "truediv",
    "floor_divide": "floordiv", "remainder": "mod", "power": "pow",
    "equal": "eq", "not_equal": "ne", "less": "lt", "less_equal": "le",
    "greater": "gt", "greater_equal": "ge",
    "bitwise_and": "and", "bitwise_or": "or", "bitwise_xor": "xor",
}  # fmt: skip


# Reductions by universal functions, as in pandas.
UFUNC_REDUCTIONS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max"}


def _in_one_dtype(operand: Any) -> Any:
    """A frame of real numbers in their common dtype; other operands as they are."""
    if not isinstance(operand, FrameBase):
        return operand
    columns = [show_holes(column) for column in operand._table.columns]
    are_numbers = all(
        column.is_numeric and not column.is_nullable and column.dtype.kind in "iuf"
        for column in columns
    )
    dtypes = {column.dtype for column in columns}
    if not are_numbers or len(dtypes) < 2:
        return operand
    return operand._with_columns(in_dtype(columns, np.result_type(*dtypes)))


class Operators(NDFrame):
    """Python's operators and NumPy's universal functions, in terms of `_apply`."""

    __hash__: ClassVar[None] = None
    # pandas leaves an operator to what has more than its own index, array, or series (3000).
    __pandas_priority__ = 3500

    def _operate(self, op: str, other: object, *, reflected: bool = False) -> Any:
        return self._apply(Operation(op, reflected, is_flex=False), other)

    def _apply(self, operation: Operation, other: object, by_row: bool = False) -> Any:
        raise NotImplementedError

    def __bool__(self) -> bool:
        raise ValueError(
            f"The truth value of a {type(self).__name__} is ambiguous. "
            "Use a.empty, a.bool(), a.item(), a.any() or a.all()."
        )

    def __matmul__(self, other: object) -> Any:
        return self.dot(other)

    def __rmatmul__(self: Any, other: object) -> Any:
        turned = np.transpose(np.asarray(other))
        return self.dot(turned) if self.ndim == 1 else self.T.dot(turned).T

    def __array_ufunc__(
        self: Any, ufunc: np.ufunc, method: str, *inputs: object, **how: object
    ) -> Any:
        if method == "reduce" and ufunc.__name__ in UFUNC_REDUCTIONS:
            # As in NumPy, nothing is skipped.
            reduce = getattr(self, UFUNC_REDUCTIONS[ufunc.__name__])
            return reduce(**{"axis": 0, "skipna": False, **how})
        if method != "__call__" or how or not hasattr(jnp, ufunc.__name__) or ufunc.nout > 1:
            raise NotImplementedError(
                f"np.{ufunc.__name__}: frames and series only support plain calls of functions "
                "that jax.numpy has. Convert with to_numpy() first."
            )
        if len(inputs) == 1:
            num_rows = self._table.num_rows
            columns = [apply_function(ufunc, one, num_rows) for one in self._table.columns]
            return self._with_columns(columns)
        left: Any
        right: Any
        left, right = (x[()] if isinstance(x, np.ndarray) and not x.ndim else x for x in inputs)
        is_reflected = not isinstance(left, NDFrame)
        if ufunc is np.matmul:
            return right.__rmatmul__(left) if is_reflected else left @ right
        if isinstance(left, SeriesBase) and isinstance(right, FrameBase):
            left, right, is_reflected = right, left, True
        mine: Any
        mine, other = (right, left) if is_reflected else (left, right)
        op = UFUNC_OPERATORS.get(ufunc.__name__, f"np.{ufunc.__name__}")
        if op not in UFUNC_OPERATORS.values():
            # Those that are no operators see the numbers of a frame as one array.
            mine, other = _in_one_dtype(mine), _in_one_dtype(other)
        if is_reflected and op in REFLECTED:
            return mine._operate(REFLECTED[op], other)
        return mine._operate(op, other, reflected=is_reflected and op not in LOGIC)

    @answered_at_once
    def equals(self: Any, other: Any) -> bool:
        """Whether `other` has the same labels, dtypes and values; missing values are equal.

        Example:
            >>> from jaxframes.frame import JaxSeries
            >>> JaxSeries([1.0, None]).equals(JaxSeries([1.0, None]))
            True
        """
        if type(other) is not type(self):
            return False
        a, b = self._table, other._table
        if is_traced(a, b):
            raise NotImplementedError(
                "equals: the result is not known inside jit. Use (a == b).all()."
            )
        if a.num_rows_on_host != b.num_rows_on_host or len(a.columns) != len(b.columns):
            return False
        if isinstance(self, FrameBase) and not self._labels.index.equals(other._labels.index):
            return False
        b = in_capacity_of(b, a)
        if a.layout != b.layout:
            raise ValueError(
                "equals: both must be on the same devices, got "
                f"{a.layout} and {b.layout}. Construct one with the sharding of the other."
            )
        if not same_labels(a, b):
            return False
        pairs = zip(a.columns, b.columns, strict=True)
        return all(_same_values(x, y, a.num_rows) for x, y in pairs)

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


class FlexMethods(NDFrame):
    """The operators as methods, which `define_flex_methods` makes."""

    add: Method
    sub: Method
    mul: Method
    truediv: Method
    floordiv: Method
    mod: Method
    pow: Method
    radd: Method
    rsub: Method
    rmul: Method
    rtruediv: Method
    rfloordiv: Method
    rmod: Method
    rpow: Method
    div: Method
    divide: Method
    rdiv: Method
    multiply: Method
    subtract: Method
    eq: Method
    ne: Method
    lt: Method
    le: Method
    gt: Method
    ge: Method


_ALIASES = {
    "div": "truediv", "divide": "truediv", "rdiv": "rtruediv", "multiply": "mul", "subtract": "sub"
}  # fmt: skip
_DOCSTRING = """`{} {} {}`, with an axis and a fill value.

        Rows and columns are aligned by label. If one of two values is missing, `fill_value`
        replaces it.

        Differences from pandas:
            `level=` raises NotImplementedError. A `fill_value` must be a number.
        """


def define_flex_methods(kind: type[FlexMethods], make: Callable[..., Method]) -> None:
    """Gives a class the operators as methods; `make` is `of_series` or `of_frame`."""
    for name in FlexMethods.__annotations__:
        if name in _ALIASES:
            setattr(kind, name, getattr(kind, _ALIASES[name]))
            continue
        is_reflected = name.removeprefix("r") in SYMBOLS and name not in SYMBOLS
        op = name.removeprefix("r") if is_reflected else name
        method = named(make(name, op, is_reflected), name)
        left, right = ("other", "self") if is_reflected else ("self", "other")
        method.__doc__ = _DOCSTRING.format(left, SYMBOLS[op], right)
        setattr(kind, name, method)


def of_series(name: str, op: str, is_reflected: bool) -> Method:
    """Makes a method of series."""

    def method(
        self: Any,
        other: object,
        level: LevelOrLevels = None,
        fill_value: object = None,
        axis: Axis = 0,
    ) -> Any:
        _check_axis(axis, (0, "index", None), "Series")
        return self._apply(Operation(op, is_reflected, fill_value, level=level), other)

    return method


def of_frame(name: str, op: str, is_reflected: bool) -> Method:
    """Makes a method of frames."""

    def method(
        self: Any,
        other: object,
        axis: Axis = "columns",
        level: LevelOrLevels = None,
        fill_value: object = None,
    ) -> Any:
        _check_axis(axis, (0, 1, "index", "rows", "columns", None), "DataFrame")
        by_row = axis in (0, "index", "rows")
        return self._apply(Operation(op, is_reflected, fill_value, level=level), other, by_row)

    return method


def _check_axis(axis: Axis, axes: tuple[object, ...], kind: str) -> None:
    if axis not in axes:
        raise ValueError(f"No axis named {axis} for object type {kind}")


def _same_values(a: Column, b: Column, num_rows: Count) -> bool:
    if {a.kind, b.kind} & {"object", "list"}:
        return host_series(a, num_rows).equals(host_series(b, num_rows))
    if a.dtype_name != b.dtype_name or (a.valid is None) != (b.valid is None):
        return False
    if a.kind == "category":
        if not same_categories(a, b):
            return False
        a, b = common_pair(a, b, "equals", (num_rows, num_rows))
    (equal,) = combine("eq", [(a, b)], num_rows)
    return bool(_are_all(equal.data, a.missing(), b.missing(), num_rows))


@tiered
def _are_all(equal: Array, a_missing: Array, b_missing: Array, num_rows: Count) -> Array:
    """Whether two columns are equal, or both missing, in each row."""
    same = equal | (a_missing & b_missing)
    return (same | ~is_row(same.shape[0], num_rows)).all()
