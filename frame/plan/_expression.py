# SPDX-License-Identifier: Apache-2.0
"""Expressions: recorded methods of series over named columns."""

import inspect
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import pandas as pd

from ..ops._array_ops import REFLECTED, SYMBOLS
from ..table._arguments import no_inplace
from ..table._expressions import PANDAS_EXPRESSION
from ..table._ndframe import FrameBase, NDFrame
from ..table._types import Options
from ..table._unsupported import LackingError, lacking
from ._methods import ACCESSORS, GROUPINGS, METHODS, apply
from ._operands import as_literal
from ._recorded_operators import RecordedOperators
from ._signatures import arguments_of
from ._text import text_of
from ._tree import Tree

# Comparisons with their operands exchanged.
_FLIPPED = {SYMBOLS[one]: SYMBOLS[other] for one, other in REFLECTED.items()}


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Expression(RecordedOperators, Tree):
    """A recorded calculation on named columns, made by `col`. Immutable.

    Operators and the listed methods of `JaxSeries` record themselves and return new expressions.
    A frame evaluates an expression wherever it takes a function of the frame, and in `filter`,
    `sort_values` and `groupby`. The methods called then are those of `JaxSeries`, so the answers
    are the same.

    Args:
        function: the recorded function: "col", an operator such as "+", "alias", "list", a ufunc
            such as "np.log", or a method such as "fillna", "str.lower" or "rolling.mean".
        operands: the positional operands, expressions or values.
        keywords: pairs of name and operand.

    Example:
        >>> from jaxframes.frame import JaxFrame, col
        >>> frame = JaxFrame({"x": [1, 2, 3], "y": [3, 0, 1]})
        >>> frame[col("x") > col("y") + 1].x.tolist()
        [2, 3]
        >>> col("x") > col("y") + 1
        col('x') > col('y') + 1
    """

    @classmethod
    def of(cls, function: str, /, *operands: object, **keywords: object) -> "Expression":
        """Records a function with operands, which are checked and copied."""
        converted = tuple(as_operand(operand, function) for operand in operands)
        if function in _FLIPPED and not isinstance(converted[0], Expression):
            # 1 < x is x > 1, as Python itself has it.
            function, converted = _FLIPPED[function], converted[::-1]
        named = tuple((name, as_operand(value, function)) for name, value in keywords.items())
        return cls(function, converted, named)

    @classmethod
    def from_pandas(cls, expression: object) -> "Expression":
        """Converts an expression of `pandas.col`; returns one of `col` as it is."""
        if isinstance(expression, cls):
            return expression
        if not isinstance(expression, PANDAS_EXPRESSION):
            raise TypeError(
                f"expected an expression, got {type(expression).__name__}. Make it with col()."
            )
        recording = _Recording()
        # The public method of pandas that evaluates expressions, on columns that record.
        pd.DataFrame.assign(recording, result=expression)  # pyright: ignore[reportArgumentType]
        if not isinstance(recording.result, cls):
            raise NotImplementedError(
                f"{expression!r}: the result is not a column, got "
                f"{type(recording.result).__name__}. Call a method of it."
            )
        return recording.result

    def alias(self, label: Hashable) -> "Expression":
        """The same values under another name."""
        return Expression("alias", (self, label))

    def rename(self, labels: Mapping[Hashable, Hashable]) -> "Expression":
        """The same expression of renamed columns."""

        def renamed(part: Expression, new: dict[int, Any]) -> Expression:
            if part.function != "col":
                return part._rebuilt(new)
            (label,) = part.operands
            return col(labels.get(label, label))

        return self._rewritten(renamed)

    def evaluate(self, frame: object) -> Any:
        """Evaluates the expression on a frame: a `JaxSeries`, or a scalar for a reduction.

        Raises:
            ValueError: a column is absent from the frame.
        """
        if not isinstance(frame, FrameBase):
            raise TypeError(
                f"Expression: must be evaluated on a JaxFrame, got {type(frame).__name__}. Pass "
                "it to a method of a frame."
            )
        return self.evaluate_leaves(lambda leaf, label: _LEAF_VALUES[leaf](frame, label))

    def evaluate_leaves(self, value_of: Callable[[str, Any], Any]) -> Any:
        """Evaluates the expression on the values of its leaves, by function and label."""
        nodes = list(self._bottom_up())
        uses = Counter(id(child) for node in nodes for child in node.children)
        values: dict[int, Any] = {}
        for node in nodes:
            if node.function in _LEAF_VALUES:
                values[id(node)] = value_of(node.function, *node.operands)
            else:
                values[id(node)] = apply(node.function, *node._filled(values))
            for child in node.children:
                uses[id(child)] -= 1
                if not uses[id(child)]:
                    # Frees the array as soon as a series calculated step by step would.
                    del values[id(child)]
        return values[id(self)]

    __call__ = evaluate

    def __hash__(self) -> int:
        return hash(self.key())

    def __repr__(self) -> str:
        return text_of(self)

    def __bool__(self) -> NoReturn:
        raise TypeError(
            "boolean value of an expression is ambiguous. Use & | ~ instead of and, or, not, with "
            "parentheses around comparisons."
        )

    # Neither iterable nor list-like.
    __iter__: ClassVar[None] = None

    def __getattr__(self, name: str) -> Any:
        if name in ACCESSORS:
            return Namespace(self, name)
        if name in METHODS:
            return _recorder(self, name)
        raise _no_method(name)

    def __dir__(self) -> list[str]:
        recorded = [name for name in METHODS if "." not in name]
        return sorted([*object.__dir__(self), *ACCESSORS, *recorded])


def col(label: Hashable) -> Expression:
    """The column with a label, for use in expressions.

    `pandas.col` may be used instead.

    Args:
        label: the label of the column.

    Returns:
        An expression that reads the column.

    Example:
        >>> from jaxframes.frame import JaxFrame, col
        >>> JaxFrame({"x": [1, 2]}).assign(y=col("x") * 10).y.tolist()
        [10, 20]
    """
    if not isinstance(label, Hashable):
        raise TypeError(f"Expected Hashable, got: {type(label)}")
    return Expression("col", (label,))


class Namespace:
    """The methods behind `.str`, `.dt`, `.cat`, `.list`, windows or groups of an expression."""

    __slots__ = ("_prefix", "_target")

    def __init__(self, target: Expression, prefix: str):
        self._target, self._prefix = target, prefix

    def __getattr__(self, name: str) -> Any:
        function = f"{self._prefix}.{name}"
        if function in METHODS:
            return _recorder(self._target, function)
        raise _no_method(function)

    def __getitem__(self, key: object) -> Expression:
        prefix = self._prefix
        if prefix not in ("str", "list"):
            raise TypeError(f"{self!r} is not subscriptable")
        if isinstance(key, slice):
            return Expression.of(f"{prefix}.slice", self._target, key.start, key.stop, key.step)
        return Expression.of(f"{prefix}.get", self._target, key)

    def __dir__(self) -> list[str]:
        prefix = f"{self._prefix}."
        return [name.removeprefix(prefix) for name in METHODS if name.startswith(prefix)]

    def __repr__(self) -> str:
        suffix = f".{self._prefix}" if self._prefix in ACCESSORS else ""
        return f"{self._target!r}{suffix}"


def as_operand(value: object, function: str) -> Any:
    """Converts an operand of a recorded function; lists may hold expressions."""
    if isinstance(value, Expression):
        return value
    if isinstance(value, PANDAS_EXPRESSION):
        return Expression.from_pandas(value)
    if isinstance(value, list) and any(isinstance(one, Expression) for one in value):
        return Expression.of("list", *value)
    return as_literal(value, function)


class _AnyLabel:
    """Column labels that contain every label."""

    def __contains__(self, label: object) -> bool:
        return True


class _Recording:
    """A frame in the eyes of pandas' `assign`, whose columns are expressions."""

    columns = _AnyLabel()
    result: Any = None

    def copy(self, deep: object = None) -> "_Recording":
        return self

    def __getitem__(self, label: Hashable) -> Expression:
        return col(label)

    def __setitem__(self, label: Hashable, value: object) -> None:
        self.result = value


def _column_of(frame: Any, label: Hashable) -> Any:
    if label not in frame:
        listed = str(list(frame))
        listed = f"{listed[:90]}...]" if len(listed) > 90 else listed
        raise ValueError(
            f"Column '{label}' not found in given DataFrame.\n\nHint: did you mean one of "
            f"{listed} instead?"
        )
    column = frame[label]
    if isinstance(column, FrameBase):
        raise ValueError(f"The column label {label!r} is not unique. Rename the columns.")
    return column


def _index_of(frame: Any, level: Any) -> Any:
    names = list(frame._table.index.names)
    position = names.index(level) if level in names else level
    return frame._make_series(frame._table.index_columns()[position], names[position])


_LEAF_VALUES = {"col": _column_of, "index": _index_of}


def _recorder(target: Expression, function: str) -> Any:
    """What the name of a recorded method gives: a function that records the call, or its result."""
    if METHODS[function].is_attribute:
        return Expression(function, (target,))

    def record(*arguments: object, **keywords: object) -> Any:
        _check_call(function, arguments, keywords)
        expression = Expression.of(function, target, *arguments, **keywords)
        return Namespace(expression, function) if function in GROUPINGS else expression

    record.__name__ = record.__qualname__ = function
    return record


def _check_call(function: str, arguments: tuple[object, ...], keywords: Options) -> None:
    """Raises for arguments that the method of a series does not have."""
    no_inplace(function, keywords.get("inplace", False))
    if "." not in function:
        method: Callable[..., Any] = getattr(NDFrame.series_class, function)
        arguments_of(function, inspect.signature(method), arguments, keywords)


def _no_method(function: str) -> Exception:
    """The error for a name that expressions do not record."""
    if function.startswith("_"):
        return AttributeError(f"'Expression' object has no attribute {function!r}")
    lacks = lacking("JaxSeries", function)
    if lacks is not None:
        return lacks
    if hasattr(NDFrame.series_class, function):
        return LackingError(
            f"Expression: {function} is not supported, because its result is not one value per "
            f"row or one value. Select the column first: frame[label].{function}."
        )
    return AttributeError(f"'Expression' object has no attribute {function!r}")
