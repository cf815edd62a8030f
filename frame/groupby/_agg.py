# SPDX-License-Identifier: Apache-2.0
"""`agg` of grouped frames and series."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from ..table._column import Column, fill_missing
from ..table._column_labels import Labels
from ..table._take import settled
from ._base import GroupByBase
from ._grouped_column import Reduction
from ._segment_reductions import REDUCTIONS
from ._user_functions import SegmentFunction, known_reduction, reduce_segments

NAMES = {name: name for name in REDUCTIONS} | {"idxmin": "argmin", "idxmax": "argmax"}
ROW_METHODS = (
    *("cumsum", "cumprod", "cummin", "cummax", "shift", "diff", "pct_change", "rank"),
    *("ffill", "bfill", "cumcount", "ngroup"),
)


class Aggregation(NamedTuple):
    """One column of a result: its label, the position of its source column and the reduction."""

    label: Hashable
    position: int
    how: Reduction | SegmentFunction


def _name_of(function: Any) -> Hashable:
    return function if isinstance(function, str) else getattr(function, "__name__", repr(function))


class GroupByAggregation(GroupByBase):
    """`agg`: reductions by name, by function, and several at once."""

    def aggregate(self, func: Any = None, *args: Any, **kwargs: Any) -> Any:
        """Reduces each group by one or several functions.

        Args:
            func: the name of a reduction; a NumPy reduction such as `np.sum`; the result of
                `segment_function`; a list of these; or a dict of them by column.
            args: passed to the reduction that `func` names.
            kwargs: passed likewise; without `func`, the columns of the result by name, each a
                pair of a column and a reduction.

        Differences from pandas:
            Other functions raise NotImplementedError, because they need one call per group.
            `segment_function` wraps a function that reduces all groups at once.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": [2, 1, 2], "x": [1, 2, 4]})
            >>> frame.groupby("k").agg(total=("x", "sum"), most=("x", "max")).values.tolist()
            [[2, 2], [5, 4]]
        """
        if func is None:
            return self._named(kwargs)
        if isinstance(func, str):
            return self._by_name(func, args, kwargs)
        if args or kwargs:
            if isinstance(func, (list, Mapping, SegmentFunction)):
                raise NotImplementedError("groupby: agg of several functions takes no arguments.")
            known = known_reduction(func)
            if known is not None:
                return getattr(self, known[0])(*args, **{**known[1], **kwargs})
        if isinstance(func, Mapping):
            return self._by_column(func)
        if isinstance(func, list):
            return self._listed(func)
        how = self._as_reduction(func)
        plan = [Aggregation(label, position, how) for label, position in self._own()]
        return self._result(self._evaluated(plan), self._labels)

    agg = aggregate

    def _own(self) -> list[tuple[Hashable, int]]:
        return list(zip(self._labels, self._positions, strict=True))

    def _by_name(self, name: str, args: Any, kwargs: Any) -> Any:
        if (name in NAMES and name not in ("argmin", "argmax")) or name in (
            *ROW_METHODS,
            "idxmin",
            "idxmax",
        ):
            return getattr(self, name)(*args, **kwargs)
        raise AttributeError(f"{name!r} is not a valid function for '{type(self).__name__}' object")

    def _as_reduction(self, func: Any) -> Reduction | SegmentFunction:
        if isinstance(func, SegmentFunction):
            return func
        if isinstance(func, str):
            if func not in NAMES or func in ("argmin", "argmax"):
                raise AttributeError(
                    f"{func!r} is not a valid function for '{type(self).__name__}' object"
                )
            return Reduction(NAMES[func], min_count=0 if func in ("sum", "prod") else -1)
        known = known_reduction(func) if callable(func) else None
        if known is None:
            raise NotImplementedError(
                f"groupby: agg cannot call {_name_of(func)!r} group by group. Name a reduction, or "
                "wrap a JAX function with jaxframes.frame.segment_function."
            )
        return Reduction(known[0])._replace(**known[1])

    def _evaluated(self, plan: Sequence[Aggregation]) -> list[Column]:
        """The columns of aggregations; named reductions share one compiled call."""
        everything = GroupByBase(
            self._source, _all_labels(self), range(len(self._table.columns)), self._grouped
        )
        named = [(one.position, one.how) for one in plan if isinstance(one.how, Reduction)]
        plain = [pair for pair in named if not pair[1].op.startswith("arg")]
        reduced = iter(everything._reduced(plain))
        results = []
        for one in plan:
            if isinstance(one.how, SegmentFunction):
                results.append(self._by_segments(one, by_segment=False))
            elif one.how.op.startswith("arg"):
                view: Any = type(self)(
                    self._source, everything._labels, everything._positions, self._grouped
                )
                results += view._labels_of_rows([(one.position, one.how)])
            else:
                results.append(next(reduced))
        return results

    def _by_segments(self, aggregation: Aggregation, *, by_segment: bool) -> Column:
        label, position, how = aggregation
        column, groups = self._table.columns[position], self._groups
        if not column.is_numeric:
            raise TypeError(
                f"dtype '{column.dtype_name}' of column {label!r} does not support a "
                "segment_function"
            )
        assert isinstance(how, SegmentFunction)
        values = fill_missing(settled(column, self._table.num_rows)).data
        segment_ids, segments, num_segments = (
            groups.segment_ids,
            groups.segments,
            groups.num_segments,
        )
        return Column(
            reduce_segments(
                how.function, values, segment_ids, segments, num_segments, groups.layout, by_segment
            )
        )

    def _by_column(self, functions: Mapping[Hashable, Any]) -> Any:
        if self._is_series or any(isinstance(func, Mapping) for func in functions.values()):
            raise pd.errors.SpecificationError("nested renamer is not supported")
        labels = _all_labels(self)
        absent = [label for label in functions if label not in labels]
        if absent:
            raise KeyError(f"Label(s) {absent} do not exist")
        is_nested = any(isinstance(func, (list, tuple)) for func in functions.values())
        plan = [
            Aggregation(
                _nested(label, name) if is_nested else label, position, self._as_reduction(one)
            )
            for label, func in functions.items()
            for position in labels.positions(label)
            for name, one in (_as_list(func) if is_nested else [(None, func)])
        ]
        return self._planned(plan, [*labels.index.names, *([None] if is_nested else [])])

    def _planned(self, plan: list[Aggregation], names: Sequence[Hashable]) -> Any:
        """The result of a plan, with its labels under some names."""
        return self._one_each(self._evaluated(plan), Labels.of([one.label for one in plan], names))

    def _listed(self, functions: list[Any]) -> Any:
        if not functions:
            return self._one_each([], Labels.of([]))
        pairs = _as_list(functions)
        if not self._is_series and len({name for name, _ in pairs}) < len(pairs):
            raise pd.errors.SpecificationError(
                "Function names must be unique if there is no new column names assigned"
            )
        plan = [
            Aggregation(
                name if self._is_series else _nested(label, name),
                position,
                self._as_reduction(func),
            )
            for label, position in self._own()
            for name, func in pairs
        ]
        return self._planned(plan, [*([] if self._is_series else self._labels.index.names), None])

    def _named(self, functions: dict[str, Any]) -> Any:
        if not functions:
            raise TypeError("Must provide 'func' or tuples of '(column, aggfunc).")
        labels = _all_labels(self)
        plan = []
        for name, pair in functions.items():
            if self._is_series:
                plan.append(Aggregation(name, self._positions[0], self._as_reduction(pair)))
                continue
            if isinstance(pair, pd.NamedAgg):
                pair = (pair.column, pair.aggfunc)
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise TypeError("Must provide 'func' or tuples of '(column, aggfunc).")
            if pair[0] not in labels:
                raise KeyError(f"Label(s) {[pair[0]]} do not exist")
            position = labels.position(pair[0])
            plan.append(Aggregation(name, position, self._as_reduction(pair[1])))
        return self._planned(plan, [None])


def _all_labels(grouped: GroupByBase) -> Labels:
    labels = getattr(grouped._source, "_labels", None)
    return grouped._labels if labels is None else labels


def _as_list(functions: Any) -> list[tuple[Hashable, Any]]:
    """Functions with the labels of their columns."""
    functions = functions if isinstance(functions, list) else [functions]
    return [
        (one[0], one[1]) if isinstance(one, tuple) else (_name_of(one), one) for one in functions
    ]


def _nested(label: Hashable, name: Hashable) -> tuple[Hashable, ...]:
    return (*label, name) if isinstance(label, tuple) else (label, name)
