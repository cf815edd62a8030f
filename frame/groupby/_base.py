# SPDX-License-Identifier: Apache-2.0
"""Grouped frames and series: the columns, the keys and the construction of results."""

import copy
from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from ..table._column import Column, host_array
from ..table._column_labels import Labels
from ..table._from_host import column_from
from ..table._layout import ONE_DEVICE, Layout
from ..table._ndframe import NDFrame
from ..table._recode import as_truths, without_missing
from ..table._row_index import RANGE, RowIndex
from ..table._table import Table, either_needed
from ..table._take import settled
from ..table._time_sums import check_time_sums
from ..table._tracing import FoundOnce, is_traced
from ._grouped_column import Reduction, array_kind
from ._grouper import Grouping
from ._groups import Groups, groups_of_keys, make_groups
from ._one_pass_sums import are_sums, finished_sums, sums_by_key, sums_by_segment
from ._result_types import check_reducible, reduced_type
from ._segment_reductions import reduce_arrays
from ._string_sum import joined_strings


class Options(NamedTuple):
    """The options of `groupby`."""

    sort: bool = True
    dropna: bool = True
    as_index: bool = True
    observed: bool = True
    capacity: int | None = None


class Grouped:
    """The keys, and the groups computed on demand; shared by all selections."""

    def __init__(
        self,
        table: Table,
        keys: Sequence[Grouping],
        options: Options,
        has_tuple_keys: bool = False,
    ):
        self.table: Table = table
        self.keys: tuple[Grouping, ...] = tuple(keys)
        self.options: Options = options
        # Whether group keys are tuples, because `by` or `level` was a list.
        self.has_tuple_keys: bool = has_tuple_keys
        self._found = FoundOnce()

    def once(self, name: Any, compute: Callable[[], Any]) -> Any:
        """Calls `compute` once per name and caches the result."""
        return self._found.once(
            name,
            compute,
            is_staged=lambda result: (
                result.is_traced if isinstance(result, Groups) else is_traced(result)
            ),
            keeps_staged=is_traced(self.table, [key.column for key in self.keys]),
        )

    @property
    def groups(self) -> Groups:
        """The groups."""
        sort, dropna, _, observed, capacity = self.options
        return self.once(
            "groups",
            lambda: make_groups(
                [key.column for key in self.keys],
                self.table,
                sort=sort,
                dropna=dropna,
                observed=observed,
                capacity=capacity,
            ),
        )

    def sums(self, columns: Sequence[Column], plan: Sequence[tuple[int, Reduction]]) -> Any:
        """The results of a plan of sums of many rows; None for other plans.

        Groups that are not cached yet are computed together with the sums.
        """
        options, table = self.options, self.table
        keys = [key.column for key in self.keys]
        if is_traced(table, keys, columns) or not are_sums([s for _, s in plan], columns, table):
            return None
        if "groups" not in self._found and options.sort and options.observed:
            found = sums_by_key(keys, table, columns, plan, options.dropna)
            if found is not None:
                self.once(
                    "groups",
                    lambda: groups_of_keys(keys, table, found.keys, found.count, options.dropna),
                )
                return finished_sums(plan, columns, found.parts, found.sizes, None)
        groups = self.groups
        if groups.is_traced or groups.may_be_empty:
            return None
        sizes, parts = sums_by_segment(
            groups.segment_ids, groups.num_segments, table, columns, plan
        )
        return finished_sums(plan, columns, parts, sizes, groups.segments)

    @property
    def may_drop(self) -> bool:
        """Whether rows may belong to no group."""
        return self.options.dropna and any(key.column.can_miss for key in self.keys)


class GroupByBase:
    """The base of grouped frames and series.

    A grouped series has one column, and its results are series.
    """

    _is_series = False

    def __init__(
        self,
        source: NDFrame,
        labels: Labels,
        positions: Sequence[int],
        grouped: Grouped,
        shown_positions: Sequence[int] | None = None,
    ):
        self._source, self._labels, self._grouped = source, labels, grouped
        # The positions of the columns that methods compute with.
        self._positions = tuple(positions)
        # The positions of the columns in selected rows: with keys, unless columns were selected.
        self._shown_positions = (
            self._positions if shown_positions is None else tuple(shown_positions)
        )

    def __repr__(self) -> str:
        names = [key.name for key in self._grouped.keys]
        return f"{type(self).__name__}(by={names!r}, columns={list(self._labels)!r})"

    @property
    def _table(self) -> Table:
        return self._source._table

    @property
    def _groups(self) -> Groups:
        return self._grouped.groups

    @property
    def _options(self) -> Options:
        return self._grouped.options

    def _picked(self, positions: Sequence[int]) -> Self:
        """A copy with the columns at some of its positions."""
        picked = copy.copy(self)
        picked._labels = self._labels.take(list(positions))
        picked._positions = tuple(self._positions[position] for position in positions)
        return picked

    def _chosen(self, numeric_only: Any, caller: str) -> Self:
        """A view of all columns, or of the numeric columns.

        Raises:
            TypeError: `numeric_only` of a series without numbers.
            ValueError: `numeric_only` is not a bool.
        """
        if not isinstance(numeric_only, (bool, np.bool_)):
            raise ValueError("numeric_only accepts only Boolean values")
        if not (numeric_only and self._is_series):
            return self._numeric() if numeric_only else self
        column = self._table.columns[self._positions[0]]
        if not column.is_numeric:
            raise TypeError(
                f"{caller}: with numeric_only=True the series must hold numbers, "
                f"got {column.dtype_name}."
            )
        return self

    def _numeric(self) -> Self:
        """A view of the numeric columns."""
        columns = [self._table.columns[position] for position in self._positions]
        return self._picked([at for at, column in enumerate(columns) if column.is_numeric])

    def _pairs(self, spec: Reduction) -> list[tuple[int, Reduction]]:
        """The plan of one reduction of every column."""
        return [(position, spec) for position in range(len(self._positions))]

    def _reduced(
        self, pairs: Sequence[tuple[int, Reduction]], *, by_segment: bool = False
    ) -> list[Column]:
        """Reduces columns in one compiled call.

        Args:
            pairs: positions of columns in this view, with their reductions.
            by_segment: return a value for each segment id, not for each group.
        """
        is_text = [self._is_sum_of_strings(at, spec) for at, spec in pairs]
        if any(is_text):
            rest = [pair for pair, text in zip(pairs, is_text, strict=True) if not text]
            numbers = iter(self._reduced(rest, by_segment=by_segment))
            return [
                self._strings_joined(*pair, by_segment) if text else next(numbers)
                for pair, text in zip(pairs, is_text, strict=True)
            ]
        columns: list[Column] = []
        plan, types = [], []
        # Each column, plain or recoded, is an operand of the program once.
        operands: dict[tuple[int, bool], int] = {}
        for at, spec in pairs:
            column = self._table.columns[self._positions[at]]
            check_reducible(spec.op, column, self._labels[at])
            is_recoded = _is_recoded(column, spec)
            if (at, is_recoded) not in operands:
                operands[at, is_recoded] = len(columns)
                columns.append(_recoded(column) if is_recoded else column)
            plan.append((operands[at, is_recoded], spec))
            types.append((reduced_type(spec.op, column), column))
        if not plan:
            return []
        results = None if by_segment else self._grouped.sums(columns, plan)
        groups = self._groups
        for at, spec in plan:
            if spec.op == "sum" and columns[at].kind == "timedelta":
                check_time_sums(
                    columns[at],
                    self._table.num_rows,
                    groups.layout,
                    groups.segment_ids,
                    groups.num_segments,
                )
        # The ids are found when they are first asked for: sums by key do without them.
        if results is None:
            results = [
                result
                for program in _programs(plan, groups.layout)
                for result in reduce_arrays(
                    tuple(column.arrays for column in columns),
                    groups.segment_ids,
                    None if by_segment else groups.segments,
                    tuple(array_kind(column.type) for column in columns),
                    program,
                    groups.num_segments,
                    groups.layout,
                    by_segment,
                )
            ]
        shown = []
        for (data, valid), (type, column), (_, spec) in zip(results, types, plan, strict=True):
            # Without empty groups and missing values, every group has a value.
            all_valid = not column.can_miss and not groups.may_be_empty and spec.min_count <= 1
            result = Column(data, None if all_valid else valid, type)
            shown.append(result if by_segment else settled(result, groups.count))
        return shown

    def _is_sum_of_strings(self, at: int, spec: Reduction) -> bool:
        return spec.op == "sum" and self._table.columns[self._positions[at]].kind == "string"

    def _strings_joined(self, at: int, spec: Reduction, by_segment: bool) -> Column:
        column, groups = self._table.columns[self._positions[at]], self._groups
        strings = joined_strings(column, self._labels[at], groups, self._table, spec)
        if by_segment:
            return column_from(strings, groups.num_segments, ONE_DEVICE)
        count = int(groups.count)
        segments = (
            np.arange(count) if groups.segments is None else host_array(groups.segments)[:count]
        )
        return column_from(strings.take(pa.array(segments)), groups.capacity, groups.layout)

    def _one_each(
        self, columns: Sequence[Column], labels: Labels, *, as_series: bool = False
    ) -> Any:
        """A result with a row for each group, from columns with new labels."""
        groups, keys = self._groups, self._grouped.keys
        index = RowIndex(groups.keys, tuple(key.name for key in keys))
        needed = either_needed(self._source._table.needed, groups.needed)
        table = Table((), index, groups.count, needed, groups.layout)
        if self._options.as_index:
            if as_series:
                return self._source._make_series(columns[0], labels[0], table)
            return self._source._make_frame(columns, labels, table)
        columns, names = list(columns), list(labels)
        for number, (key, column) in reversed(list(enumerate(zip(keys, groups.keys, strict=True)))):
            name = key.name
            if name is None:
                name = "index" if len(keys) == 1 else f"level_{number}"
            if labels.index.nlevels > 1:
                name = (name, *("",) * (labels.index.nlevels - 1))
            if name not in names:
                columns.insert(0, column)
                names.insert(0, name)
        return self._source._make_frame(
            columns, Labels.of(names, labels.index.names), table.replace(index=RANGE)
        )

    def _shown(self, table: Table) -> Any:
        """Rows of the source with the selected columns; keys too, unless columns were selected."""
        columns = [table.columns[position] for position in self._shown_positions]
        if self._is_series:
            return self._source._make_series(columns[0], self._labels[0], table)
        labels = self._source._labels.take(list(self._shown_positions))  # pyright: ignore
        return self._source._make_frame(columns, labels, table)

    def _result(self, columns: Sequence[Column], labels: Labels | None = None) -> Any:
        """A result with a row for each group, by default with this view's labels."""
        labels = self._labels if labels is None else labels
        return self._one_each(columns, labels, as_series=self._is_series)


def _is_recoded(column: Column, spec: Reduction) -> bool:
    """Whether codes must be translated first: strings to truth values, null objects dropped."""
    if column.kind == "object":
        return spec.skipna
    return spec.op in ("any", "all") and column.type.has_codes


def _recoded(column: Column) -> Column:
    return without_missing(column) if column.kind == "object" else as_truths(column)


def _programs(
    plan: Sequence[tuple[int, Reduction]], layout: Layout
) -> list[tuple[tuple[int, Reduction], ...]]:
    """Divides a plan into compiled programs: one, or one a reduction for sorts over a mesh.

    XLA orders independent collectives differently on each CPU device, so two sorts in one program
    could wait for each other forever.
    """
    num_sorts = sum(spec.op in ("median", "quantile", "nunique") for _, spec in plan)
    if layout.mesh is None or num_sorts < 2:
        return [tuple(plan)]
    return [(one,) for one in plan]


def label_of(name: Hashable) -> Labels:
    """The labels of a single column."""
    return Labels.of([name])
