# SPDX-License-Identifier: Apache-2.0
"""`agg` and `transform` of grouped frames and series."""

import itertools
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from ..reductions._agg import check_labels, name_of, named_pairs
from ..table._column import Column, as_floats, of_family
from ..table._column_labels import Labels, nested
from ..table._take import look_up_rows, settled, take_columns
from ..table._types import Options
from ..table._user_functions import known_reduction
from ._base import SELECTIONS, GroupByBase
from ._called_functions import GroupByApply, reduced_by_user, transformed_by_user
from ._grouped_column import Reduction
from ._lists_of_groups import lists_of_groups
from ._reductions import GroupByReductions
from ._segment_reductions import REDUCTIONS
from ._transformations import GroupByRows
from ._user_functions import (
    SegmentFunction,
    UserFunction,
    is_of_user,
    reduce_segments,
)

NAMES = {op.replace("arg", "idx"): op for op in REDUCTIONS}
# Reductions that merge partial results: of these none is missing, so that a NaN is one of
# infinities of both signs, or of infinity times zero. The optimiser and streams name them.
OF_PARTS = {
    "sum of sums": Reduction("sum", min_count=0, skipna=False),
    "product of products": Reduction("prod", min_count=0, skipna=False),
}
# What `ohlc` reduces by, with the labels of the columns.
OHLC = {"open": "first", "high": "max", "low": "min", "close": "last"}
ROW_METHODS = (
    *("cumsum", "cumprod", "cummin", "cummax", "shift", "diff", "pct_change", "rank"),
    *("ffill", "bfill", "cumcount", "ngroup"),
)


class Aggregation(NamedTuple):
    """One column of a result: its label, the position of its source column and the reduction."""

    label: Hashable
    position: int
    how: Reduction | SegmentFunction | UserFunction | type[list[Any]]


class GroupByAggregation(GroupByApply, GroupByReductions, GroupByRows):
    """Reductions by name, by function, and several at once, for groups or for their rows."""

    def aggregate(
        self, func: Any = None, *args: object, engine: str | None = None, **kwargs: object
    ) -> Any:
        """Reduces each group by one or several functions.

        `func` is the name of a reduction; a NumPy reduction such as `np.sum`; `list`, for a list of
        the values of each group; a function of the groups of a column; the result of
        `segment_function`; a list of these; or a dict of them by column. Without it, the keywords
        name the columns of the result, each a pair of a column and a reduction. For functions and
        `engine` see `apply`.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": [2, 1, 2], "x": [1, 2, 4]})
            >>> frame.groupby("k").agg(total=("x", "sum"), most=("x", "max")).values.tolist()
            [[2, 2], [5, 4]]
        """
        if func is None:
            return self._named(kwargs)
        if isinstance(func, str):
            is_method = not func.startswith("_") and callable(getattr(type(self), func, None))
            if func not in NAMES and func not in ROW_METHODS and not is_method:
                raise self._unknown(func)
            return getattr(self, func)(*args, **kwargs)
        if args or kwargs:
            if isinstance(func, (list, Mapping, SegmentFunction)):
                raise NotImplementedError("groupby: agg of several functions takes no arguments.")
            known = known_reduction(func)
            if known is not None:
                return getattr(self, known[0])(*args, **{**known[1], **kwargs})
        if is_of_user(func) and func is not list:
            func = UserFunction(func, args, kwargs, engine)
        if isinstance(func, Mapping):
            return self._by_column(func)
        if isinstance(func, list):
            return self._listed(func)
        how = self._as_reduction(func)
        plan = [Aggregation(label, position, how) for label, position in self._own()]
        return self._result(self._evaluated(plan))

    agg = aggregate

    def _own(self) -> list[tuple[Hashable, int]]:
        return list(zip(self._labels, self._positions, strict=True))

    def _unknown(self, name: str) -> AttributeError:
        kind = type(self).__name__
        return AttributeError(f"{name!r} is not a valid function for '{kind}' object")

    def _as_reduction(self, func: object) -> Any:
        if isinstance(func, (SegmentFunction, UserFunction)) or func is list:
            return func
        if isinstance(func, str) and func in OF_PARTS:
            return OF_PARTS[func]
        if isinstance(func, str):
            if func not in NAMES:
                raise self._unknown(func)
            return Reduction(NAMES[func], min_count=0 if func in ("sum", "prod") else -1)
        if not callable(func):
            raise TypeError(
                f"groupby: agg takes names, functions, lists and dicts of them, got {func!r}."
            )
        known = known_reduction(func)
        if known is None:
            return UserFunction(func)
        return Reduction(known[0])._replace(**known[1])

    def _evaluated(self, plan: Sequence[Aggregation]) -> list[Column]:
        """The columns of aggregations; named reductions share one compiled call."""
        positions = range(len(self._table.columns))
        everything: Any = type(self)(self._source, _all_labels(self), positions, self._grouped)
        named = [(one.position, one.how) for one in plan if isinstance(one.how, Reduction)]
        plain = [pair for pair in named if not pair[1].op.startswith("arg")]
        reduced = iter(everything._reduced(plain))
        results = []
        for one in plan:
            if isinstance(one.how, SegmentFunction):
                results.append(self._by_segments(one, by_segment=False))
            elif one.how is list:
                results.append(self._lists(one.position))
            elif isinstance(one.how, UserFunction):
                results.append(reduced_by_user(self, one.position, one.how))
            elif isinstance(one.how, Reduction) and one.how.op.startswith("arg"):
                results += everything._labels_of_rows([(one.position, one.how)])
            else:
                results.append(next(reduced))
        return results

    def _lists(self, position: int) -> Column:
        column = self._table.columns[position]
        if column.kind == "object":
            # Objects may be of several types, which lists of the device are not.
            return reduced_by_user(self, position, UserFunction(list, engine="python"))
        values = settled(column, self._table.num_rows)
        return lists_of_groups(values, self._groups, self._sizes().data, self._table.num_rows)

    def _by_segments(self, aggregation: Aggregation, *, by_segment: bool) -> Column:
        label, position, how = aggregation
        column = self._table.columns[position]
        if not column.is_numeric:
            raise TypeError(
                f"dtype '{column.dtype_name}' of column {label!r} does not support a "
                "segment_function"
            )
        assert isinstance(how, SegmentFunction)
        values = as_floats(settled(column, self._table.num_rows)).data
        segments = self._groups.segments
        return Column(reduce_segments(how.function, values, segments, by_segment))

    def _by_column(self, functions: Mapping[Hashable, object]) -> Any:
        if self._is_series or any(isinstance(func, Mapping) for func in functions.values()):
            raise pd.errors.SpecificationError("nested renamer is not supported")
        labels = _all_labels(self)
        check_labels(functions, labels)
        is_nested = any(isinstance(func, (list, tuple)) for func in functions.values())
        plan = [
            (nested(label, name) if is_nested else label, label, position, one)
            for label, func in functions.items()
            for position in labels.positions(label)
            for name, one in (_as_list(func) if is_nested else [(None, func)])
        ]
        return self._with_parts(plan, [*labels.index.names, *([None] if is_nested else [])])

    def _with_parts(
        self,
        plan: Sequence[tuple[Hashable, Hashable, int, object]],
        names: Sequence[Hashable],
        outer: Labels | None = None,
    ) -> Any:
        """The result of labels, those of the columns, positions and functions.

        Labels keep the dtypes of `outer` in its levels.

        With `ohlc`, which gives four columns, all labels have one more level: the column of the
        four, or the label of the column.
        """
        if all(func != "ohlc" for *_, func in plan):
            return self._planned([(label, at, func) for label, _, at, func in plan], names, outer)
        parts: list[tuple[Hashable, int, object]] = []
        for label, of, at, func in plan:
            if func == "ohlc":
                check_ohlc(self._table.columns[at], of)
                parts += [(nested(label, name), at, op) for name, op in OHLC.items()]
            else:
                parts.append((nested(label, of), at, func))
        return self._planned(parts, [*names, None], outer)

    def _planned(
        self,
        plan: Sequence[tuple[Hashable, int, object]],
        names: Sequence[Hashable],
        outer: Labels | None = None,
    ) -> Any:
        """The result of labels with positions and functions; the names are those of labels."""
        hows = [Aggregation(label, at, self._as_reduction(func)) for label, at, func in plan]
        each: list[Any] = [one.label for one in hows]
        labels = Labels.of(each, names) if outer is None else Labels.below(outer, each, names)
        return self._one_each(self._evaluated(hows), labels)

    def _listed(self, functions: list[object]) -> Any:
        if not functions:
            return self._one_each([], Labels.of([]))
        pairs = _as_list(functions)
        if not self._is_series and len({name for name, _ in pairs}) < len(pairs):
            raise pd.errors.SpecificationError(
                "Function names must be unique if there is no new column names assigned"
            )
        plan = [
            (name if self._is_series else nested(label, name), label, position, func)
            for label, position in self._own()
            for name, func in pairs
        ]
        names = [] if self._is_series else self._labels.index.names
        outer = None if self._is_series else self._labels
        if self._is_series:
            self._check_inserted([name for name, _ in pairs])
        return self._with_parts(plan, [*names, None], outer)

    def _named(self, functions: Options) -> Any:
        if self._is_series and functions:
            plan = [(name, self._positions[0], one) for name, one in functions.items()]
            return self._planned(plan, [None])
        labels, plan = _all_labels(self), []
        for name, (label, one) in named_pairs(functions).items():
            check_labels([label], labels)
            plan.append((name, labels.position(label), one))
        return self._planned(plan, [None])

    def transform(
        self, func: object = None, *args: object, engine: str | None = None, **kwargs: object
    ) -> Any:
        """Broadcasts the reduction of each group to its rows, or calls a row-wise method.

        `func` is the name of a reduction, or of a row-wise method such as "cumsum" or "rank"; a
        NumPy reduction such as `np.sum`; a function of the groups of a column, that returns a value
        or one for each row; or the result of `segment_function`. For functions and `engine` see
        `apply`. Groups of a frame take a list for each column, a dict by column, and keywords with
        pairs of a column and a function.

        Example:
            >>> from jaxframes.frame import JaxFrame
            >>> frame = JaxFrame({"k": [2, 1, 2], "x": [1.0, 2.0, 4.0]})
            >>> frame.groupby("k").x.transform("mean").tolist()
            [2.5, 2.0, 2.5]
        """
        if func is None or pd.api.types.is_list_like(func):
            return self._transformed_by_several(func, args, engine, kwargs)
        if isinstance(func, str) and func in ROW_METHODS:
            return getattr(self, func)(*args, **kwargs)
        if isinstance(func, str) and func not in NAMES:
            raise ValueError(f"{func!r} is not a valid function name for transform(name)")
        if callable(func) and is_of_user(func):
            return transformed_by_user(self, UserFunction(func, args, kwargs, engine))
        if args or (isinstance(func, str) and func.startswith("idx")):
            raise NotImplementedError(f"groupby: transform of {func!r} with these arguments.")
        how = self._as_reduction(func)
        if isinstance(how, SegmentFunction):
            columns = [
                self._by_segments(Aggregation(label, position, how), by_segment=True)
                for label, position in self._own()
            ]
            return self._of_rows(self._spread(columns))
        assert isinstance(how, Reduction)
        grouped = self
        if kwargs.pop("numeric_only", False) and not self._is_series:
            grouped = self._numeric()
        if unknown := set(kwargs) - set(Reduction._fields).difference(("op", "is_kleene")):
            first = min(unknown)
            raise TypeError(f"transform({how.op!r}) got an unexpected argument {first!r}")
        how = how._replace(**kwargs)
        if how.op == "size":
            (column,) = self._spread([self._sizes(by_segment=True)])
            name = None
            if self._is_series:
                name, column = self._labels[0], of_family(column, self._columns[0].family)
            column = settled(column, self._table.num_rows)
            return self._source._make_series(column, name, self._table)
        columns = grouped._reduced(grouped._pairs(how), by_segment=True)
        return grouped._of_rows(grouped._spread(columns), are_own=how.op in SELECTIONS)

    def _transformed_by_several(
        self, functions: Any, args: tuple[object, ...], engine: str | None, kwargs: Options
    ) -> Any:
        """A column of rows for each function of `transform`."""
        if self._is_series:
            raise NotImplementedError(
                f"Passing a {type(functions).__name__} to SeriesGroupBy.transform is not "
                "supported. Call it with each function, or group the frame."
            )
        if functions is None:
            functions, kwargs = kwargs, {}
        elif pd.api.types.is_dict_like(functions) and any(
            pd.api.types.is_list_like(one) for one in functions.values()
        ):
            raise NotImplementedError(
                "Passing a dict of lists to DataFrameGroupBy.transform is not supported. Pass "
                "pairs of a column and a function as keywords."
            )
        if not len(functions):
            raise ValueError("No objects to concatenate")
        by_name = pd.api.types.is_dict_like(functions)
        if by_name:
            plan = [
                (name, *(one if isinstance(one, tuple) else (name, one)))
                for name, one in (
                    (name, (one.column, one.aggfunc) if isinstance(one, pd.NamedAgg) else one)
                    for name, one in functions.items()
                )
            ]
        else:
            plan = [((label, one), label, one) for label, _ in self._own() for one in functions]
        of: Any = self
        rows = [of[label].transform(one, *args, engine=engine, **kwargs) for _, label, one in plan]
        names = [name for name, *_ in plan]
        labels = pd.Index(names) if by_name else pd.MultiIndex.from_tuples(names)
        return rows[0]._make_frame([one._only for one in rows], Labels(labels))

    def _spread(self, columns: Sequence[Column]) -> tuple[Column, ...]:
        """Gathers each row's value from the values of the segments."""
        segments = self._groups.segments
        take = take_columns if segments.is_sharded else look_up_rows
        return take(columns, segments.ids, segments.layout, holes=self._grouped.may_drop)


def _all_labels(grouped: GroupByBase) -> Labels:
    labels = getattr(grouped._source, "_labels", None)
    return grouped._labels if labels is None else labels


def _as_list(functions: object) -> list[tuple[Hashable, Any]]:
    """Functions with the labels of their columns."""
    functions = functions if isinstance(functions, list) else [functions]
    named = [
        (one[0], one[1]) if isinstance(one, tuple) else (name_of(one), one) for one in functions
    ]
    if len(named) > 1:
        # As in pandas, several functions may be lambdas.
        numbers = itertools.count()
        named = [
            (f"<lambda_{next(numbers)}>" if name == "<lambda>" else name, one)
            for name, one in named
        ]
    return named


def check_ohlc(column: Column, label: Hashable) -> None:
    """Refuses a column that has no first, greatest, least and last number."""
    if not column.is_numeric or column.dtype.kind == "c":
        raise pd.errors.DataError(
            f"No numeric types to aggregate, got {column.dtype_name} in column {label!r}. "
            "Select the numeric columns."
        )
