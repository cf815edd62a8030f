# SPDX-License-Identifier: Apache-2.0
"""Grouped frames and series: the columns, the keys and the construction of results."""

import copy
import dataclasses
import functools
from collections.abc import Callable, Hashable, Sequence
from typing import Any, Self

import numpy as np

from ...primitives._global._reduce_by_key import saves_a_sort
from ..reductions._reduce_columns import is_kleene
from ..reductions._results import result_type
from ..table._column import NUMBER, Array, Column, ColumnType, bare, show_holes
from ..table._column_labels import Labels
from ..table._deferred import force
from ..table._level_orders import appearances
from ..table._ndframe import NDFrame, SeriesBase
from ..table._object_functions import as_objects, inferred_labels
from ..table._recode import as_truths, without_missing
from ..table._row_index import RANGE, RowIndex
from ..table._table import Table, as_count, either_needed
from ..table._take import missing_elsewhere, moved_index, settled, take_columns
from ..table._time_sums import check_time_sums
from ..table._tracing import FoundOnce, is_traced
from ..table._unencoded import as_unencoded
from ..table._unfiltered import unfiltered
from ._grouped_column import Groups, Options, Reduction
from ._grouper import Grouping
from ._groups import groups_of_keys, make_groups
from ._object_values import reduced_objects
from ._one_pass_sums import (
    KeySums,
    are_sums,
    finished_sums,
    needs_no_force,
    sums_by_key,
    sums_by_segment,
    traced_sums_by_key,
)
from ._segment_reductions import Reduced, check_reducible, reduce_arrays
from ._string_sum import joined_strings

Pairs = Sequence[tuple[int, Reduction]]

# Below this many rows, the general reductions take less time than further programs to compile.
LEAST_ROWS = 1 << 20


@dataclasses.dataclass(eq=False)
class Grouped:
    """The keys, and the groups computed on demand; shared by all selections."""

    table: Table
    keys: Sequence[Grouping]
    options: Options
    # Whether group keys are tuples, because `by` or `level` was a list.
    has_tuple_keys: bool = False
    # Whether keys that are objects label results in the dtype that pandas infers.
    infers_labels: bool = True
    _found: FoundOnce = dataclasses.field(default_factory=FoundOnce)

    def once(self, name: Hashable, compute: Callable[[], object]) -> Any:
        """Calls `compute` once per name and caches the result."""
        return self._found.once(
            name,
            compute,
            is_staged=lambda result: (
                result.is_traced if isinstance(result, Groups) else is_traced(result)
            ),
            keeps_staged=is_traced(self.table, self.key_columns),
        )

    @property
    def key_columns(self) -> list[Column]:
        """The values of the keys."""
        return [key.column for key in self.keys]

    @property
    def key_names(self) -> tuple[Hashable, ...]:
        """The names of the keys."""
        return tuple(key.name for key in self.keys)

    @property
    def groups(self) -> Groups:
        """The groups."""
        return self.once("groups", self._made_groups)

    def _made_groups(self) -> Groups:
        groups = make_groups(self.key_columns, self.table, self.options)
        if self.infers_labels and any(key.kind == "object" for key in groups.keys):
            # As in the levels of pandas, rows without a group decide too.
            rows = self.key_columns, self.table.num_rows
            groups.keys = inferred_labels(groups.keys, groups.count, of_rows=rows)
        return groups

    def sums(self, columns: Sequence[Column], plan: Pairs) -> Any:
        """The results of a plan of sums of many rows; None for other plans.

        Groups that are not cached yet are computed together with the sums; see
        `primitives._eager_reduction.reduce_eagerly` for the ways.
        """
        options, table, keys = self.options, self.table, self.key_columns
        if not are_sums(plan, columns, table):
            return None
        if is_traced(table, keys, columns):
            return self._traced_sums(columns, plan)
        if keys[0].capacity < LEAST_ROWS:
            return None
        if "groups" not in self._found and options.observed:
            found = _sums_by_key(keys, table, columns, plan, options)
            if found is not None:
                count = as_count(found.count)
                groups = groups_of_keys(keys, table, found.keys, count, options)
                self.once("groups", lambda: groups)
                return finished_sums(plan, columns, found.parts, None)
        groups = self.groups
        if groups.is_traced or groups.may_be_empty:
            return None
        parts = sums_by_segment(groups.segments, columns, plan)
        return finished_sums(plan, columns, parts, groups.of_groups)

    def _traced_sums(self, columns: Sequence[Column], plan: Pairs) -> Any:
        """Like `sums`, inside `jit`; None where it saves no sort, or once rows have a group id."""
        options, table, keys = self.options, self.table, self.key_columns
        if not saves_a_sort() or not options.observed:
            return None
        if "groups" in self._found and self.groups.has_ids:
            return None
        found = traced_sums_by_key(keys, table, columns, plan, options)
        if found is None:
            return None
        unique, count, parts = found
        groups = groups_of_keys(keys, table, unique, count, options)
        find_ids = groups.given_ids
        assert callable(find_ids)
        # Traced ids are found once for all reductions that read them.
        groups.given_ids = functools.partial(self.once, "group ids", find_ids)
        self.once("groups", lambda: groups)
        return finished_sums(plan, columns, parts, None)

    @property
    def may_drop(self) -> bool:
        """Whether rows may belong to no group."""
        return self.options.dropna and any(column.can_miss for column in self.key_columns)


def _sums_by_key(
    keys: Sequence[Column], table: Table, columns: Sequence[Column], plan: Pairs, options: Options
) -> KeySums | None:
    """`sums_by_key`, of all rows of a source if a mask selects most of them."""
    to_force = [column for column in columns if not needs_no_force(column)]
    is_all = options.dropna and len(to_force) == len(columns)
    rows = unfiltered((*keys, *columns), table.num_rows) if is_all else None
    if rows is None:
        force((*keys, *to_force))
        return sums_by_key(keys, table, columns, plan, options)
    keys, columns = rows.columns[: len(keys)], rows.columns[len(keys) :]
    # A row of a missing key is in no group. Codes need no mask for that.
    masked = next((at for at, key in enumerate(keys) if key.type.has_codes), 0)
    (key,) = missing_elsewhere((keys[masked],), rows.flags)
    keys = (*keys[:masked], key, *keys[masked + 1 :])
    return sums_by_key(keys, table.replace(num_rows=rows.num_rows), columns, plan, options)


# Reductions of strings that read neither their order nor which of them are equal.
NEED_NO_CODES = ("count", "size", "first", "last")
# Their results are values of the column.
SELECTIONS = ("min", "max", "first", "last")


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
        self._shown_positions = tuple(positions if shown_positions is None else shown_positions)

    def __repr__(self) -> str:
        names = list(self._grouped.key_names)
        return f"{type(self).__name__}(by={names!r}, columns={list(self._labels)!r})"

    @property
    def _table(self) -> Table:
        return self._source._table

    @property
    def _columns(self) -> list[Column]:
        # Integers that may have missing values are floats, as they are in pandas.
        return [show_holes(self._table.columns[position]) for position in self._positions]

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

    def _of_series(self, series: SeriesBase) -> Self:
        """The groups of a series of the same rows."""
        view = copy.copy(self)
        view._source, view._labels = series, Labels.of([series._name])
        view._positions = view._shown_positions = (0,)
        view._is_series = True
        return view

    def _chosen(self, numeric_only: object, caller: str) -> Self:
        """A view of all columns, or of the numeric columns."""
        if not isinstance(numeric_only, (bool, np.bool_)):
            raise ValueError("numeric_only accepts only Boolean values")
        if not (numeric_only and self._is_series):
            return self._numeric() if numeric_only else self
        (column,) = self._columns
        if not column.is_numeric:
            raise TypeError(
                f"{caller}: with numeric_only=True the series must hold numbers, "
                f"got {column.dtype_name}."
            )
        return self

    def _numeric(self) -> Self:
        """A view of the numeric columns."""
        return self._picked(
            [at for at, column in enumerate(self._columns) if column.counts_as_number]
        )

    def _pairs(self, spec: Reduction) -> list[tuple[int, Reduction]]:
        """The plan of one reduction of every column."""
        return [(position, spec) for position in range(len(self._positions))]

    def _reduced(self, pairs: Pairs, *, by_segment: bool = False) -> list[Column]:
        """Reduces columns, by position in this view, in one compiled call.

        With `by_segment` a column has a value for each segment id, not for each group.
        """
        coded = {at for at, spec in pairs if spec.op not in NEED_NO_CODES}
        own = [
            column if at in coded or column.lists is not None else column.stored
            for at, column in enumerate(self._columns)
        ]
        operands: list[Column] = []
        plan: list[tuple[int, Reduction]] = []
        # Each column, plain or recoded, is an operand of the program once.
        positions: dict[tuple[int, bool], int] = {}
        for at, spec in pairs:
            column = own[at]
            if column.kind != "number" or column.dtype.kind in "bc":
                # Real numbers have all reductions.
                check_reducible(spec.op, column, self._labels[at])
            if _on_host(column, spec) is None:
                operand = at, _is_recoded(column, spec)
                if operand not in positions:
                    positions[operand] = len(operands)
                    operands.append(_recoded(column) if operand[1] else column)
                # The operand of the program does not know that its column is nullable.
                spec = spec._replace(is_kleene=is_kleene(column, spec.op, spec.skipna))
                plan.append((positions[operand], spec))
        results = iter(self._arrays_of(operands, plan, by_segment) if plan else ())
        shown, groups = [], self._groups
        for at, spec in pairs:
            column, label = own[at], self._labels[at]
            reduce_on_host = _on_host(column, spec)
            if reduce_on_host is not None:
                result = reduce_on_host(column, label, groups, self._table, spec, by_segment)
                if column.kind == "object" and result.kind == "string" and not self._is_series:
                    # pandas infers strings of a series alone.
                    result = as_objects(result, groups.count, spec.op)
                shown.append(result)
                continue
            data, valid = next(results)
            if spec.op == "quantile" and column.is_nullable and column.is_float:
                data = data.astype(column.dtype)
            # Without empty groups and missing values, every group has a value.
            all_valid = not column.can_miss and not groups.may_be_empty and spec.min_count <= 1
            result = Column(data, None if all_valid else valid, _type_of(column, spec.op))
            if column.lists is not None and spec.op in SELECTIONS:
                result = column.moved((data, None))
            if not by_segment:
                source = column if spec.op in SELECTIONS else None
                result = settled(result, groups.count, source)
            shown.append(as_unencoded(result))
        return shown

    def _arrays_of(
        self, columns: Sequence[Column], plan: Pairs, by_segment: bool
    ) -> Sequence[Reduced]:
        results = None if by_segment else self._grouped.sums(columns, plan)
        groups = self._groups
        for at, spec in plan:
            if spec.op == "sum" and columns[at].kind in ("timedelta", "decimal"):
                segments = groups.segments
                check_time_sums(
                    columns[at],
                    self._table.num_rows,
                    groups.layout,
                    segments.ids,
                    segments.num_segments,
                )
        if results is not None:
            return results
        # The ids are found when they are first asked for: sums by key do without them.
        operands = tuple(map(bare, columns))
        return reduce_arrays(operands, groups.segments, tuple(plan), by_segment)

    def _made(self, columns: Sequence[Column], table: Table) -> Any:
        """A frame, or a series, of columns with this view's labels and the rows of a table."""
        if self._is_series:
            return self._source._make_series(columns[0], self._labels[0], table)
        return self._source._make_frame(columns, self._labels, table)

    def _one_each(
        self, columns: Sequence[Column], labels: Labels, *, as_series: bool = False
    ) -> Any:
        """A result with a row for each group, from columns with new labels."""
        groups, keys = self._groups, self._grouped.keys
        index = RowIndex(groups.keys, self._grouped.key_names, missing_last=len(keys) > 1)
        if not self._options.sort and len(keys) > 1 and not groups.is_traced:
            index = dataclasses.replace(index, orders=appearances(groups.keys, groups.count))
        needed = either_needed(self._source._table.needed, groups.needed)
        table = Table((), index, groups.count, needed, groups.layout)
        if self._options.as_index:
            if as_series:
                return self._source._make_series(columns[0], labels[0], table)
            return self._source._make_frame(columns, labels, table)
        columns, added = list(columns), list[Hashable]()
        for number, (key, column) in reversed(list(enumerate(zip(keys, groups.keys, strict=True)))):
            name = key.name
            if name is None:
                name = "index" if len(keys) == 1 else f"level_{number}"
            if labels.index.nlevels > 1:
                parts = name if isinstance(name, tuple) else (name,)
                name = (*parts, *("",) * (labels.index.nlevels - len(parts)))
            if name not in labels and name not in added:
                columns.insert(0, column)
                added.append(name)
        return self._source._make_frame(
            columns, labels.with_labels(added, 0), table.replace(index=RANGE)
        )

    def _check_inserted(self, labels: Sequence[Hashable]) -> None:
        """Raises if a key would be a column of the label of a result, with `as_index=False`."""
        taken = [key.name for key in self._grouped.keys if key.name in labels]
        if taken and not self._options.as_index:
            raise ValueError(
                f"cannot insert {taken[0]}, already exists among the results. Rename the key, or "
                "leave out as_index=False."
            )

    def _index_of_rows(self, row_ids: Array, group_ids: Array) -> RowIndex:
        """The labels of rows, behind the keys of their groups where the options ask for these."""
        index, layout = self._table.index, self._table.layout
        index = moved_index(index, take_columns(index.stored, row_ids, layout), row_ids)
        if not self._options.adds_keys:
            return index
        keys = take_columns(self._groups.keys, group_ids, layout)
        levels = (*keys, *index.columns(row_ids.shape[0], layout))
        return RowIndex(levels, (*self._grouped.key_names, *index.names))

    def _shown(self, table: Table) -> Any:
        """Rows of the source with the selected columns; keys too, unless columns were selected."""
        columns = [table.columns[position] for position in self._shown_positions]
        if self._is_series:
            return self._made(columns, table)
        source: Any = self._source
        labels = source._labels.take(list(self._shown_positions))
        return source._make_frame(columns, labels, table)

    def _result(self, columns: Sequence[Column]) -> Any:
        """A result with a row for each group and this view's labels."""
        return self._one_each(columns, self._labels, as_series=self._is_series)


def _type_of(column: Column, op: str) -> ColumnType:
    """The type of the results of groups: of nullable numbers, counts and flags are nullable."""
    takes_family = op in ("count", "any", "all") and (column.family == "arrow" or column.is_numeric)
    if op == "size" or takes_family:
        return NUMBER.of_family(column.family)
    if op in ("any", "all"):
        return NUMBER
    return result_type(column.type, op)


def _on_host(column: Column, spec: Reduction) -> Callable[..., Column] | None:
    """What reduces strings and objects on the host; None for a reduction on the device."""
    if column.kind == "object" and spec.op not in NEED_NO_CODES:
        return reduced_objects
    return joined_strings if column.kind == "string" and spec.op == "sum" else None


def _is_recoded(column: Column, spec: Reduction) -> bool:
    """Whether codes must be translated first: strings to truth values, null objects dropped."""
    if column.kind == "object":
        return spec.skipna
    return spec.op in ("any", "all") and column.type.has_codes


def _recoded(column: Column) -> Column:
    return without_missing(column) if column.kind == "object" else as_truths(column)
