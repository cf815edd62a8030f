# SPDX-License-Identifier: Apache-2.0
"""Recorded methods of frames."""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any, NoReturn, Self

import numpy as np
import pandas as pd

from ..align._random_rows import drawn_seed
from ..combining._merge import join
from ..indexing._select import as_items, named
from ..table._arguments import listed, piped
from ..table._expressions import is_expression
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._suggestions import resembling
from ..table._tracing import is_traced
from ..table._types import Axis, LabelOrLabels
from ..table._unsupported import lacking
from ._expression import Expression, col
from ._lazy import Lazy, lazy_of, unheld
from ._lazy_groups import LazyGroupBy, LazyWindows, as_keys
from ._lazy_series import LazyArray, SeriesPlan, expression_of, filtered
from ._node import Call, Node, Scan
from ._parse import parse
from ._query import kinds_of, names_of, read_text
from ._recorded import RecordedFrame
from ._sources import Memory


class FramePlan(RecordedFrame, Lazy):
    """The recorded methods of `LazyFrame`."""

    def __init__(self, *arguments: object, **keywords: object):
        raise TypeError(
            "LazyFrame: cannot be made directly. Use JaxFrame.lazy(), scan_parquet(), scan_csv() "
            "or scan_arrow()."
        )

    def __eq__(self, other: object) -> bool:
        """Whether both are the same plan of the same sources."""
        return isinstance(other, FramePlan) and self._plan == other._plan

    def __hash__(self) -> int:
        return super().__hash__()

    # Facts that need no rows.

    @property
    def columns(self) -> pd.Index:
        """The labels of the columns."""
        return self._plan.empty.columns

    def __contains__(self, label: object) -> bool:
        return label in self._plan.labels

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._plan.labels)

    def __dir__(self) -> list[str]:
        labels = [label for label in self._plan.labels if isinstance(label, str)]
        return sorted({*object.__dir__(self), *labels})

    # Selection and assignment.

    def __getitem__(self, key: object) -> Any:
        if callable(key) and not isinstance(key, Expression):
            key = key(self)
        if isinstance(key, SeriesPlan):
            return filtered(self._plan, key)
        if is_expression(key):
            return self._record("filter", predicate=Expression.from_pandas(key))
        if isinstance(key, (list, pd.Index)):
            return self._record("select", columns=list(key))
        if isinstance(key, slice) or not isinstance(key, Hashable):
            raise self._unheld("[]")
        return self._record("column", expression=col(key))

    def __setitem__(self, key: object, value: object) -> NoReturn:
        raise TypeError("a LazyFrame is immutable. Use assign().")

    def __getattr__(self, name: str) -> Any:
        # A plan that `copy` or `pickle` has just made has no root yet.
        if name != "_plan" and name in self._plan.labels:
            return self[name]
        if not name.startswith("_") and hasattr(NDFrame.frame_class, name):
            raise self._unheld(name)
        meant = None if name.startswith("_") else resembling(name, self._plan.labels)
        suggestion = "" if meant is None else f". Did you mean {meant!r}?"
        raise lacking("JaxFrame", name) or AttributeError(
            f"'LazyFrame' object has no attribute {name!r}{suggestion}"
        )

    def pipe(self, func: object, *args: object, **kwargs: object) -> Any:
        """Calls `func(self, *args, **kwargs)`."""
        return piped(self, func, args, kwargs)

    def select(self, *columns: object, **values: object) -> Self:
        """The given columns, in the order of the arguments; see `JaxFrame.select`.

        Example:
            >>> from jaxframes.frame import JaxFrame, col
            >>> plan = JaxFrame({"x": [1, 2], "y": [3, 4]}).lazy()
            >>> plan.select("y", total=col("x") + col("y")).collect().total.tolist()
            [4, 6]
        """
        plan: Any = self
        chosen: list[Any] = []
        for item in as_items(columns):
            if is_expression(item):
                label = named(item, plan._plan.empty)._name
                plan = plan.assign(**{label: item})
                chosen.append(label)
            else:
                chosen.append(item)
        for name, value in values.items():
            plan = plan.assign(**{name: value})
        return plan[[*chosen, *values]]

    def filter(
        self, items: object = None, like: object = None, regex: object = None, axis: Axis = None
    ) -> Self:
        """The rows that satisfy an expression; or the columns whose labels match, as in pandas.

        Example:
            >>> from jaxframes.frame import JaxFrame, col
            >>> plan = JaxFrame({"x": [1, 2, 3]}).lazy().filter(col("x") > 1)
            >>> plan.collect().x.tolist()
            [2, 3]
        """
        if callable(items) and not isinstance(items, Expression):
            items = items(self)
        if isinstance(items, SeriesPlan) or is_expression(items):
            return self[items]
        return self[list(self._plan.empty.filter(items, like, regex, axis)._labels)]

    def query(
        self,
        expr: str,
        *,
        local_dict: Mapping[str, object] | None = None,
        global_dict: Mapping[str, object] | None = None,
        level: int = 0,
    ) -> Self:
        """The rows that satisfy an expression written as text; see `JaxFrame.query`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> least = 2
            >>> plan = JaxFrame({"x": [1, 2, 3]}).lazy().query("x >= @least")
            >>> plan.collect().x.tolist()
            [2, 3]
        """
        lines, variables = read_text(expr, "pandas", None, level, local_dict, global_dict)
        empty = self._plan.empty
        statement = parse(lines[0], names_of(empty), variables, kinds=kinds_of(empty))
        if len(lines) > 1 or statement.target is not None or not is_expression(statement.value):
            raise ValueError(
                f"query: expr must be one condition on columns, got {expr!r}. Use assign() for "
                "new columns."
            )
        return self[statement.value]

    def assign(self, **values: object) -> Self:
        """The frame with columns set or added.

        A function is called with this plan.
        """
        plan = self
        for label, value in values.items():
            if callable(value) and not isinstance(value, Expression):
                value = value(plan)
            if is_expression(value):
                value = Expression.from_pandas(value)
            if isinstance(value, LazyArray):
                expression = expression_of(value, plan._plan)
                if expression is None:
                    plan = plan._record("set", value._plan, label=label)
                    continue
                value = expression
            plan = plan._record("assign", values={label: value})
        return plan

    def rename(
        self,
        mapper: object = None,
        *,
        columns: object = None,
        axis: Axis = None,
        errors: object = "ignore",
    ) -> Self:
        """Renames columns by a dict or a function."""
        empty = self._plan.empty
        after = empty.rename(mapper, columns=columns, axis=axis, errors=errors)._labels
        changed = dict(zip(empty._labels, after, strict=True))
        changed = {old: new for old, new in changed.items() if old != new}
        return self._record("rename", columns=changed)

    def drop(
        self,
        labels: object = None,
        *,
        axis: Axis = 0,
        columns: object = None,
        errors: object = "raise",
    ) -> Self:
        """The frame without some columns. Rows cannot be dropped by label: use `filter`."""
        if labels is not None and axis not in (1, "columns"):
            raise self._unheld("drop of row labels")
        columns = columns if labels is None else labels
        return self[list(self._plan.empty.drop(columns=columns, errors=errors)._labels)]

    def _recorded(self, method: str, arguments: dict[str, Any]) -> Any:
        match method:
            case "sort_values":
                arguments["by"] = as_keys(method, arguments["by"], self._plan)
            case "drop_duplicates" if arguments["subset"] is not None:
                arguments["subset"] = listed(arguments["subset"])
            case "dropna" if arguments.get("axis", 0) not in (0, "index"):
                raise self._unheld("dropna(axis=1)")
            case "sample":
                weights = arguments.get("weights")
                if weights is not None and not isinstance(weights, str):
                    raise NotImplementedError(
                        "sample: the weights of a plan's rows must be a column, got "
                        f"{type(weights).__name__}. Add them with assign()."
                    )
                seed = drawn_seed(arguments.get("random_state"))
                if not isinstance(seed, (int, np.integer)):
                    raise NotImplementedError(
                        "sample: the random_state of a plan must be an integer or a generator of "
                        f"NumPy, got {type(seed).__name__}."
                    )
                # Each run of the plan draws the same rows.
                arguments["random_state"] = int(seed)
            case _:
                pass
        return super()._recorded(method, arguments)

    # Several frames.

    def _merge_plans(self, left: object, right: object, **options: object) -> Self:
        plans = as_plan(left, "merge"), as_plan(right, "merge")
        plain = {"suffixes": ("_x", "_y")}
        options = {
            name: value
            for name, value in options.items()
            if value not in (None, False) and value != plain.get(name)
        }
        return lazy_of(Call.of("merge", plans, options))

    def merge(
        self, right: object, how: str = "inner", on: LabelOrLabels = None, **options: object
    ) -> Self:
        """Joins rows with equal keys, of a frame or of another plan; see `JaxFrame.merge`."""
        if on is not None:
            options["on"] = on
        return self._record("merge", as_plan(right, "merge"), how=how, **options)

    def join(
        self,
        other: object,
        on: LabelOrLabels = None,
        how: str = "left",
        lsuffix: str | None = None,
        rsuffix: str | None = None,
        sort: bool = False,
        validate: str | None = None,
        *,
        suffixes: Sequence[str | None] | None = None,
    ) -> Self:
        """Joins rows by label, or columns `on` with the labels of `other`; see `JaxFrame.join`.

        Over batches use `merge` on columns: their rows have no labels that others could match.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> prices = JaxFrame({"price": [3.0, 5.0]}, index=["a", "b"])
            >>> plan = JaxFrame({"item": ["b", "a"]}).lazy().join(prices, on="item")
            >>> plan.collect().price.tolist()
            [5.0, 3.0]
        """
        if isinstance(other, SeriesBase) and other._name is not None:
            frame: Any = other
            other = frame.to_frame()
        return join(self, other, on, how, lsuffix, rsuffix, sort, validate, suffixes=suffixes)

    def _concatenated(self, parts: Sequence[object], **options: object) -> Self:
        plans = tuple(as_plan(part, "concat") for part in parts)
        options = {name: value for name, value in options.items() if value not in (None, False)}
        if options.pop("axis", 0) not in (0, "index", "rows"):
            raise self._unheld("concat(axis=1)")
        if options.get("join") == "outer":
            del options["join"]
        for name in ("keys", "levels", "names", "verify_integrity"):
            if name in options:
                raise self._unheld(f"concat({name}=)")
        return lazy_of(Call.of("concat", plans, options))

    # Groups, windows and reductions.

    def groupby(self, by: LabelOrLabels = None, **options: object) -> "LazyGroupBy":
        """Groups rows by columns; see `JaxFrame.groupby`."""
        return LazyGroupBy(self, {"by": by, **options}, None)

    def rolling(
        self, window: object, min_periods: int | None = None, **options: object
    ) -> "LazyWindows":
        """Windows of `window` rows, in the order of the rows; see `JaxFrame.rolling`."""
        bounds = {"window": window, "min_periods": min_periods, **options}
        return LazyWindows(self, "rolling", bounds)

    def expanding(self, min_periods: int = 1) -> "LazyWindows":
        """A window of all rows up to each row."""
        return LazyWindows(self, "expanding", {"min_periods": min_periods})

    def lazy(self) -> Self:
        """The plan itself."""
        return self

    def _unheld(self, method: str) -> NotImplementedError:
        return unheld("LazyFrame", method)


def as_plan(value: object, method: str) -> Node:
    """The plan of a lazy frame, or of a frame in memory."""
    if isinstance(value, FramePlan):
        return value._plan
    if isinstance(value, FrameBase):
        return plan_of_frame(value, method)
    raise TypeError(
        f"{method}: a plan takes frames and other plans, got {type(value).__name__}. "
        "Make a JaxFrame of it."
    )


def plan_of_frame(frame: FrameBase, method: str = "lazy") -> Scan:
    """A plan that starts with a frame in memory."""
    if is_traced(frame._table):
        raise NotImplementedError(
            f"{method}: a plan cannot hold traced values. Call the eager methods inside jit: they "
            "are compiled together."
        )
    labels = frame._labels
    if labels.index.nlevels > 1 or len(set(labels)) < len(labels):
        raise ValueError(
            f"{method}: the columns of a plan must have distinct labels of one level, got "
            f"{list(labels)}. Rename them first."
        )
    return Scan(Memory(frame._like(frame._table)))
