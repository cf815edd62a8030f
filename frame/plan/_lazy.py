# SPDX-License-Identifier: Apache-2.0
"""`LazyFrame` and its kin: recorded methods of frames and series."""

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, NoReturn

import pandas as pd

from ..table._deferred import Deferred
from ..table._expressions import is_expression
from ..table._ndframe import FrameBase, NDFrame, SeriesBase
from ..table._tracing import is_traced
from ..table._unsupported import lacking
from ._explain import plan_svg, plan_text
from ._expression import Expression, col
from ._methods import ACCESSORS, METHODS
from ._node import Call, Node, Scan
from ._optimize import optimized
from ._parse import parse
from ._query import lines_of, names_of, variables_of_caller
from ._relations import REDUCTIONS
from ._run import run
from ._sources import Memory


class Lazy(Deferred):
    """A plan: what its result is, and how to calculate it."""

    _plan: Node

    @classmethod
    def _of(cls, plan: Node) -> Any:
        lazy = object.__new__(cls)
        lazy._plan = plan
        return lazy

    def collect(self, *, optimizations: Mapping[str, bool] | None = None) -> Any:
        """Runs the plan.

        Args:
            optimizations: rules of the optimiser to switch off by name, such as
                `{"predicate_pushdown": False}`. The result is the same without them.

        Raises:
            ValueError: there is no rule of that name.
        """
        return run(optimized(self._plan, optimizations))

    def explain(
        self, optimized: bool = True, *, optimizations: Mapping[str, bool] | None = None
    ) -> str:
        """The plan as a tree of text, the last step first.

        Args:
            optimized: whether to apply the rules of the optimiser first.
            optimizations: rules to switch off; see `collect`.
        """
        return plan_text(_optimized(self._plan, optimizations) if optimized else self._plan)

    def _record(self, method: str, /, *others: Node, **arguments: Any) -> Any:
        call = Call.of(method, (self._plan, *others), arguments)
        return _lazy(call)

    def _parts(self, method: str) -> tuple[Expression, Node]:
        """The expression that a series or a value is, and the plan of its columns."""
        if not isinstance(self._plan, Call) or self._plan.method != "column":
            raise _unheld(type(self).__name__, method)
        return self._plan.arguments["expression"], self._plan.inputs[0]

    def _repr_svg_(self) -> str:
        return plan_svg(_optimized(self._plan, None))

    def _repr_html_(self) -> str:
        return f"<div>{self._repr_svg_()}</div>"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>\n{plan_text(self._plan)}"

    def __hash__(self) -> int:
        return hash((type(self), self._plan))

    def __bool__(self) -> NoReturn:
        raise TypeError(
            f"the truth value of a {type(self).__name__} is not known before it runs. "
            "Call collect() first."
        )

    def __len__(self) -> NoReturn:
        raise TypeError(
            f"len: the number of rows of a {type(self).__name__} is not known before it runs. "
            "Call collect() first."
        )

    def __setattr__(self, name: str, value: Any) -> None:
        if name != "_plan" or "_plan" in vars(self):
            raise AttributeError(f"a {type(self).__name__} is immutable. Use assign().")
        object.__setattr__(self, name, value)


_optimized = optimized


def _lazy(plan: Node) -> Any:
    """The lazy object for the kind of a plan's result. Runs the plan without rows."""
    empty = plan.empty
    if isinstance(empty, FrameBase):
        return LazyFrame._of(plan)
    return (LazySeries if isinstance(empty, SeriesBase) else LazyValue)._of(plan)


class LazyValue(Lazy):
    """A plan of a value, such as the maximum of a column."""


class LazyFrame(Lazy):
    """A plan of a frame, which runs when `collect` is called. Immutable and hashable.

    Made by `JaxFrame.lazy`, `scan_parquet`, `scan_csv` and `scan_arrow`. The methods are those of
    `JaxFrame`, with the same arguments and the same answers. A method first runs on a frame
    without rows, so wrong arguments raise where they are written, and labels and dtypes are known.
    Columns are `col("x")`, or `plan["x"]` and `plan.x`.

    Example:
        >>> from jaxframes.frame import JaxFrame, col
        >>> frame = JaxFrame({"k": [1, 2, 1], "x": [1.0, 2.0, 4.0]})
        >>> plan = frame.lazy().filter(col("x") > 1).groupby("k").sum()
        >>> plan.collect().to_pandas().x.to_dict()
        {1: 4.0, 2: 2.0}
    """

    def __init__(self, *arguments: Any, **keywords: Any):
        raise TypeError(
            "LazyFrame: cannot be made directly. Use JaxFrame.lazy(), scan_parquet(), scan_csv() "
            "or scan_arrow()."
        )

    def __eq__(self, other: object) -> bool:
        """Whether both are the same plan of the same sources."""
        return isinstance(other, LazyFrame) and self._plan == other._plan

    def __hash__(self) -> int:
        return super().__hash__()

    # Facts that need no rows.

    @property
    def schema(self) -> pd.Series:
        """The dtype of each column, for a result without missing integers."""
        return self._plan.empty.dtypes

    @property
    def dtypes(self) -> pd.Series:
        """The dtype of each column; see `schema`."""
        return self.schema

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

    def __getitem__(self, key: Any) -> Any:
        if callable(key) and not isinstance(key, Expression):
            key = key(self)
        if _is_condition(key):
            return self._record("filter", predicate=self._expression(key, "filter"))
        if isinstance(key, (list, pd.Index)):
            return self._record("select", columns=list(key))
        if isinstance(key, slice) or not isinstance(key, Hashable):
            raise self._unheld("[]")
        return self._record("column", expression=col(key))

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._plan.labels:
            return self[name]
        if name in REDUCTIONS:
            return lambda **options: self._record(name, **options)
        if not name.startswith("_") and hasattr(NDFrame.frame_class, name):
            raise self._unheld(name)
        raise lacking("JaxFrame", name) or AttributeError(
            f"'LazyFrame' object has no attribute {name!r}"
        )

    def filter(
        self, items: Any = None, like: Any = None, regex: Any = None, axis: Any = None
    ) -> "LazyFrame":
        """The rows that satisfy an expression; or the columns whose labels match, as in pandas.

        Example:
            >>> from jaxframes.frame import JaxFrame, col
            >>> plan = JaxFrame({"x": [1, 2, 3]}).lazy().filter(col("x") > 1)
            >>> plan.collect().x.tolist()
            [2, 3]
        """
        if callable(items) and not isinstance(items, Expression):
            items = items(self)
        if _is_condition(items):
            return self[items]
        return self[list(self._plan.empty.filter(items, like, regex, axis)._labels)]

    def query(
        self,
        expr: str,
        *,
        local_dict: Mapping[str, Any] | None = None,
        global_dict: Mapping[str, Any] | None = None,
        level: int = 0,
    ) -> "LazyFrame":
        """The rows that satisfy an expression written as text; see `JaxFrame.query`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> least = 2
            >>> plan = JaxFrame({"x": [1, 2, 3]}).lazy().query("x >= @least")
            >>> plan.collect().x.tolist()
            [2, 3]
        """
        lines = lines_of(expr, "pandas", None)
        variables = variables_of_caller(level, local_dict, global_dict)
        statement = parse(lines[0], names_of(self._plan.empty), variables)
        if len(lines) > 1 or statement.target is not None or not is_expression(statement.value):
            raise ValueError(
                f"query: expr must be one condition on columns, got {expr!r}. Use assign() for "
                "new columns."
            )
        return self[statement.value]

    def assign(self, **values: Any) -> "LazyFrame":
        """The frame with columns set or added.

        A function is called with this plan.
        """
        order = _readers_first(values, self)
        plan = self
        for label in order:
            value = values[label]
            if callable(value) and not isinstance(value, Expression):
                value = value(plan)
            if _is_condition(value):
                is_old = isinstance(value, LazySeries) and value._parts("assign")[1] == self._plan
                value = (self if is_old else plan)._expression(value, "assign")
            plan = plan._record("assign", values={label: value})
        if order == list(values):
            return plan
        return plan[[*self, *(label for label in values if label not in self)]]

    def rename(
        self,
        mapper: Any = None,
        *,
        columns: Any = None,
        axis: Any = None,
        errors: Any = "ignore",
    ) -> "LazyFrame":
        """Renames columns by a dict or a function."""
        empty = self._plan.empty
        after = empty.rename(mapper, columns=columns, axis=axis, errors=errors)._labels
        changed = dict(zip(empty._labels, after, strict=True))
        changed = {old: new for old, new in changed.items() if old != new}
        return self._record("rename", columns=changed)

    def drop(
        self, labels: Any = None, *, axis: Any = 0, columns: Any = None, errors: Any = "raise"
    ) -> "LazyFrame":
        """The frame without some columns. Rows cannot be dropped by label: use `filter`."""
        if labels is not None and axis not in (1, "columns"):
            raise self._unheld("drop of row labels")
        columns = columns if labels is None else labels
        return self[list(self._plan.empty.drop(columns=columns, errors=errors)._labels)]

    def astype(self, dtype: Any, **options: Any) -> "LazyFrame":
        """Casts all columns to one dtype, or each to its own with a dict."""
        return self._record("astype", dtype=dtype, **options)

    def fillna(self, value: Any, **options: Any) -> "LazyFrame":
        """Replaces missing values by one value, or by those of a dict."""
        return self._record("fillna", value=value, **options)

    def dropna(self, **options: Any) -> "LazyFrame":
        """The rows without missing values."""
        if options.get("axis", 0) not in (0, "index"):
            raise self._unheld("dropna(axis=1)")
        return self._record("dropna", **options)

    # Rows.

    def head(self, n: int = 5) -> "LazyFrame":
        """The first `n` rows, or all but the last `-n` if `n` is negative."""
        return self._record("head", n=n)

    def tail(self, n: int = 5) -> "LazyFrame":
        """The last `n` rows, or all but the first `-n` if `n` is negative."""
        return self._record("tail", n=n)

    def sort_values(self, by: Any, **options: Any) -> "LazyFrame":
        """Sorts the rows by columns or expressions, stably."""
        if not _is_condition(by) and not any(map(_is_condition, _listed(by))):
            return self._record("sort_values", by=by, **options)
        raise NotImplementedError(
            "sort_values: a plan sorts by labels. Assign the expression to a column first."
        )

    def nlargest(self, n: int, columns: Any, keep: str = "first") -> "LazyFrame":
        """The `n` rows with the largest values, in descending order."""
        return self._record("nlargest", n=n, columns=columns, keep=keep)

    def nsmallest(self, n: int, columns: Any, keep: str = "first") -> "LazyFrame":
        """The `n` rows with the smallest values, in ascending order."""
        return self._record("nsmallest", n=n, columns=columns, keep=keep)

    def drop_duplicates(self, subset: Any = None, **options: Any) -> "LazyFrame":
        """The first row of each set of equal rows."""
        subset = None if subset is None else _listed(subset)
        return self._record("drop_duplicates", subset=subset, **options)

    def reset_index(self, **options: Any) -> "LazyFrame":
        """Turns the row labels into columns, or drops them."""
        return self._record("reset_index", **options)

    def set_index(self, keys: Any, **options: Any) -> "LazyFrame":
        """Labels the rows by columns."""
        return self._record("set_index", keys=keys, **options)

    # Several frames.

    def merge(self, right: Any, how: str = "inner", on: Any = None, **options: Any) -> "LazyFrame":
        """Joins rows with equal keys, of a frame or of another plan; see `JaxFrame.merge`."""
        if on is not None:
            options["on"] = on
        return self._record("merge", as_plan(right, "merge"), how=how, **options)

    def _concatenated(self, parts: Sequence[Any], **options: Any) -> "LazyFrame":
        plans = tuple(as_plan(part, "concat") for part in parts)
        options = {name: value for name, value in options.items() if value not in (None, False)}
        if options.pop("axis", 0) not in (0, "index", "rows"):
            raise self._unheld("concat(axis=1)")
        if options.get("join") == "outer":
            del options["join"]
        for name in ("keys", "levels", "names", "verify_integrity"):
            if name in options:
                raise self._unheld(f"concat({name}=)")
        return _lazy(Call.of("concat", plans, options))

    # Groups, windows and reductions.

    def groupby(self, by: Any = None, **options: Any) -> "LazyGroupBy":
        """Groups rows by columns; see `JaxFrame.groupby`."""
        return LazyGroupBy(self, {"by": by, **options}, None)

    def rolling(self, window: Any, min_periods: int | None = None, **options: Any) -> "LazyWindows":
        """Windows of `window` rows, in the order of the rows; see `JaxFrame.rolling`."""
        bounds = {"window": window, "min_periods": min_periods, **options}
        return LazyWindows(self, "rolling", bounds)

    def expanding(self, min_periods: int = 1) -> "LazyWindows":
        """A window of all rows up to each row."""
        return LazyWindows(self, "expanding", {"min_periods": min_periods})

    def value_counts(self, subset: Any = None, **options: Any) -> "LazySeries":
        """The number of rows with each combination of values."""
        return self._record("value_counts", subset=subset, **options)

    def agg(self, func: Any, **options: Any) -> "LazySeries | LazyFrame":
        """Reductions by name: one, a list, or a dict of them."""
        return self._record("agg", func=func, **options)

    # Results.

    def to_parquet(self, path: Any, **options: Any) -> None:
        """Runs the plan and writes the result as Parquet; see `JaxFrame.to_parquet`."""
        self.collect().to_parquet(path, **options)

    def to_csv(self, path_or_buf: Any = None, **options: Any) -> str | None:
        """Runs the plan and writes comma-separated values; see `JaxFrame.to_csv`."""
        return self.collect().to_csv(path_or_buf, **options)

    def batches(self, size: int) -> Iterator[Any]:
        """Runs the plan and iterates over frames of `size` rows; the last one may be shorter."""
        if not isinstance(size, int) or size < 1:
            raise ValueError(f"batches: size must be a positive integer, got {size!r}.")
        return self._batches(size)

    def _batches(self, size: int) -> Iterator[Any]:
        frame = self.collect()
        for start in range(0, len(frame), size):
            yield frame.iloc[start : start + size]

    def lazy(self) -> "LazyFrame":
        """The plan itself."""
        return self

    def _expression(self, value: Any, method: str) -> Expression:
        """A condition or a value as an expression of this plan's columns."""
        if not isinstance(value, LazySeries):
            return Expression.from_pandas(value)
        expression, plan = value._parts(method)
        if plan != self._plan:
            raise NotImplementedError(
                f"{method}: the series must be one of the same plan. Use col(), or merge() the "
                "plans."
            )
        return expression

    def _unheld(self, method: str) -> NotImplementedError:
        return _unheld("LazyFrame", method)


def _readers_first(values: Mapping[str, Any], plan: LazyFrame) -> list[str]:
    """The order in which values are assigned, one after the other.

    A column of `plan` is the one before all assignments, so it is read before it is set.
    """
    reads = {
        label: value._parts("assign")[0].columns() & values.keys() - {label}
        for label, value in values.items()
        if isinstance(value, LazySeries) and value._parts("assign")[1] == plan._plan
    }
    order: list[str] = []
    left = list(values)
    while left:
        is_read = {label for reader in left if reader in reads for label in reads[reader]}
        free = [label for label in left if label not in is_read]
        if not free or (free[0] != left[0] and len(reads) < len(values)):
            raise NotImplementedError(
                f"assign: {left[0]!r} is set and read in one call. Call assign() once for each."
            )
        order.append(free[0])
        left.remove(free[0])
    return order


def _unheld(kind: str, method: str) -> NotImplementedError:
    return NotImplementedError(
        f"{kind}: a plan cannot hold {method}. Call collect() first, and {method} of the result."
    )


class LazySeries(Lazy):
    """A plan of a series: a column or an expression of a `LazyFrame`, or a result with one column.

    Operators and the methods of `Expression` give expressions of the same plan.

    Example:
        >>> from jaxframes.frame import JaxFrame
        >>> plan = JaxFrame({"x": [1, 2, 3]}).lazy()
        >>> plan[plan.x * 2 > 2].x.sum().collect().item()
        5
    """

    @property
    def dtype(self) -> Any:
        """The dtype of the values."""
        return self._plan.empty.dtype

    @property
    def name(self) -> Hashable:
        """The name of the series."""
        return self._plan.empty.name

    def _operated(self, function: str, *operands: Any, **keywords: Any) -> Any:
        """An operator or a method of expressions, on this series and on others of its plan."""
        expression, plan = self._parts(function)
        values = [_operand(value, plan, function) for value in operands]
        named = {name: _operand(value, plan, function) for name, value in keywords.items()}
        return _lazy(_column(plan, getattr(expression, function)(*values, **named)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"'LazySeries' object has no attribute {name!r}")
        is_expression = isinstance(self._plan, Call) and self._plan.method == "column"
        if is_expression and name in ACCESSORS:
            return _LazyNamespace(self, name)
        if is_expression and name in METHODS:
            if METHODS[name].is_attribute:
                expression, plan = self._parts(name)
                return _lazy(_column(plan, getattr(expression, name)))
            return lambda *operands, **keywords: self._operated(name, *operands, **keywords)
        if name in _SERIES_METHODS:
            return lambda **arguments: self._record(name, **arguments)
        if hasattr(NDFrame.series_class, name):
            raise _unheld("LazySeries", name)
        raise AttributeError(f"'LazySeries' object has no attribute {name!r}")

    def head(self, n: int = 5) -> "LazySeries":
        """The first `n` values."""
        return self._record("head", n=n)

    def tail(self, n: int = 5) -> "LazySeries":
        """The last `n` values."""
        return self._record("tail", n=n)

    def sort_values(self, **options: Any) -> "LazySeries":
        """Sorts the values, stably."""
        return self._record("sort_values", **options)

    def nlargest(self, n: int = 5, keep: str = "first") -> "LazySeries":
        """The `n` largest values, in descending order."""
        return self._record("nlargest", n=n, keep=keep)

    def nsmallest(self, n: int = 5, keep: str = "first") -> "LazySeries":
        """The `n` smallest values, in ascending order."""
        return self._record("nsmallest", n=n, keep=keep)

    def drop_duplicates(self, **options: Any) -> "LazySeries":
        """The first of each set of equal values."""
        return self._record("drop_duplicates", **options)

    def dropna(self, **options: Any) -> "LazySeries":
        """The values that are not missing."""
        return self._record("dropna", **options)

    def value_counts(self, **options: Any) -> "LazySeries":
        """The number of rows with each value."""
        return self._record("value_counts", **options)

    def unique(self) -> LazyValue:
        """The distinct values, in the order of their first rows."""
        return self._record("unique")

    def to_frame(self, **options: Any) -> LazyFrame:
        """A frame of one column."""
        return self._record("to_frame", **options)

    def reset_index(self, **options: Any) -> "LazyFrame | LazySeries":
        """Turns the row labels into columns, or drops them."""
        return self._record("reset_index", **options)

    def rename(self, index: Hashable = None) -> "LazySeries":
        """Sets the name of the series."""
        return self._record("rename", index=index)


_SERIES_METHODS = frozenset({*REDUCTIONS, "agg", "fillna", "astype"})


def _binary(name: str) -> Callable[[LazySeries, Any], Any]:
    def method(self: LazySeries, other: Any) -> Any:
        return self._operated(name, other)

    method.__name__ = name
    return method


def _unary(name: str) -> Callable[[LazySeries], Any]:
    def method(self: LazySeries) -> Any:
        return self._operated(name)

    method.__name__ = name
    return method


for _name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"]:
    setattr(LazySeries, f"__{_name}__", _binary(f"__{_name}__"))
    setattr(LazySeries, f"__r{_name}__", _binary(f"__r{_name}__"))
for _name in ["lt", "le", "gt", "ge", "eq", "ne"]:
    setattr(LazySeries, f"__{_name}__", _binary(f"__{_name}__"))
for _name in ["neg", "pos", "invert", "abs"]:
    setattr(LazySeries, f"__{_name}__", _unary(f"__{_name}__"))


class _LazyNamespace:
    """`.str`, `.dt` and `.cat` of a lazy series."""

    def __init__(self, series: LazySeries, name: str):
        self._series, self._name = series, name

    def __getattr__(self, name: str) -> Any:
        expression, plan = self._series._parts(f"{self._name}.{name}")
        member = getattr(getattr(expression, self._name), name)
        if isinstance(member, Expression):
            return _lazy(_column(plan, member))

        def record(*operands: Any, **keywords: Any) -> Any:
            values = [_operand(value, plan, name) for value in operands]
            named = {key: _operand(value, plan, name) for key, value in keywords.items()}
            return _lazy(_column(plan, member(*values, **named)))

        return record


def _column(plan: Node, expression: Any) -> Call:
    return Call.of("column", (plan,), {"expression": expression})


def _operand(value: Any, plan: Node, method: str) -> Any:
    if not isinstance(value, (LazySeries, LazyValue)):
        return value
    expression, other = value._parts(method)
    if other != plan:
        raise NotImplementedError(
            f"{method}: both series must be of the same plan. Use merge() of the plans."
        )
    return expression


class LazyGroupBy:
    """Groups of a plan's rows: what `LazyFrame.groupby` returns.

    Reductions and transformations of `FrameGroupBy` give plans.

    Example:
        >>> from jaxframes.frame import JaxFrame
        >>> plan = JaxFrame({"k": [1, 2, 1], "x": [1, 2, 4]}).lazy()
        >>> plan.groupby("k").agg(most=("x", "max")).collect().most.tolist()
        [4, 2]
    """

    def __init__(self, plan: LazyFrame, groups: Mapping[str, Any], columns: Any):
        self._plan, self._groups, self._columns = plan, dict(groups), columns
        by = groups.get("by")
        if _is_condition(by) or any(map(_is_condition, _listed(by))):
            raise NotImplementedError(
                "groupby: a plan groups by labels. Assign the expression to a column first."
            )

    def __getitem__(self, key: Any) -> "LazyGroupBy":
        return LazyGroupBy(self._plan, self._groups, list(key) if isinstance(key, list) else key)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._plan:
            return self[name]
        if name in _GROUP_METHODS:
            return lambda **options: self._record(name, options)
        if name.startswith("_") or not hasattr(pd.DataFrame().groupby([]).__class__, name):
            raise AttributeError(f"'LazyGroupBy' object has no attribute {name!r}")
        raise _unheld("LazyGroupBy", name)

    def agg(self, func: Any = None, **options: Any) -> Any:
        """Reductions by name: one, a list, a dict, or named pairs of a column and a reduction."""
        if func is not None:
            options["func"] = func
        return self._record("agg", options)

    def transform(self, func: str) -> Any:
        """A reduction or a transformation by name, with the rows of the frame."""
        return self._record("transform", {"func": func})

    def size(self) -> Any:
        """The number of rows of each group."""
        return self._record("size", {})

    def _record(self, method: str, options: Mapping[str, Any]) -> Any:
        return self._plan._record(
            "groupby", groups=self._groups, columns=self._columns, method=method,
            options=dict(options),
        )  # fmt: skip


class LazyWindows:
    """Windows over the rows of a plan: what `LazyFrame.rolling` and `expanding` return."""

    def __init__(self, plan: LazyFrame, windows: str, bounds: Mapping[str, Any]):
        self._plan, self._windows, self._bounds = plan, windows, dict(bounds)

    def _record(self, method: str, **options: Any) -> LazyFrame:
        return self._plan._record(
            "windows", windows=self._windows, bounds=self._bounds, method=method, options=options
        )

    def sum(self) -> LazyFrame:
        """The sum of each window."""
        return self._record("sum")

    def mean(self) -> LazyFrame:
        """The mean of each window."""
        return self._record("mean")

    def min(self) -> LazyFrame:
        """The least value of each window."""
        return self._record("min")

    def max(self) -> LazyFrame:
        """The greatest value of each window."""
        return self._record("max")

    def count(self) -> LazyFrame:
        """The number of non-missing values in each window."""
        return self._record("count")

    def std(self, ddof: int = 1) -> LazyFrame:
        """The standard deviation of each window."""
        return self._record("std", ddof=ddof)

    def var(self, ddof: int = 1) -> LazyFrame:
        """The variance of each window."""
        return self._record("var", ddof=ddof)


def _is_condition(key: Any) -> bool:
    return isinstance(key, LazySeries) or is_expression(key)


def _listed(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def as_plan(value: Any, method: str) -> Node:
    """The plan of a lazy frame, or of a frame in memory."""
    if isinstance(value, LazyFrame):
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


class FramePlanning(FrameBase):
    """Plans that start with a frame."""

    def lazy(self) -> LazyFrame:
        """A plan that starts with this frame: methods are recorded, and run by `collect`.

        Example:
            >>> from jaxframes.frame import JaxFrame, col
            >>> plan = JaxFrame({"x": [3, 1, 2]}).lazy().filter(col("x") > 1).sort_values("x")
            >>> print(plan.explain(optimized=False))
            sort_values(by='x')
            └─ filter(col('x') > 1)
               └─ frame(3 rows, 1 columns)
            >>> plan.collect().x.tolist()
            [2, 3]
        """
        return LazyFrame._of(plan_of_frame(self))


_GROUP_METHODS = frozenset([
    "all", "any", "bfill", "count", "cummax", "cummin", "cumprod", "cumsum", "diff", "ffill",
    "first", "last", "max", "mean", "median", "min", "nunique", "pct_change", "prod", "quantile",
    "rank", "sem", "shift", "std", "sum", "var",
])  # fmt: skip
