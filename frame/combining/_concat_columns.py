# SPDX-License-Identifier: Apache-2.0
"""Concatenation along columns, aligned by row labels."""

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..align._align import (
    are_bools_beside_numbers,
    comparable_pair,
    in_capacity_of,
    labels_of_sides,
    same_labels,
)
from ..align._common_types import keys_of_sides
from ..align._join_types import LEFT, RIGHT_ANTI, JoinType
from ..align._number_keys import are_of_two_signs, check_labels, objects_of_two_signs
from ..align._object_keys import with_own_objects
from ..table._column import Column
from ..table._column_labels import Labels, frame_of_labels
from ..table._ndframe import FrameBase
from ..table._object_functions import inferred_labels
from ..table._objects import has_order, hashed
from ..table._row_index import RowIndex, common_frequency
from ..table._sort import sort_rows
from ..table._sort_keys import group_keys
from ..table._table import Table, either_needed
from ..table._take import any_missing, coalesced
from ..table._tracing import is_in_jit
from ..table._untyped import untyped_pandas
from ._concat_rows import pack_rows
from ._row_pairs import SideRows, are_distinct, pair_rows


class Options(NamedTuple):
    """The arguments of `concat` for the labels of the result; `keys` as an index.

    `infers`: whether labels that are objects get the dtype that pandas infers from them.
    """

    join: JoinType
    sort: bool | None
    ignore_index: bool
    keys: pd.Index | None
    names: Sequence[Hashable] | None
    infers: bool = True


def along_columns(parts: Sequence[Any], options: Options) -> Any:
    """Combines the columns of all parts in one frame, aligned by label."""
    join, sort, ignore_index, keys, names, _ = options
    # Let pandas combine the labels, using parts without rows.
    shells: list[Any] = [
        frame_of_labels(part._labels.index)
        if isinstance(part, FrameBase)
        else pd.Series([], name=part._name, dtype=np.float64)
        for part in parts
    ]
    shell = untyped_pandas.concat(shells, axis=1, ignore_index=ignore_index, keys=keys, names=names)
    table = parts[0]._table
    for part in parts[1:]:
        table = _with(table, part._table, join, sort)
    if sort and table.index is parts[0]._table.index:
        table = _sorted_by_labels(table)
    return parts[0]._make_frame(table.columns, Labels(shell.columns), table)


def _sorted_by_labels(table: Table) -> Table:
    """The rows in the order of their labels, unless these are objects without one."""
    if table.index.is_range and table.index.step > 0:
        return table
    levels = [hashed(level, table.num_rows) for level in table.index_columns()]
    if not all(map(has_order, levels)):
        return table
    return sort_rows(table, [(key, False) for level in levels for key in group_keys(level)])


def _with(left: Table, right: Table, join: JoinType, sort: bool | None) -> Table:
    right = in_capacity_of(right, left)
    if same_labels(left, right):
        columns = (*left.columns, *right.columns)
        return left.replace(columns=columns, needed=either_needed(left.needed, right.needed))
    left_levels, right_levels = left.index_columns(), right.index_columns()
    if is_in_jit(left.num_rows, right.num_rows, left_levels, right_levels):
        raise NotImplementedError(
            "concat: inside jit parts must have the same row labels for axis=1. "
            "Use merge() with capacity=."
        )
    if len(left_levels) != len(right_levels):
        raise NotImplementedError(
            "concat: row labels must have equally many levels in each part. Use reset_index()."
        )
    are_appended = _are_appended(left, right)
    levels = (
        list(zip(left_levels, right_levels, strict=True))
        if are_appended
        else labels_of_sides(left, right)
    )
    if any(are_bools_beside_numbers(a, b) for a, b in levels):
        raise NotImplementedError(
            "concat: row labels must not be bools in one part and numbers in another. Cast the "
            "labels of one part first."
        )
    counts = left.num_rows, right.num_rows
    pairs = [comparable_pair(a, b, counts) for a, b in levels]
    of_two_signs = len(levels) == 1 and are_of_two_signs(*levels[0])
    if len(pairs) == 1 and pairs[0][0].kind == "datetime" and pairs[0][0].family != "arrow":
        sort = sort or (sort is None and any(join.keeps))
    keys = keys_of_sides(levels, pairs, group_keys)
    same_name = left.index.names == right.index.names
    names = left.index.names if same_name else (None,) * len(pairs)
    freq = common_frequency([left.index, right.index])
    if not (are_distinct(keys[0], left) and are_distinct(keys[1], right)):
        raise pd.errors.InvalidIndexError(
            "Reindexing only valid with uniquely valued Index objects"
        )
    if of_two_signs and (not any(join.keeps) or left.index.is_range or right.index.is_range):
        own = [objects_of_two_signs(*levels[0], counts)]
    else:
        if any(join.keeps):
            check_labels(levels, counts, "concat")
        if are_appended and len(levels) == 1:
            # pandas infers a dtype of the appended labels alone first.
            (appended,) = inferred_labels((levels[0][1],), counts[1], keeps_none=False)
            levels = [(levels[0][0], appended)]
        sides = zip(levels, pairs, strict=True)
        own = [with_own_objects(*level, pair, counts) for level, pair in sides]
    if not any(join.keeps):
        matched = pair_rows(left, right, keys, join, sort=bool(sort))
        columns = (*matched.left.take(left.columns), *matched.right.take(right.columns))
        index = RowIndex(matched.left.take([a for a, _ in own]), names, freq=freq)
        return Table(columns, index, matched.num_rows, layout=left.layout)
    # The left rows, followed by the right rows without a match.
    of_left, of_right = (pair_rows(left, right, keys, one) for one in (LEFT, RIGHT_ANTI))
    tables = [
        Table(
            (Column(matched.left.row_ids), Column(matched.right.row_ids)),
            num_rows=matched.num_rows,
            layout=left.layout,
        )
        for matched in (of_left, of_right)
    ]
    row_ids = pack_rows([table.columns for table in tables], tables)
    sides = []
    for column in row_ids.columns:
        presence = "some" if any_missing(column.data >= 0, row_ids.num_rows) else "all"
        sides.append(SideRows(column.data, presence, left.layout))
    columns = (*sides[0].take(left.columns), *sides[1].take(right.columns))
    labels = _coalesced(own, sides)
    if len(labels) == 1 and are_appended and int(of_right.num_rows):
        labels = inferred_labels(labels, row_ids.num_rows, keeps_none=False)
    index = RowIndex(labels, names, freq=freq)
    table = Table(columns, index, row_ids.num_rows, layout=left.layout)
    are_ranges = left.index.is_range and right.index.is_range
    if not sort and not are_ranges:
        return table
    sorted_by = _coalesced(pairs, sides)
    return sort_rows(table, [(key, False) for level in sorted_by for key in group_keys(level)])


def _coalesced(pairs: Any, sides: Sequence[SideRows]) -> tuple[Column, ...]:
    """The labels of the left side, and of the right one in rows without a left row."""
    lefts, rights = zip(*pairs, strict=True)
    return coalesced(lefts, rights, sides[0].row_ids, sides[1].row_ids, sides[0].layout)


def _are_appended(left: Table, right: Table) -> bool:
    """Whether pandas appends labels and infers a dtype, and does not take the union of indexes."""
    kinds = {"number", "string", "object"}
    return not any(
        table.index.is_range or table.index_columns()[0].kind not in kinds
        for table in (left, right)
    )
