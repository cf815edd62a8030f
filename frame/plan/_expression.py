# SPDX-License-Identifier: Apache-2.0
"""Expressions: recorded methods of series over named columns."""

import inspect
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NoReturn

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..ops._array_ops import SYMBOLS
from ..ops._operators import UFUNC_OPERATORS
from ..table._arguments import no_inplace
from ..table._expressions import PANDAS_EXPRESSION
from ..table._ndframe import FrameBase, NDFrame
from ..table._unsupported import LackingError, lacking
from ._methods import (
    ACCESSORS,
    ATOM,
    GROUPINGS,
    METHODS,
    OPERATORS,
    UNARY_OPERATORS,
    Reads,
    apply,
)
from ._operands import as_literal, literal_key, literal_text

# Comparisons with their operands exchanged.
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True, eq=False, repr=False, slots=True)
class Expression:
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

    function: str
    operands: tuple[Any, ...]
    keywords: tuple[tuple[str, Any], ...] = ()

    @classmethod
    def of(cls, function: str, /, *operands: Any, **keywords: Any) -> "Expression":
        """Records a function with operands, which are checked and copied."""
        converted = tuple(as_operand(operand, function) for operand in operands)
        if function in _FLIPPED and not isinstance(converted[0], Expression):
            # 1 < x is x > 1, as Python itself has it.
            function, converted = _FLIPPED[function], converted[::-1]
        named = tuple((name, as_operand(value, function)) for name, value in keywords.items())
        return cls(function, converted, named)

    @classmethod
    def from_pandas(cls, expression: Any) -> "Expression":
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

    @property
    def children(self) -> tuple["Expression", ...]:
        """The operands that are expressions, in order."""
        values = (*self.operands, *(value for _, value in self.keywords))
        return tuple(value for value in values if isinstance(value, Expression))

    def columns(self) -> frozenset[Hashable]:
        """The labels of all columns that the expression reads."""
        return frozenset(node.operands[0] for node in self._bottom_up() if node.function == "col")

    @property
    def name(self) -> Hashable:
        """The label that `alias` gave, or that of the leftmost column."""
        node = self
        while node.function != "alias" and node.children:
            node = node.children[0]
        return node.operands[-1]

    def alias(self, label: Hashable) -> "Expression":
        """The same values under another name."""
        return Expression("alias", (self, label))

    def rename(self, labels: Mapping[Hashable, Hashable]) -> "Expression":
        """The same expression of renamed columns."""
        renamed: dict[int, Expression] = {}
        for node in self._bottom_up():
            if node.function == "col":
                (label,) = node.operands
                renamed[id(node)] = col(labels.get(label, label))
            else:
                operands, keywords = node._filled(renamed)
                renamed[id(node)] = Expression(
                    node.function, tuple(operands), tuple(keywords.items())
                )
        return renamed[id(self)]

    def is_rowwise(self) -> bool:
        """Whether each row of the result depends on the same row of the columns alone."""
        return all(_reads(node) == "row" for node in self._bottom_up())

    def evaluate(self, frame: Any) -> Any:
        """Evaluates the expression on a frame: a `JaxSeries`, or a scalar for a reduction.

        Raises:
            ValueError: a column is absent from the frame.
        """
        if not isinstance(frame, FrameBase):
            raise TypeError(
                f"Expression: must be evaluated on a JaxFrame, got {type(frame).__name__}. Pass "
                "it to a method of a frame."
            )
        nodes = list(self._bottom_up())
        uses = Counter(id(child) for node in nodes for child in node.children)
        values: dict[int, Any] = {}
        for node in nodes:
            if node.function in _LEAVES:
                values[id(node)] = _LEAVES[node.function](frame, *node.operands)
            else:
                values[id(node)] = apply(node.function, *node._filled(values))
            for child in node.children:
                uses[id(child)] -= 1
                if not uses[id(child)]:
                    # Frees the array as soon as a series calculated step by step would.
                    del values[id(child)]
        return values[id(self)]

    __call__ = evaluate

    def key(self) -> Hashable:
        """A hashable key, equal for expressions that are structurally equal.

        `==` records a comparison, so it does not compare expressions.

        Raises:
            TypeError: an operand is traced.
        """
        # Equal subexpressions have one number, so the key is as short as a graph.
        numbers: dict[Hashable, int] = {}
        of_node: dict[int, int] = {}

        def operand_key(value: Any) -> Hashable:
            if isinstance(value, Expression):
                return Expression, of_node[id(value)]
            return literal_key(value)

        for node in self._bottom_up():
            if node.function in (*_LEAVES, "alias"):
                *target, label = node.operands
                key: Hashable = (node.function, *map(operand_key, target), type(label), label)
            else:
                key = (
                    node.function,
                    *map(operand_key, node.operands),
                    *((name, operand_key(value)) for name, value in node.keywords),
                )
            of_node[id(node)] = numbers.setdefault(key, len(numbers))
        return tuple(numbers)

    def _bottom_up(self) -> Iterator["Expression"]:
        """Each subexpression once, after its operands."""
        seen: set[int] = set()
        stack: list[tuple[Expression, bool]] = [(self, False)]
        while stack:
            node, is_last_visit = stack.pop()
            if is_last_visit:
                yield node
            elif id(node) not in seen:
                seen.add(id(node))
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(node.children))

    def _filled(self, values: Mapping[int, Any]) -> tuple[list[Any], dict[str, Any]]:
        """Operands and keywords, with values in place of the expressions."""

        def fill(operand: Any) -> Any:
            return values[id(operand)] if isinstance(operand, Expression) else operand

        keywords = {name: fill(value) for name, value in self.keywords}
        return [fill(operand) for operand in self.operands], keywords

    def __hash__(self) -> int:
        return hash(self.key())

    def __repr__(self) -> str:
        texts: dict[int, _Text] = {}
        for node in self._bottom_up():
            texts[id(node)] = _text_of(node, texts)
        return texts[id(self)].text

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

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any
    ) -> "Expression":
        name = ufunc.__name__
        if method != "__call__" or keywords or not hasattr(jnp, name) or ufunc.nout > 1:
            raise NotImplementedError(
                f"np.{name}: expressions only support plain calls of functions that jax.numpy "
                "has. Evaluate the expression first."
            )
        symbol = SYMBOLS[UFUNC_OPERATORS[name]] if name in UFUNC_OPERATORS else f"np.{name}"
        return Expression.of(symbol, *inputs)

    def __add__(self, other: Any) -> "Expression":
        return Expression.of("+", self, other)

    def __radd__(self, other: Any) -> "Expression":
        return Expression.of("+", other, self)

    def __sub__(self, other: Any) -> "Expression":
        return Expression.of("-", self, other)

    def __rsub__(self, other: Any) -> "Expression":
        return Expression.of("-", other, self)

    def __mul__(self, other: Any) -> "Expression":
        return Expression.of("*", self, other)

    def __rmul__(self, other: Any) -> "Expression":
        return Expression.of("*", other, self)

    def __truediv__(self, other: Any) -> "Expression":
        return Expression.of("/", self, other)

    def __rtruediv__(self, other: Any) -> "Expression":
        return Expression.of("/", other, self)

    def __floordiv__(self, other: Any) -> "Expression":
        return Expression.of("//", self, other)

    def __rfloordiv__(self, other: Any) -> "Expression":
        return Expression.of("//", other, self)

    def __mod__(self, other: Any) -> "Expression":
        return Expression.of("%", self, other)

    def __rmod__(self, other: Any) -> "Expression":
        return Expression.of("%", other, self)

    def __pow__(self, other: Any) -> "Expression":
        return Expression.of("**", self, other)

    def __rpow__(self, other: Any) -> "Expression":
        return Expression.of("**", other, self)

    def __and__(self, other: Any) -> "Expression":
        return Expression.of("&", self, other)

    def __rand__(self, other: Any) -> "Expression":
        return Expression.of("&", other, self)

    def __or__(self, other: Any) -> "Expression":
        return Expression.of("|", self, other)

    def __ror__(self, other: Any) -> "Expression":
        return Expression.of("|", other, self)

    def __xor__(self, other: Any) -> "Expression":
        return Expression.of("^", self, other)

    def __rxor__(self, other: Any) -> "Expression":
        return Expression.of("^", other, self)

    def __eq__(self, other: object) -> Any:
        return Expression.of("==", self, other)

    def __ne__(self, other: object) -> Any:
        return Expression.of("!=", self, other)

    def __lt__(self, other: Any) -> "Expression":
        return Expression.of("<", self, other)

    def __le__(self, other: Any) -> "Expression":
        return Expression.of("<=", self, other)

    def __gt__(self, other: Any) -> "Expression":
        return Expression.of(">", self, other)

    def __ge__(self, other: Any) -> "Expression":
        return Expression.of(">=", self, other)

    def __invert__(self) -> "Expression":
        return Expression.of("~", self)

    def __neg__(self) -> "Expression":
        return Expression.of("neg", self)

    def __pos__(self) -> "Expression":
        return Expression.of("pos", self)

    def __abs__(self) -> "Expression":
        return Expression.of("abs", self)


# For modules that take an expression of either library.
as_expression = Expression.from_pandas


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
    """The methods behind `.str`, `.dt`, `.cat`, windows or groups of an expression."""

    __slots__ = ("_prefix", "_target")

    def __init__(self, target: Expression, prefix: str):
        self._target, self._prefix = target, prefix

    def __getattr__(self, name: str) -> Any:
        function = f"{self._prefix}.{name}"
        if function in METHODS:
            return _recorder(self._target, function)
        raise _no_method(function)

    def __getitem__(self, key: Any) -> Expression:
        if self._prefix != "str":
            raise TypeError(f"{self!r} is not subscriptable")
        if isinstance(key, slice):
            return Expression.of("str.slice", self._target, key.start, key.stop, key.step)
        return Expression.of("str.get", self._target, key)

    def __dir__(self) -> list[str]:
        prefix = f"{self._prefix}."
        return [name.removeprefix(prefix) for name in METHODS if name.startswith(prefix)]

    def __repr__(self) -> str:
        suffix = f".{self._prefix}" if self._prefix in ACCESSORS else ""
        return f"{self._target!r}{suffix}"


def as_operand(value: Any, function: str) -> Any:
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

    def copy(self, deep: Any = None) -> "_Recording":
        return self

    def __getitem__(self, label: Hashable) -> Expression:
        return col(label)

    def __setitem__(self, label: Hashable, value: Any) -> None:
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


# Expressions without operands: columns by label, and index levels by name or position.
_LEAVES = {"col": _column_of, "index": _index_of}


def _reads(node: Expression) -> Reads:
    """The rows that one row of the result depends on, given the rows of the operands."""
    operands, keywords = node.operands, dict(node.keywords)
    match node.function:
        case "astype" if "category" in map(str, (*operands[1:], *keywords.values())):
            # The categories are the distinct values of the column.
            return "rows"
        case "isin" | "map" | "replace" if len(node.children) > 1:
            # The values of other rows are looked up.
            return "rows"
        case "str.cat" if len(operands) < 2 and "others" not in keywords:
            return "column"
        case "index":
            # A filter changes the labels of a range.
            return "rows"
        case function:
            # Columns, operators, lists, names and NumPy's functions are not in the table.
            return METHODS[function].reads if function in METHODS else "row"


def _recorder(target: Expression, function: str) -> Any:
    """What the name of a recorded method gives: a function that records the call, or its result."""
    if METHODS[function].is_attribute:
        return Expression(function, (target,))

    def record(*arguments: Any, **keywords: Any) -> Any:
        _check_call(function, arguments, keywords)
        expression = Expression.of(function, target, *arguments, **keywords)
        return Namespace(expression, function) if function in GROUPINGS else expression

    record.__name__ = record.__qualname__ = function
    return record


def _check_call(function: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    """Raises for arguments that the method of a series does not have."""
    no_inplace(function, keywords.get("inplace", False))
    if "." not in function:
        method: Callable[..., Any] = getattr(NDFrame.series_class, function)
        try:
            inspect.signature(method).bind(None, *arguments, **keywords)
        except TypeError as error:
            raise TypeError(f"{function}() {error}") from None


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


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of an expression, and how tightly its outermost operator binds."""

    text: str
    precedence: int = ATOM

    def within(self, precedence: int) -> str:
        """The text as an operand, in parentheses if it binds less tightly."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def _text_of(node: Expression, texts: Mapping[int, _Text]) -> _Text:
    def text_of(operand: Any) -> _Text:
        if isinstance(operand, Expression):
            return texts[id(operand)]
        text = literal_text(operand)
        return _Text(text, UNARY_OPERATORS["neg"].precedence if text.startswith("-") else ATOM)

    function = node.function
    if function in OPERATORS:
        precedence = OPERATORS[function].precedence
        left, right = map(text_of, node.operands)
        # A power groups from the right, other operators from the left, comparisons not at all.
        is_comparison = precedence == OPERATORS["=="].precedence
        left_least = precedence + (function == "**" or is_comparison)
        right_least = precedence + (function != "**")
        text = f"{left.within(left_least)} {function} {right.within(right_least)}"
        return _Text(text, precedence)
    if function in UNARY_OPERATORS:
        symbol = {"neg": "-", "pos": "+"}.get(function, function)
        precedence = UNARY_OPERATORS[function].precedence
        return _Text(f"{symbol}{text_of(node.operands[0]).within(precedence)}", precedence)
    keywords = [f"{name}={text_of(value).text}" for name, value in node.keywords]
    arguments = ", ".join([*(text_of(operand).text for operand in node.operands), *keywords])
    if function == "list":
        return _Text(f"[{arguments}]")
    if function in _LEAVES or function.startswith("np."):
        return _Text(f"{function}({arguments})")
    target, *others = node.operands
    arguments = ", ".join([*(text_of(operand).text for operand in others), *keywords])
    namespace, _, name = function.rpartition(".")
    path = f"{namespace}.{name}" if namespace in ACCESSORS else name
    is_attribute = function in METHODS and METHODS[function].is_attribute
    called = "" if is_attribute else f"({arguments})"
    return _Text(f"{text_of(target).within(ATOM)}.{path}{called}")
