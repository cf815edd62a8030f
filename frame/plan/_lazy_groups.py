# SPDX-License-Identifier: Apache-2.0
"""`LazyGroupBy` and `LazyWindows`: recorded methods of groups and of windows."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from ..groupby._groupby import FrameGroupBy
from ..table._expressions import is_expression
from ._expression import Expression
from ._lazy import unheld
from ._lazy_series import LazyArray, expression_of
from ._node import Node
from ._relations import GROUP_METHODS


def as_keys(method: str, keys: Any, plan: Node) -> Any:
    """Keys of a sort or of groups: labels, and expressions of a plan's columns."""
    if isinstance(keys, (list, tuple)):
        return [as_keys(method, key, plan) for key in keys]
    if is_expression(keys):
        return Expression.from_pandas(keys)
    if not isinstance(keys, LazyArray):
        return keys
    expression = expression_of(keys, plan)
    if expression is None:
        raise NotImplementedError(
            f"{method}: a series must be a column of the same plan. Assign it to a column first."
        )
    return expression


def by_name(method: Callable[..., Any], operands: Any, options: Any) -> dict[str, Any]:
    """The arguments of a method by their names."""
    given = inspect.signature(method).bind(None, *operands, **options)
    return dict(list(given.arguments.items())[1:])


class LazyGroupBy:
    """Groups of a plan's rows: what `LazyFrame.groupby` returns.

    Reductions and transformations of `FrameGroupBy` give plans.

    Example:
        >>> from jaxframes.frame import JaxFrame
        >>> plan = JaxFrame({"k": [1, 2, 1], "x": [1, 2, 4]}).lazy()
        >>> plan.groupby("k").agg(most=("x", "max")).collect().most.tolist()
        [4, 2]
    """

    def __init__(self, plan: Any, groups: Mapping[str, Any], columns: Any):
        self._plan, self._columns = plan, columns
        self._groups = {**groups, "by": as_keys("groupby", groups.get("by"), plan._plan)}

    def __getitem__(self, key: Any) -> "LazyGroupBy":
        return LazyGroupBy(self._plan, self._groups, list(key) if isinstance(key, list) else key)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in self._plan:
            return self[name]
        if name in GROUP_METHODS:
            return lambda *operands, **options: self._record(
                name, by_name(getattr(FrameGroupBy, name), operands, options)
            )
        if name.startswith("_") or not hasattr(FrameGroupBy, name):
            raise AttributeError(f"'LazyGroupBy' object has no attribute {name!r}")
        raise unheld("LazyGroupBy", name)

    def agg(self, func: Any = None, **options: Any) -> Any:
        """Reductions by name: one, a list, a dict, or named pairs of a column and a reduction."""
        if func is not None:
            options["func"] = func
        return self._record("agg", options)

    def transform(self, func: str) -> Any:
        """A reduction or a transformation by name, with the rows of the frame."""
        return self._record("transform", {"func": func})

    def head(self, n: int = 5) -> Any:
        """The first `n` rows of each group."""
        return self._record("head", {"n": n})

    def tail(self, n: int = 5) -> Any:
        """The last `n` rows of each group."""
        return self._record("tail", {"n": n})

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

    def __init__(self, plan: Any, windows: str, bounds: Mapping[str, Any]):
        self._plan, self._windows, self._bounds = plan, windows, dict(bounds)

    def _record(self, method: str, **options: Any) -> Any:
        return self._plan._record(
            "windows", windows=self._windows, bounds=self._bounds, method=method, options=options
        )

    def sum(self) -> Any:
        """The sum of each window."""
        return self._record("sum")

    def mean(self) -> Any:
        """The mean of each window."""
        return self._record("mean")

    def min(self) -> Any:
        """The least value of each window."""
        return self._record("min")

    def max(self) -> Any:
        """The greatest value of each window."""
        return self._record("max")

    def count(self) -> Any:
        """The number of non-missing values in each window."""
        return self._record("count")

    def std(self, ddof: int = 1) -> Any:
        """The standard deviation of each window."""
        return self._record("std", ddof=ddof)

    def var(self, ddof: int = 1) -> Any:
        """The variance of each window."""
        return self._record("var", ddof=ddof)
