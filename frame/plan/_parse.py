# SPDX-License-Identifier: Apache-2.0
"""pandas' grammar of `query` and `eval`, parsed into expressions.

The text is parsed by Python's `ast` and never run. Names, methods, functions and operators are
looked up in lists, so a text can calculate and cannot reach any other object.
"""

import ast
import io
import itertools
import re
import token
import tokenize
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import jax
import numpy as np
import pandas as pd

from ..table._expressions import is_expression
from ..table._ndframe import NDFrame
from ..table._suggestions import the_columns
from ..table._types import Function
from ._expression import Expression, Namespace
from ._methods import ACCESSORS, METHODS, OPERATORS

# The functions that pandas' `eval` has: universal functions of NumPy.
_FUNCTIONS = (
    "abs", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "ceil", "cos",
    "cosh", "exp", "expm1", "floor", "log", "log10", "log1p", "sin", "sinh", "sqrt", "tan", "tanh",
)  # fmt: skip
CONSTANTS = {"inf": np.inf, "Inf": np.inf}
# Scalars of pandas that an expression may construct, as `@pd.Timestamp("2026-01-01")`.
_CONSTRUCTORS: tuple[Callable[..., Any], ...] = (pd.Timestamp, pd.Timedelta)
_BINARY: dict[type[ast.AST], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.FloorDiv: "//", ast.Mod: "%",
    ast.Pow: "**",
}  # fmt: skip
_COMPARISONS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
_UNARY: dict[type[ast.AST], str] = {
    ast.UAdd: "pos", ast.USub: "neg", ast.Not: "~", ast.Invert: "~",
}  # fmt: skip
# Bits of a power of constants; longer integers fit no column.
_MAX_BITS = 4096

# Backtick-quoted names, and strings, inside which a backtick is a character.
_QUOTED = re.compile(r"`((?:[^`]|``)*)`" r"|'(?:[^'\\]|\\.)*'" r'|"(?:[^"\\]|\\.)*"', re.DOTALL)


class Statement(NamedTuple):
    """A parsed line: an expression or a constant, and the label that it is assigned to."""

    value: Any
    target: str | None = None


def parse(
    text: str,
    names: Mapping[str, Expression],
    variables: Mapping[str, object],
    parser: "type[Parser] | None" = None,
    kinds: Mapping[str, str] = MappingProxyType({}),
) -> Statement:
    """Parses one line of pandas' grammar.

    Args:
        text: the line.
        names: the expressions of names without a prefix: columns and index levels.
        variables: the values of names with the prefix `@`.
        parser: the class that converts nodes, `Parser` by default.
        kinds: what columns hold, see `kinds_of`. As in pandas, `==` and `!=` look a text up among
            nullable strings, so a missing one is not equal, and `&` and `|` of a scalar need bools.

    Raises:
        SyntaxError: the text does not follow the grammar.
        UndefinedVariableError: a name is unknown.
        NotImplementedError: the text uses a part of Python that the grammar does not have.
    """
    source, columns, locals_ = _as_python(text)
    try:
        body = ast.parse(source).body
        if len(body) != 1:
            raise SyntaxError("only a single expression is allowed")
        make = Parser if parser is None else parser
        return make(names, variables, columns, locals_, kinds).statement(body[0])
    except (RecursionError, MemoryError):
        raise ValueError(
            "expr is nested too deeply. Split it into several expressions, or assign columns."
        ) from None


def _as_python(text: str) -> tuple[str, dict[str, str], dict[str, str]]:
    """Rewrites `&`, `|`, backticks and `@` to Python's grammar.

    Returns:
        The rewritten text, and the names in place of backtick-quoted and of local names.
    """
    prefix = "name_"
    while prefix in text:
        prefix += "_"
    columns: dict[str, str] = {}
    local_names: dict[str, str] = {}

    def name_of_column(match: re.Match[str]) -> str:
        if match.group(1) is None:
            return match.group()
        name = f"{prefix}column{len(columns)}_"
        columns[name] = match.group(1).replace("``", "`")
        return f" {name} "

    words: list[str] = []
    is_local = False
    for kind, word in _tokens(_QUOTED.sub(name_of_column, text).strip(), text):
        if kind in (token.NEWLINE, token.NL, token.ENDMARKER, token.COMMENT):
            continue
        if kind not in (token.NAME, token.NUMBER, token.OP, token.STRING):
            raise SyntaxError(f"invalid syntax in {text!r}: unexpected {word!r}")
        if is_local:
            if kind != token.NAME or word in columns:
                raise SyntaxError(f"invalid syntax in {text!r}: @ must precede a name")
            name = f"{prefix}local{len(local_names)}_"
            local_names[name] = word
            words.append(name)
            is_local = False
        elif kind == token.OP and word == "@":
            is_local = True
        else:
            # The operators of bits get the precedence of `and` and `or`.
            words.append({"&": "and", "|": "or"}.get(word, word) if kind == token.OP else word)
    if is_local:
        raise SyntaxError(f"invalid syntax in {text!r}: @ must precede a name")
    return " ".join(words), columns, local_names


def _tokens(source: str, text: str) -> Iterator[tuple[int, str]]:
    """The tokens of a source. They are not kept: each has a copy of its line in Python 3.12."""
    try:
        for kind, word, *_ in tokenize.generate_tokens(io.StringIO(source).readline):
            yield kind, word
    except tokenize.TokenError as error:
        raise SyntaxError(f"invalid syntax in {text!r}: {error.args[0]}") from None


class Parser:
    """Converts the nodes of `ast` that the grammar has; others raise."""

    def __init__(
        self,
        names: Mapping[str, Expression],
        variables: Mapping[str, object],
        columns: Mapping[str, str],
        local_names: Mapping[str, str],
        kinds: Mapping[str, str],
    ):
        self.names, self.variables = names, variables
        self.columns, self.local_names = columns, local_names
        self.kinds = kinds

    def statement(self, node: ast.stmt) -> Statement:
        match node:
            case ast.Expr():
                return Statement(self.value(node.value))
            case ast.Assign(targets=[ast.Name(id=name)]) if name not in self.local_names:
                return Statement(self.value(node.value), self.columns.get(name, name))
            case ast.Assign(targets=[_]):
                raise SyntaxError("left hand side of an assignment must be a single name")
            case ast.Assign():
                raise SyntaxError("can only assign a single expression")
        raise _not_implemented(node)

    def value(self, node: ast.expr) -> Any:
        """The expression, constant or list of a node."""
        result = self.visit(node)
        if isinstance(result, Namespace) or _is_function(result):
            raise SyntaxError(f"{self.written(node)} is not a value. Call one of its methods.")
        return result

    def visit(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return _constant(value)
            case ast.Name(id=name):
                return self.name(name)
            case ast.List(elts=elements) | ast.Tuple(elts=elements):
                return [self.value(element) for element in elements]
            case ast.BoolOp():
                return self.logical(node)
            case ast.UnaryOp():
                return _unary(_UNARY[type(node.op)], self.value(node.operand))
            case ast.BinOp() if type(node.op) in _BINARY:
                return _binary(
                    _BINARY[type(node.op)], self.value(node.left), self.value(node.right)
                )
            case ast.BinOp():
                raise _not_implemented(node.op)
            case ast.Compare():
                return self.comparison(node)
            case ast.Attribute():
                return self.attribute(node)
            case ast.Call():
                return self.call(node)
            case ast.Subscript():
                return self.subscript(node)
        raise _not_implemented(node)

    def written(self, node: ast.expr) -> str:
        """The text of a node as the caller wrote it, apart from spaces."""
        text = ast.unparse(node)
        for name, label in self.columns.items():
            text = text.replace(name, f"`{label}`")
        for name, variable in self.local_names.items():
            text = text.replace(name, f"@{variable}")
        return text

    def name(self, name: str) -> Any:
        if name in self.local_names:
            return self.local(self.local_names[name])
        label = self.columns.get(name, name)
        if name in CONSTANTS:
            return CONSTANTS[name]
        if label not in self.names:
            error = pd.errors.UndefinedVariableError(label)
            # Not the names of the index, which stand before those of the columns.
            columns = [
                one for one in self.names if one != "index" and not one.startswith("ilevel_")
            ]
            error.args = (f"{error.args[0]}. {the_columns(label, columns)}",)
            raise error
        return self.names[label]

    def local(self, name: str) -> Any:
        """The value of a variable: a scalar or a collection, never a function or a module."""
        if name not in self.variables:
            raise pd.errors.UndefinedVariableError(name, True)
        value = self.variables[name]
        if is_expression(value):
            return Expression.from_pandas(value)
        if isinstance(value, NDFrame):
            raise NotImplementedError(
                f"@{name}: variables must be scalars or lists, got {type(value).__name__}. Assign "
                "it to a column first."
            )
        if isinstance(value, (np.ndarray, jax.Array)) and not value.ndim:
            return value
        if isinstance(value, (pd.Series, pd.Index, np.ndarray)) and value.ndim == 1:
            return pd.Index(value).tolist()
        if isinstance(value, (tuple, set, frozenset, range)):
            return list(value)
        if pd.api.types.is_scalar(value) or isinstance(value, (list, dict)):
            return value
        raise NotImplementedError(
            f"@{name}: variables must be scalars or lists, got {type(value).__name__}. Calculate "
            "the value first."
        )

    def comparison(self, node: ast.Compare) -> Any:
        # a < b < c is (a < b) & (b < c).
        result, left = None, node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            one = self.compared(op, left, right)
            result = one if result is None else _logical("&", result, one)
            left = right
        return result

    def compared(self, op: ast.cmpop, left_node: ast.expr, right_node: ast.expr) -> Any:
        left, right = self.value(left_node), self.value(right_node)
        is_negated = isinstance(op, (ast.NotIn, ast.NotEq))
        if isinstance(op, (ast.In, ast.NotIn)):
            if isinstance(right_node, (ast.Tuple, ast.List)) and any(
                isinstance(element, ast.Name) for element in right_node.elts
            ):
                return _equal_to_any(left, right, is_negated)
            return _membership(left, right, is_negated)
        if type(op) not in _COMPARISONS:
            raise _not_implemented(op)
        is_equality = isinstance(op, (ast.Eq, ast.NotEq))
        are_looked_up = self.looks_up(left_node, right) or self.looks_up(right_node, left)
        if is_equality and (are_looked_up or isinstance(left, list) or isinstance(right, list)):
            return _membership(left, right, is_negated)
        return _binary(_COMPARISONS[type(op)], left, right)

    def looks_up(self, node: ast.expr, other: object) -> bool:
        """Whether an operand is a text, and the other one a column of nullable strings."""
        if not isinstance(node, ast.Name) or not isinstance(other, str):
            return False
        return self.kind(node) == "nullable text"

    def kind(self, node: ast.Name) -> str | None:
        """What a column holds, if that matters; see `kinds_of`."""
        return self.kinds.get(self.columns.get(node.id, node.id))

    def logical(self, node: ast.BoolOp) -> Any:
        """`and` and `or` of several operands, from the left."""
        symbol = "&" if isinstance(node.op, ast.And) else "|"
        result = self.value(node.values[0])
        for before, one in itertools.pairwise(node.values):
            value = self.value(one)
            sides = (before, result), (one, value)
            has_scalar = not (isinstance(result, Expression) and isinstance(value, Expression))
            if has_scalar and any(self.holds_numbers(*side) for side in sides):
                raise NotImplementedError(
                    f"cannot evaluate scalar only bool ops: {self.written(node)} of a number and a "
                    "scalar. & and | bind like and and or; put comparisons in parentheses."
                )
            result = _logical(symbol, result, value)
        return result

    def holds_numbers(self, node: ast.expr, value: object) -> bool:
        """Whether an operand is an expression of numbers that are no bools."""
        if isinstance(node, ast.UnaryOp):
            return self.holds_numbers(node.operand, value)
        is_number = isinstance(node, ast.Name) and self.kind(node) == "number"
        return isinstance(value, Expression) and (is_number or isinstance(node, ast.BinOp))

    def attribute(self, node: ast.Attribute) -> Any:
        """A listed method or attribute of an expression."""
        if isinstance(node.value, ast.Name) and node.value.id in self.local_names:
            return self.constructor(node)
        target = self.visit(node.value)
        if isinstance(target, Namespace):
            is_listed = node.attr in dir(target)
        else:
            is_listed = isinstance(target, Expression) and (
                node.attr in ACCESSORS or node.attr in METHODS
            )
        if not is_listed:
            raise AttributeError(
                f"{self.written(node.value)!r} has no attribute {node.attr!r} in expressions. "
                "Calculate the value first, and refer to it by @."
            )
        return getattr(target, node.attr)

    def call(self, node: ast.Call) -> Any:
        if any(isinstance(argument, ast.Starred) for argument in node.args) or any(
            keyword.arg is None for keyword in node.keywords
        ):
            raise NotImplementedError("'Starred' nodes are not implemented")
        function = self.function(node.func)
        arguments = [self.value(argument) for argument in node.args]
        keywords = {str(keyword.arg): self.value(keyword.value) for keyword in node.keywords}
        return function(*arguments, **keywords)

    def function(self, node: ast.expr) -> Callable[..., Any]:
        """A listed function: of mathematics, a method of an expression, or a constructor."""
        if isinstance(node, ast.Attribute):
            function = self.attribute(node)
            if not _is_function(function):
                raise TypeError(f"{self.written(node)!r} is not callable")
            return function
        if not isinstance(node, ast.Name):
            raise TypeError("Only named functions are supported")
        if node.id in self.local_names:
            return self.constructor(node)
        name = self.columns.get(node.id, node.id)
        if name in self.names:
            raise TypeError(f"{name!r} is a column and is not callable")
        if name not in _FUNCTIONS:
            raise ValueError(
                f'"{name}" is not a supported function. The functions are {", ".join(_FUNCTIONS)}.'
            )
        return _mathematics(name)

    def constructor(self, node: ast.Name | ast.Attribute) -> Any:
        """`@pd.Timestamp` or a variable that is this class; no other attribute or function."""
        owner = node.value if isinstance(node, ast.Attribute) else node
        name = self.local_names[owner.id] if isinstance(owner, ast.Name) else ""
        if name not in self.variables:
            raise pd.errors.UndefinedVariableError(name, True)
        value, written = self.variables[name], f"@{name}"
        for one in _CONSTRUCTORS:
            if isinstance(node, ast.Attribute):
                written = f"@{name}.{node.attr}"
                if value is pd and node.attr == one.__name__:
                    return _scalar_of(one)
            elif value is one:
                return _scalar_of(one)
        raise NotImplementedError(
            f"{written}: attributes and calls of variables are not supported. Calculate the value "
            "first."
        )

    def subscript(self, node: ast.Subscript) -> Any:
        """Characters of strings: `name.str[0]`, `name.str[1:3]`."""
        target = self.visit(node.value)
        if not isinstance(target, Namespace):
            raise NotImplementedError(
                f"{self.written(node)}: only .str has subscripts in expressions. Calculate the "
                "value first."
            )
        if not isinstance(node.slice, ast.Slice):
            return target[self.value(node.slice)]
        bounds = (node.slice.lower, node.slice.upper, node.slice.step)
        return target[slice(*(None if one is None else self.value(one) for one in bounds))]


class _Function(NamedTuple):
    """A function that a text may call, besides the recorded methods."""

    call: Callable[..., Any]

    def __call__(self, *arguments: object, **keywords: object) -> Any:
        return self.call(*arguments, **keywords)


def _is_function(value: object) -> bool:
    return callable(value) and not isinstance(value, Expression)


def _mathematics(name: str) -> _Function:
    function = getattr(np, name)

    def call(*arguments: object, **keywords: object) -> Any:
        if keywords:
            raise TypeError(f'Function "{name}" does not support keyword arguments')
        if len(arguments) != function.nin:
            raise TypeError(f"{name}() takes {function.nin} arguments, got {len(arguments)}")
        for argument in arguments:
            if not isinstance(argument, Expression):
                _check_number(name, argument)
        return function(*arguments)

    return _Function(call)


def _scalar_of(constructor: Function) -> _Function:
    def call(*arguments: object, **keywords: object) -> Any:
        if not all(pd.api.types.is_scalar(one) for one in (*arguments, *keywords.values())):
            raise TypeError(f"{constructor.__name__} takes constants in expressions.")
        return constructor(*arguments, **keywords)

    return _Function(call)


def _not_implemented(node: ast.AST) -> NotImplementedError:
    return NotImplementedError(
        f"{type(node).__name__!r} nodes are not implemented in expressions. Calculate the value "
        "first, and refer to it by @."
    )


def _constant(value: object) -> Any:
    if value is None or isinstance(value, (bool, int, float, complex, str)):
        return value
    raise NotImplementedError(f"constants of {type(value).__name__} are not implemented")


def _check_number(symbol: str, value: object) -> None:
    if not isinstance(value, (bool, int, float, complex, np.number, np.bool_, jax.Array)):
        raise TypeError(
            f"unsupported operand type(s) for {symbol}: {type(value).__name__!r} in a constant"
        )


def _binary(symbol: str, left: object, right: object) -> Any:
    """An arithmetic operator or a comparison, calculated at once for constants."""
    if isinstance(left, Expression) or isinstance(right, Expression):
        return Expression.of(symbol, left, right)
    is_text = isinstance(left, str) and isinstance(right, str)
    is_time = any(isinstance(one, (pd.Timestamp, pd.Timedelta)) for one in (left, right))
    if not (is_time or (is_text and symbol in ("+", *_COMPARISONS.values()))):
        _check_number(symbol, left)
        _check_number(symbol, right)
    if symbol == "**":
        _check_power(left, right)
    return OPERATORS[symbol].call(left, right)


def _check_power(base: Any, exponent: Any) -> None:
    """Raises before an integer fills the memory."""
    are_integers = isinstance(base, int) and isinstance(exponent, int)
    if are_integers and base.bit_length() * abs(exponent) > _MAX_BITS:
        raise OverflowError("a power of two constants is too large for a column")


def _unary(symbol: str, operand: Any) -> Any:
    if isinstance(operand, Expression):
        return Expression.of(symbol, operand)
    _check_number({"neg": "unary -", "pos": "unary +"}.get(symbol, "not"), operand)
    if symbol == "~":
        if not isinstance(operand, (bool, np.bool_)):
            raise TypeError(f"bad operand type for not: {type(operand).__name__!r} in a constant")
        return not operand
    return -operand if symbol == "neg" else +operand


def _logical(symbol: str, left: object, right: object) -> Any:
    for one in (left, right):
        if not isinstance(one, (Expression, bool, np.bool_, jax.Array)):
            raise NotImplementedError(
                f"cannot evaluate scalar only bool ops, got {one!r}. Compare it with a value."
            )
    return OPERATORS[symbol].call(left, right)


def _membership(left: object, right: object, is_negated: bool) -> Any:
    """`in` and `not in`, and a comparison with a list."""
    if not isinstance(left, Expression) and isinstance(right, Expression):
        # [1, 2] in x is x in [1, 2].
        left, right = right, left
        if not isinstance(right, (list, str)):
            raise TypeError(
                f"argument of type 'Expression' is not a list: {right!r} in a column. Write the "
                "column first."
            )
    right = [right] if isinstance(right, str) else right
    if isinstance(left, Expression):
        result = left.isin(list(right) if isinstance(right, dict) else right)
        return ~result if is_negated else result
    if not isinstance(right, list) or not pd.api.types.is_scalar(left):
        raise TypeError(f"argument of type {type(right).__name__!r} is not a list")
    return (left in right) is not is_negated


def _equal_to_any(left: object, values: list[object], is_negated: bool) -> Any:
    """`in` of a list with names, which pandas expands to comparisons."""
    first, *others = (_binary("!=" if is_negated else "==", left, value) for value in values)
    for other in others:
        first = _logical("&" if is_negated else "|", first, other)
    return first
