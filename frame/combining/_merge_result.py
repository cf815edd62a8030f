# SPDX-License-Identifier: Apache-2.0
"""Assembles the columns, labels and index of a merge from the pairs of rows."""

import dataclasses
from collections.abc import Hashable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..align._align import are_bools_beside_numbers
from ..align._common_types import become_objects
from ..align._join_types import RIGHT_ANTI, JoinType
from ..align._number_keys import are_of_two_signs, check_labels, in_joined_dtype
from ..align._object_keys import own_objects, with_own_objects
from ..table._column import Array, Column, ColumnType
from ..table._column_labels import Labels
from ..table._dictionary import Dictionary
from ..table._dtypes import cast_exactly
from ..table._holes import with_holes_elsewhere
from ..table._ndframe import FrameBase
from ..table._object_functions import inferred_labels
from ..table._row_index import RANGE, RowIndex, common_frequency, label_dtype
from ..table._table import Table
from ..table._take import coalesced, moved_index
from ..table._tracing import is_traced
from ..table._units import finest_unit, in_zone, with_unit
from ._merge_plan import Key, KeyArguments, MergePlan
from ._row_pairs import RowPairs, SideRows

INDICATOR = ColumnType("category", Dictionary(pd.Index(["left_only", "right_only", "both"])))


def merged_frame(
    plan: MergePlan,
    pairs: RowPairs,
    left: FrameBase,
    right: FrameBase,
    labels: tuple[pd.Index, pd.Index],
    *,
    join: JoinType | None = None,
    named: KeyArguments | None = None,
    indicator: Hashable = None,
    values: RowPairs | None = None,
) -> Any:
    """The frame of a merge, with the `labels` of the columns of both sides.

    `join` and `named` decide the row labels, 0, 1, ... if left out. Keys and row labels have the
    rows of `pairs`, and other columns those of `values`, if they differ.
    """
    kept, values = plan.kept(right), values or pairs
    right_columns = [right._table.columns[position] for position in kept]
    columns = [*values.left.take(left._table.columns), *values.right.take(right_columns)]
    of_columns = labels[0].append(labels[1])
    if indicator is not None:
        columns.append(Column(_origin(pairs.left.row_ids, pairs.right.row_ids), None, INDICATOR))
        of_columns = of_columns.insert(len(of_columns), indicator)
    merged = _Merged(plan, pairs, left, right, kept, columns, of_columns, join)
    return merged.frame(RANGE if join is None or named is None else merged.index(join, named))


@dataclasses.dataclass
class _Merged:
    """The columns of a merge and their labels, before keys are filled."""

    plan: MergePlan
    pairs: RowPairs
    left: FrameBase
    right: FrameBase
    # The positions of the columns of the right side.
    kept: Sequence[int]
    columns: list[Column]
    labels: pd.Index
    join: JoinType | None

    def _fill_keys(self, index: RowIndex) -> RowIndex:
        """Fills each key from the left side, or from the right if the left row is absent.

        Keys without a column become a column or an index level. Returns the index.
        """
        if self.plan.on_both_indexes:
            return index
        for position, key in enumerate(self.plan.keys):
            if not key.is_filled:
                continue
            if key.name in self.labels:
                self._fill_column(key)
            elif key.name is not None and key.name in index.names and index.levels:
                levels = list(index.levels)
                levels[index.names.index(key.name)] = self._merged_key(key)
                index = RowIndex(tuple(levels), index.names)
            else:
                name = f"key_{position}" if key.name is None else key.name
                self.columns.insert(position, self._merged_key(key))
                self.labels = self.labels.insert(position, name)
        return index if self.join is None else self._restored(index)

    def _fill_column(self, key: Key) -> None:
        position = self._position(key.name)
        if self.join is RIGHT_ANTI:
            (self.columns[position],) = self.pairs.right.take([key.right.result])
            return
        if key.name in self.left._labels:
            own = self.pairs.left
        elif key.name in self.right._labels.index.take(self.kept):
            own = self.pairs.right
        else:
            return
        if own.has_holes:
            self.columns[position] = self._merged_key(key)
        else:
            self.columns[position] = self._in_common_dtype(key, self.columns[position])

    def _merged_key(self, key: Key) -> Column:
        """The values of a key, from the left side, or from the right if the left row is absent."""
        pairs, left, right = self.pairs, key.left.result, key.right.result
        counts = self.left._table.num_rows, self.right._table.num_rows
        if self.plan.on_both_indexes and (_becomes_objects(key) or _has_two_kinds(key)):
            left, right = self.plan.in_one_type(key, counts)
        if pairs.left.presence == "none":
            return self._in_common_dtype(key, pairs.right.take([right])[0])
        if not pairs.left.has_holes or pairs.right.presence == "none":
            if pairs.right.presence != "none" and _has_two_number_dtypes(key):
                left, _ = self.plan.in_one_type(key, counts)
            return self._in_common_dtype(key, pairs.left.take([left])[0])
        if not self.plan.on_both_indexes and _are_objects(left, right):
            # Each row keeps its own missing value, too.
            left, right = own_objects(left, right, counts, "merge")
        else:
            pair = self.plan.in_one_type(key, counts)
            left, right = with_own_objects(left, right, pair, counts)
        left_rows, right_rows = pairs.left.row_ids, pairs.right.row_ids
        (merged,) = coalesced([left], [right], left_rows, right_rows, pairs.left.layout)
        return self._in_common_dtype(key, merged)

    def _in_common_dtype(self, key: Key, column: Column) -> Column:
        """Times in the finer unit and the left zone, and bools with a mask if a side has one.

        This does not depend on the rows that match.

        An anti join keeps the dtype of its side.
        """
        if self.pairs.labels is not None:
            return column
        if column.is_bool and (key.left.column.is_of_objects or key.right.column.is_of_objects):
            return with_holes_elsewhere(column)
        if not key.left.column.type.compares_with(key.right.column.type):
            return column
        if _has_two_units(key):
            unit = finest_unit(key.left.column, key.right.column)
            column = with_unit(column, unit, self.pairs.num_rows)
        zone = self._zone(key)
        return column if column.type.zone == zone else in_zone(column, zone)

    def _position(self, label: Hashable) -> int:
        return Labels(self.labels).positions(label)[0]

    def _restored(self, index: RowIndex) -> RowIndex:
        """Moves keys that are index levels of the same name on both sides back to the index."""
        names = [
            key.name
            for key in self.plan.keys
            if key.left.is_level
            and key.right.is_level
            and key.left.label == key.right.label
            and key.name not in index.names
        ]
        if not names:
            return index
        positions = [self._position(name) for name in names]
        levels = tuple(self.columns[p] for p in positions)
        kept = [p for p in range(len(self.columns)) if p not in positions]
        self.columns = [self.columns[p] for p in kept]
        self.labels = self.labels.take(kept)
        return RowIndex(levels, tuple(names))

    def index(self, join: JoinType, named: KeyArguments) -> RowIndex:
        """pandas' row labels for a merge."""
        pairs, left, right = self.pairs, self.left._table, self.right._table
        if self.plan.on_both_indexes:
            return self._common_index(join)
        if named.left_index or named.right_index:
            # The side that is joined on its columns keeps its labels, if it has rows.
            of_left = bool(named.right_index)
            num_rows = (left if of_left else right).num_rows
            if join.keeps[of_left] and not is_traced(num_rows) and not num_rows:
                of_left = not of_left
            return taken_index(pairs.left, left) if of_left else taken_index(pairs.right, right)
        if pairs.labels is None:
            return RANGE
        return RowIndex((Column(cast_exactly(pairs.labels, label_dtype())),))

    def _common_index(self, join: JoinType) -> RowIndex:
        """pandas' row labels where the indexes of both sides are the keys."""
        pairs, left, right = self.pairs, self.left._table, self.right._table
        keys = self.plan.keys
        if self.plan.of_several is not None:
            sides = (pairs.left, left), (pairs.right, right)
            return taken_index(*sides[self.plan.of_several])
        if len(keys) == 1 and are_of_two_signs(keys[0].left.column, keys[0].right.column):
            return self._labels_of_two_signs(join)
        if join.order == 1:
            return self._labels_of(pairs.right, right)
        differ = any(_has_two_units(key) or _becomes_objects(key) for key in keys)
        # pandas finds a common dtype for labels of one level only.
        if len(keys) == 1:
            differ |= _has_two_number_dtypes(keys[0]) or _has_two_kinds(keys[0])
        if join.keeps == (True, False) or (not pairs.left.has_holes and not differ):
            labels = self._labels_of(pairs.left, left)
            if any(join.keeps) or left.index.freq == right.index.freq:
                return labels
            return _with_freq(labels, None)
        columns = [(key.left.column, key.right.column) for key in self.plan.keys]
        check_labels(columns, (left.num_rows, right.num_rows), "merge")
        levels = tuple(self._merged_label(key) for key in self.plan.keys)
        freq = common_frequency([left.index, right.index])
        return _with_freq(RowIndex(levels, left.index.names), freq)

    def _labels_of_two_signs(self, join: JoinType) -> RowIndex:
        """Row labels where one index has signed integers, and the other uint64."""
        pairs, left, right = self.pairs, self.left._table, self.right._table
        (key,) = self.plan.keys
        a, b, counts = key.left.column, key.right.column, (left.num_rows, right.num_rows)
        if join.keeps == (True, False):
            return self._labels_of(pairs.left, left)
        if is_traced(a, b, counts, pairs.num_rows):
            if join.order == 1:
                return self._labels_of(pairs.right, right)
            raise NotImplementedError(
                f"merge: inside jit labels of {a.dtype_name} and {b.dtype_name} have no common "
                "dtype. Cast the labels of one side to the dtype of the other first."
            )
        a, b = in_joined_dtype(a, b, counts, int(pairs.num_rows), join)
        (labels,) = coalesced([a], [b], pairs.left.row_ids, pairs.right.row_ids, left.layout)
        freq = common_frequency([left.index, right.index])
        return _with_freq(RowIndex((labels,), left.index.names), freq)

    def _merged_label(self, key: Key) -> Column:
        """The labels of both sides: numbers if one has numbers and the other objects that are."""
        merged = self._merged_key(key)
        if not _becomes_objects(key):
            return merged
        sides = (key.left, self.left._table), (key.right, self.right._table)
        found = [inferred_labels((of.column,), table.num_rows)[0] for of, table in sides]
        if not all(one.is_numeric and not one.is_bool for one in found):
            return merged
        return inferred_labels((merged,), self.pairs.num_rows)[0]

    def _labels_of(self, side: SideRows, table: Table) -> RowIndex:
        """The row labels of one side, where those of the result have no other zone."""
        index = _with_freq(taken_index(side, table), table.index.freq)
        if index.is_range or len(self.plan.keys) != 1:
            return index
        (key,), (level,) = self.plan.keys, index.stored
        left_type, right_type = key.left.column.type, key.right.column.type
        if not left_type.compares_with(right_type) or left_type.zone == right_type.zone:
            return index
        return RowIndex((in_zone(level, self._zone(key)),), index.names)

    def _zone(self, key: Key) -> str | None:
        """The zone of a key: of the left side, or UTC for labels of two zones.

        The levels of a pair of indexes keep the left zone unless the result has those of both.
        """
        left, right = key.left.column.type, key.right.column.type
        is_label = self.plan.on_both_indexes and left.compares_with(right)
        if not is_label or left.zone == right.zone:
            return left.zone
        has_both = len(self.plan.keys) == 1 or self.pairs.left.has_holes
        return "UTC" if has_both else left.zone

    def frame(self, index: RowIndex) -> Any:
        """Builds the frame; `index` has the row labels, but those of keys."""
        pairs, index = self.pairs, self._fill_keys(index)
        table = Table((), index, pairs.num_rows, pairs.needed, pairs.left.layout)
        if not self.columns and not index.levels:
            raise NotImplementedError("merge: the result must have a column or row labels.")
        result = self.left._make_frame(self.columns, Labels(self.labels), table)
        if self.left.attrs != self.right.attrs:
            result.attrs = {}
        return result


def _with_freq(index: RowIndex, freq: Any) -> RowIndex:
    return dataclasses.replace(index, freq=freq)


def _has_two_units(key: Key) -> bool:
    left, right = key.left.column, key.right.column
    return left.type.compares_with(right.type) and left.type.unit != right.type.unit


def _has_two_number_dtypes(key: Key) -> bool:
    left, right = key.left.column, key.right.column
    are_numbers = left.is_numeric and right.is_numeric and not (left.is_bool or right.is_bool)
    return are_numbers and (left.dtype, left.family) != (right.dtype, right.family)


def _has_two_kinds(key: Key) -> bool:
    """Whether labels are of two kinds, of strings of two families, or of other categories."""
    left, right = key.left.column, key.right.column
    if left.kind == right.kind == "category":
        return left.type != right.type
    are_strings = left.kind == right.kind == "string"
    return left.kind != right.kind or (are_strings and left.family != right.family)


def _are_objects(left: Column, right: Column) -> bool:
    """Whether the values of two columns are objects in one column, other than bools with a mask."""
    if all(one.is_bool and not one.is_nullable for one in (left, right)):
        return False
    has_objects = "object" in (left.kind, right.kind) or left.is_of_objects != right.is_of_objects
    return has_objects or are_bools_beside_numbers(left, right)


def _becomes_objects(key: Key) -> bool:
    pair = key.left.column, key.right.column
    return become_objects(*pair) or are_bools_beside_numbers(*pair)


@tiered
def _origin(left_rows: Array, right_rows: Array) -> Array:
    codes = jnp.where(right_rows < 0, np.int32(0), np.int32(2))
    return jnp.where(left_rows < 0, np.int32(1), codes)


def taken_index(side: SideRows, table: Table) -> RowIndex:
    """The row labels of one side; missing for absent rows."""
    index = table.index
    if side.presence == "same" and index.is_range:
        return index
    if index.is_range and not side.has_holes:
        return moved_index(index, (), side.row_ids)
    orders = index.orders if side.presence == "same" else ()
    return RowIndex(side.take(table.index_columns()), index.names, orders=orders)
