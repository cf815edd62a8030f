# SPDX-License-Identifier: Apache-2.0
"""`LazyGroupBy` and `LazyWindows`: recorded methods of groups and of windows."""

from collections.abc import Mapping
from typing import Any, NoReturn

from ..groupby._groupby import FrameGroupBy
from ..table._expressions import is_expression
from ..table._types import Options
from ..window._rolling import Windows
from ._expression import Expression
from ._lazy import unheld
from ._lazy_series import LazyArray, expression_of
from ._node import Node
from ._recorded import RecordedGroups, RecordedWindows


def as_keys(method: str, keys: object, plan: Node) -> Any:
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


class LazyGroupBy(RecordedGroups):
    """Groups of a plan's rows: what `LazyFrame.groupby` returns.

    Reductions and transformations of `FrameGroupBy` give plans.

    Example:
        >>> from jaxframes.frame import JaxFrame
        >>> plan = JaxFrame({"k": [1, 2, 1], "x": [1, 2, 4]}).lazy()
        >>> plan.groupby("k").agg(most=("x", "max")).collect().most.tolist()
        [4, 2]
    """

    def __init__(self, plan: Any, groups: Mapping[str, object], columns: object):
        self._plan, self._columns = plan, columns
        self._groups = {**groups, "by": as_keys("groupby", groups.get("by"), plan._plan)}

    def __getitem__(self, key: object) -> "LazyGroupBy":
        return LazyGroupBy(self._plan, self._groups, list(key) if isinstance(key, list) else key)

    def __getattr__(self, name: str) -> Any:
        # Groups that `copy` has just made have no plan yet.
        if name != "_plan" and name in self._plan:
            return self[name]
        if name.startswith("_") or not hasattr(FrameGroupBy, name):
            raise AttributeError(f"'LazyGroupBy' object has no attribute {name!r}")
        raise unheld("LazyGroupBy", name)

    def _recorded(self, method: str, arguments: Options) -> Any:
        return self._plan._record(
            "groupby", groups=self._groups, columns=self._columns, method=method,
            options=arguments,
        )  # fmt: skip


class LazyWindows(RecordedWindows):
    """Windows over the rows of a plan: what `LazyFrame.rolling` and `expanding` return."""

    def __init__(self, plan: Any, windows: str, bounds: Mapping[str, object]):
        self._plan, self._windows, self._bounds = plan, windows, dict(bounds)

    def __getitem__(self, key: object) -> NoReturn:
        raise NotImplementedError(
            f"{self._windows}: windows of a plan have no columns, got {key!r}. Select them before: "
            f"plan[columns].{self._windows}(...)."
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or not hasattr(Windows, name):
            raise AttributeError(f"'LazyWindows' object has no attribute {name!r}")
        raise unheld("LazyWindows", name)

    def _recorded(self, method: str, arguments: Options) -> Any:
        return self._plan._record(
            "windows", windows=self._windows, bounds=self._bounds, method=method,
            options=arguments,
        )  # fmt: skip
