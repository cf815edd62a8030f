# SPDX-License-Identifier: Apache-2.0
"""Recorded operators and methods of series and values.

A column of a plan is an expression of its frame. So is an operation on several columns of one
plan, or of plans that differ in steps on each row. Other operations, such as a comparison with a
result of groups, are steps of their own.
"""

from collections.abc import Hashable, Mapping
from typing import Any, Self

from pandas.api.types import is_list_like

from ..table._expressions import is_expression
from ..table._ndframe import NDFrame
from ..table._types import Options
from ..table._unsupported import lacking
from ._expression import Expression, Namespace
from ._lazy import Lazy, lazy_of, unheld
from ._methods import ACCESSORS, GROUPINGS, METHODS, looks_up
from ._node import Call, Node
from ._recorded import RecordedSeries
from ._recorded_operators import RecordedOperators
from ._relation import Slot
from ._relations import RELATIONS, origins
from ._value_dtypes import takes_dtype_from_values


class LazyArray(Lazy, RecordedOperators):
    """A plan of a series or of a value: operators and methods record themselves."""

    def __hash__(self) -> int:
        return super().__hash__()

    @classmethod
    def of(cls, function: str, /, *operands: object, **keywords: object) -> Any:
        """Records a function of plans and of values."""
        return recorded(function, operands, keywords)

    def _parts(self) -> tuple[Expression, Node] | None:
        """The expression that the plan is, and the plan of its columns; None for other plans."""
        if not isinstance(self._plan, Call) or self._plan.method != "column":
            return None
        return self._plan.arguments["expression"], self._plan.inputs[0]

    def __getattr__(self, name: str) -> Any:
        kind = type(self).__name__
        if name.startswith("_"):
            raise AttributeError(f"{kind!r} object has no attribute {name!r}")
        if name in ACCESSORS:
            return LazyNamespace(self, name)
        if name in GROUPINGS:
            return lambda *operands, **keywords: self._grouped(name, operands, keywords)
        if name in METHODS:
            if METHODS[name].is_attribute:
                return recorded(name, (self,), {})
            return lambda *operands, **keywords: recorded(name, (self, *operands), keywords)
        if hasattr(NDFrame.series_class, name):
            raise unheld(kind, name)
        raise lacking("JaxSeries", name) or AttributeError(
            f"{kind!r} object has no attribute {name!r}"
        )

    def _grouped(self, name: str, operands: Any, keywords: Options) -> "LazyNamespace":
        parts = self._parts()
        if parts is None:
            raise unheld(type(self).__name__, name)
        expression, plan = parts
        return LazyNamespace(self, name, getattr(expression, name)(*operands, **keywords), plan)


class ValuePlan(LazyArray):
    """The recorded methods of `LazyValue`."""


class SeriesPlan(RecordedSeries, LazyArray):
    """The recorded methods of `LazySeries`."""

    @property
    def name(self) -> Hashable:
        """The name of the series."""
        return self._plan.empty.name

    def __getitem__(self, key: object) -> Self:
        if callable(key):
            key = key(self)
        if not isinstance(key, SeriesPlan):
            raise unheld("LazySeries", "[] without a mask")
        return filtered(self._plan, key)

    def quantile(self, q: Any = 0.5, interpolation: str = "linear") -> Any:
        """The quantile: a value, or a series if `q` is a list."""
        if not is_list_like(q):
            return recorded("quantile", (self, q), {"interpolation": interpolation})
        return self._record("quantile", q=list(q), interpolation=interpolation)


class LazyNamespace:
    """`.str`, `.dt`, `.cat` and `.list`, windows and groups of a lazy series."""

    def __init__(
        self,
        series: LazyArray,
        name: str,
        namespace: Namespace | None = None,
        plan: Any = None,
    ):
        self._series, self._name = series, name
        # Of windows and groups, which only expressions have.
        self._namespace, self._plan = namespace, plan

    def __getattr__(self, name: str) -> Any:
        function = f"{self._name}.{name}"
        if function not in METHODS:
            raise unheld(type(self._series).__name__, function)
        if METHODS[function].is_attribute:
            return recorded(function, (self._series,), {})
        if self._namespace is None:
            return lambda *operands, **keywords: recorded(
                function, (self._series, *operands), keywords
            )
        method = getattr(self._namespace, name)
        return lambda *operands, **keywords: lazy_of(
            Call.of("column", (self._plan,), {"expression": method(*operands, **keywords)})
        )

    def __getitem__(self, key: object) -> Any:
        name = self._name
        if name not in ("str", "list"):
            raise TypeError(f"{name!r} of a series is not subscriptable")
        if isinstance(key, slice):
            return recorded(f"{name}.slice", (self._series, key.start, key.stop, key.step), {})
        return recorded(f"{name}.get", (self._series, key), {})


def recorded(function: str, operands: tuple[object, ...], keywords: Mapping[str, object]) -> Any:
    """Records a function of lazy series and values: as an expression, or as a step of its own."""
    values = (*operands, *keywords.values())
    lazies = [value for value in values if isinstance(value, LazyArray)]
    # A set of values depends on all rows of its series.
    is_set = looks_up(function) and len(lazies) > 1
    common = None if is_set else _common_plan(lazies)
    if common is not None:
        plan, expressions = common
        left = iter(expressions)
        filled = [next(left) if isinstance(one, LazyArray) else one for one in values]
        named = dict(zip(keywords, filled[len(operands) :], strict=True))
        expression = Expression.of(function, *filled[: len(operands)], **named)
        return lazy_of(Call.of("column", (plan,), {"expression": expression}))
    if any(map(is_expression, values)):
        raise NotImplementedError(
            f"{function}: a series that is no column of a plan cannot be combined with col(). "
            "Assign it to a column first."
        )
    slots = iter(map(Slot, range(len(lazies))))
    filled = [next(slots) if isinstance(one, LazyArray) else one for one in values]
    named = dict(zip(keywords, filled[len(operands) :], strict=True))
    arguments = {"function": function, "operands": filled[: len(operands)], "keywords": named}
    return lazy_of(Call.of("apply", tuple(lazy._plan for lazy in lazies), arguments))


def filtered(plan: Node, mask: LazyArray) -> Any:
    """The rows of a frame or a series where a mask is true.

    A column is computed from the rows that are left, unless its dtype depends on those that go.
    """
    frame, column = plan, None
    if isinstance(plan, Call) and plan.method == "column" and not takes_dtype_from_values(plan):
        (frame,), column = plan.inputs, plan.arguments["expression"]
    predicate = expression_of(mask, frame) if column is None or column.is_rowwise() else None
    if predicate is None or not frame.is_frame:
        return lazy_of(Call.of("filter_by", (plan, mask._plan), {}))
    rows = Call.of("filter", (frame,), {"predicate": predicate})
    return lazy_of(rows if column is None else Call.of("column", (rows,), {"expression": column}))


def expression_of(lazy: LazyArray, plan: Node) -> Expression | None:
    """A series or a value as an expression of a plan's columns, if it is one."""
    parts = lazy._parts()
    return None if parts is None else _rebound(*parts, plan)


def _common_plan(lazies: list[LazyArray]) -> tuple[Node, list[Expression]] | None:
    """A plan that has the columns of several expressions, and the expressions of them."""
    parts = [lazy._parts() for lazy in lazies]
    for part in parts:
        if part is None:
            return None
        plan = part[1]
        expressions = [expression_of(lazy, plan) for lazy in lazies]
        known = [one for one in expressions if one is not None]
        if len(known) == len(lazies):
            return plan, known
    return None


def _rebound(expression: Expression, source: Node, plan: Node) -> Expression | None:
    """An expression of one plan's columns in terms of a plan made of it by steps on each row.

    None if the steps remove or move rows, or change the columns.
    """
    steps: list[Any] = []
    while plan != source:
        relation = RELATIONS[plan.method] if isinstance(plan, Call) else None
        if relation is None or relation.rows != "each" or not relation.is_rowwise(plan):
            return None
        steps.append(plan)
        plan = plan.inputs[0]
    labels = {label: label for label in expression.columns()}
    for step in reversed(steps):
        (kept,) = origins(step)
        now = {own: label for label, own in kept.items()}
        if not all(label in now for label in labels.values()):
            return None
        labels = {label: now[own] for label, own in labels.items()}
    return expression.rename(labels)
