# SPDX-License-Identifier: Apache-2.0
"""`query` and `eval`: expressions written as text."""

import sys
from collections import ChainMap
from collections.abc import Mapping
from typing import Any, Self

from ..table._arguments import check_flag
from ..table._in_place import check_concrete, put_in_place
from ..table._ndframe import FrameBase, SeriesBase
from ._expression import Expression, col
from ._parse import parse


class FrameQuery(FrameBase):
    """`query` and `eval` of a frame."""

    def query(
        self,
        expr: str,
        *,
        inplace: bool = False,
        parser: str = "pandas",
        engine: str | None = None,
        local_dict: Mapping[str, object] | None = None,
        global_dict: Mapping[str, object] | None = None,
        level: int = 0,
    ) -> Self:
        """Selects the rows where an expression, written as text, is True.

        The text is parsed into an expression of `col` and never run as Python.

        Differences from pandas:
            Only the methods that expressions record can be called. `@` refers to scalars and
            lists; attributes and calls of variables raise, except `@pd.Timestamp(...)` and
            `@pd.Timedelta(...)`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"delay": [5, 30, 45], "carrier": ["UA", "AA", "UA"]})
            >>> limit = 10
            >>> frame.query("delay > @limit and carrier == 'UA'").delay.tolist()
            [45]
        """
        if check_flag(inplace, "inplace"):
            check_concrete(self, "query")
        lines, variables = read_text(expr, parser, engine, level, local_dict, global_dict)
        if len(lines) > 1:
            raise multi_line()
        statement = parse(lines[0], names_of(self), variables, kinds=kinds_of(self))
        if statement.target is not None:
            raise ValueError("cannot assign without a target object. Use eval().")
        mask = statement.value
        mask = mask.evaluate(self) if isinstance(mask, Expression) else mask
        if not isinstance(mask, SeriesBase):
            raise KeyError(
                f"{mask!r}: boolean label can not be used without a boolean index. The expression "
                "must have a value for each row."
            )
        selected = self.loc[mask]
        return put_in_place(self, selected, "query") if inplace else selected

    def eval(
        self,
        expr: str,
        *,
        inplace: bool = False,
        parser: str = "pandas",
        engine: str | None = None,
        local_dict: Mapping[str, object] | None = None,
        global_dict: Mapping[str, object] | None = None,
        level: int = 0,
    ) -> Any:
        """Evaluates an expression written as text, or assigns such expressions to columns.

        Each line of several must assign a column; later lines see it. The text is parsed into
        expressions of `col` and never run as Python; see `query` for the differences from pandas.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"x": [1, 2], "y": [3, 4]})
            >>> frame.eval("x + y").tolist()
            [4, 6]
            >>> frame.eval("z = x * y").z.tolist()
            [3, 8]
        """
        if check_flag(inplace, "inplace"):
            check_concrete(self, "eval")
        lines, variables = read_text(expr, parser, engine, level, local_dict, global_dict)
        result = self._made(self._table, self._labels)
        for line in lines:
            value, target = parse(line, names_of(result), variables, kinds=kinds_of(result))
            value = value.evaluate(result) if isinstance(value, Expression) else value
            if target is not None:
                result[target] = value
            elif len(lines) > 1:
                raise unassigned(line)
            elif inplace:
                raise ValueError("Cannot operate inplace if there is no assignment")
            else:
                return value
        return put_in_place(self, result, "eval") if inplace else result


def names_of(frame: FrameBase) -> dict[str, Expression]:
    """The names that a text may use: the columns, the index and its levels."""
    levels = frame._table.index.names
    names: dict[Any, Expression] = {
        f"ilevel_{position}" if name is None else name: Expression(
            "index", (position if name is None else name,)
        )
        for position, name in enumerate(levels)
    }
    if len(levels) == 1:
        names["index"] = next(iter(names.values()))
    names |= {label: col(label) for label in frame._labels}
    return {name: expression for name, expression in names.items() if isinstance(name, str)}


def kinds_of(frame: FrameBase) -> dict[str, str]:
    """The columns of nullable strings and of numbers: "nullable text" or "number" by label."""
    kinds: dict[str, str] = {}
    for label, column in zip(frame._labels, frame._table.columns, strict=True):
        if not isinstance(label, str):
            continue
        if column.kind == "string" and column.is_nullable:
            kinds[label] = "nullable text"
        elif column.is_numeric and not column.is_bool:
            kinds[label] = "number"
    return kinds


def read_text(
    expr: object,
    parser: str,
    engine: str | None,
    level: int,
    local_dict: Mapping[str, object] | None,
    global_dict: Mapping[str, object] | None,
) -> tuple[list[str], ChainMap[str, Any]]:
    """The lines of the text that `query` or `eval` is given, and the variables that it may name.

    The variables are those of the caller of `query` or `eval`, which calls this function, or of a
    caller of it.
    """
    caller = sys._getframe(level + 2)
    local = caller.f_locals if local_dict is None else local_dict
    names = caller.f_globals if global_dict is None else dict(global_dict)
    return _lines_of(expr, parser, engine), ChainMap(dict(local), names)


def unassigned(line: str) -> ValueError:
    """The error for a line of several that assigns nothing."""
    return ValueError(
        "Multi-line expressions are only valid if all expressions contain an assignment, got "
        f"{line!r}."
    )


def multi_line() -> ValueError:
    """The error for several lines where there is nothing to assign to."""
    return ValueError(
        "multi-line expressions are only valid in the context of data, use DataFrame.eval"
    )


def _lines_of(expr: object, parser: str, engine: str | None) -> list[str]:
    """Checks the arguments, and splits the text into its lines."""
    if not isinstance(expr, str):
        raise ValueError(f"expr must be a string to be evaluated, {type(expr)} given")
    if parser != "pandas":
        raise NotImplementedError(
            f"parser must be 'pandas', got {parser!r}. Write an expression of col() for Python's "
            "precedence."
        )
    if engine not in (None, "python", "numexpr"):
        raise KeyError(
            f"Invalid engine '{engine}' passed, valid engines are ['numexpr', 'python']. Leave it "
            "out: it has no effect."
        )
    lines = [line.strip() for line in expr.splitlines() if line.strip()]
    if not lines:
        raise ValueError("expr cannot be an empty string")
    return lines
