# SPDX-License-Identifier: Apache-2.0
"""Frames and series beside each other, by the labels of their rows."""

from collections.abc import Hashable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd

from ..align._align import same_labels
from ..align._common_types import common_pair, join_keys
from ..table._column import Array, Column
from ..table._column_labels import Labels
from ..table._ndframe import FrameBase
from ..table._row_index import RowIndex
from ..table._sort import sort_rows
from ..table._table import Count, Table, as_count, either_needed, is_row
from ..table._take import take_columns
from ..table._tracing import is_in_jit
from ._concat_rows import pack_rows
from ._pair_rows import pair_rows
from ._row_pairs import SideRows
from ._validate import are_distinct


def beside(
    parts: Sequence[Any],
    join: str,
    sort: bool,
    ignore_index: bool,
    key_index: pd.Index | None,
    names: Sequence[Hashable] | None,
) -> Any:
    """One frame of the columns of all parts, aligned by labels."""
    labels = _labels(parts, ignore_index, key_index, names)
    table = parts[0]._table
    for part in parts[1:]:
        table = _with(table, part._table, join, sort)
    return parts[0]._make_frame(table.columns, labels, table)


def _labels(
    parts: Sequence[Any],
    ignore_index: bool,
    key_index: pd.Index | None,
    names: Sequence[Hashable] | None,
) -> Labels:
    # pandas finds the labels of parts without rows.
    shells: list[Any] = [
        pd.DataFrame(columns=part._labels.index)
        if isinstance(part, FrameBase)
        else pd.Series([], name=part._name, dtype=np.float64)
        for part in parts
    ]
    keys = None if key_index is None else list(key_index)
    shell = pd.concat(shells, axis=1, ignore_index=ignore_index, keys=keys, names=names)  # pyright: ignore
    return Labels(shell.columns)


def _with(left: Table, right: Table, join: str, sort: bool) -> Table:
    if same_labels(left, right):
        whole = left.replace(needed=either_needed(left.needed, right.needed))
        return whole.with_columns((*left.columns, *right.columns))
    left_levels, right_levels = left.index_columns(), right.index_columns()
    if is_in_jit(left.num_rows, right.num_rows, left_levels, right_levels):
        raise NotImplementedError(
            "concat: inside jit parts that stand beside each other must have the same labels. "
            "Use merge() with capacity=."
        )
    if len(left_levels) != len(right_levels):
        raise NotImplementedError(
            "concat: labels of rows must have as many levels in each part. Use reset_index()."
        )
    pairs = [common_pair(a, b, "index") for a, b in zip(left_levels, right_levels, strict=True)]
    left_keys = tuple(key for a, _ in pairs for key in join_keys(a))
    right_keys = tuple(key for _, b in pairs for key in join_keys(b))
    same_name = left.index.names == right.index.names
    names = left.index.names if same_name else (None,) * len(pairs)
    _check_distinct(left, left_keys)
    _check_distinct(right, right_keys)
    how = "inner" if join == "inner" else "left"
    in_order = sort and how == "inner"
    matched = pair_rows(left, right, left_keys, right_keys, how, sort=in_order)
    left_columns = matched.left.take([*left.columns, *(a for a, _ in pairs)])
    table = Table((), num_rows=matched.num_rows, layout=left.layout)
    if join == "inner":
        columns = (*left_columns, *matched.right.take(right.columns))
        return _indexed(table.with_columns(columns), len(pairs), len(left.columns), names)
    return _outer(left, right, pairs, (left_keys, right_keys), matched, names, sort)


def _check_distinct(table: Table, keys: Any) -> None:
    if not are_distinct(keys, table):
        raise pd.errors.InvalidIndexError(
            "Reindexing only valid with uniquely valued Index objects"
        )


def _indexed(table: Table, num_levels: int, at: int, names: tuple[Hashable, ...]) -> Table:
    """A table whose columns from `at` on are the levels of its index."""
    levels = table.columns[at : at + num_levels]
    columns = (*table.columns[:at], *table.columns[at + num_levels :])
    return table.replace(columns=columns, index=RowIndex(levels, names))


def _outer(
    left: Table,
    right: Table,
    pairs: Sequence[tuple[Column, Column]],
    keys: tuple[Any, Any],
    matched: Any,
    names: tuple[Hashable, ...],
    sort: bool,
) -> Table:
    """The rows of the left side, and behind them those of the right side without a match."""
    alone = pair_rows(left, right, *keys, "right_anti")
    layout = left.layout
    of_left = Table(
        (Column(matched.left.row_ids), Column(matched.right.row_ids)),
        num_rows=matched.num_rows,
        layout=layout,
    )
    of_right = Table(
        (Column(_nowhere(alone.right.row_ids)), Column(alone.right.row_ids)),
        num_rows=alone.num_rows,
        layout=layout,
    )
    tables = (of_left, of_right)
    rows = pack_rows([table.columns for table in tables], tables)
    left_rows, right_rows = (column.data for column in rows.columns)
    sides = [
        SideRows(row_ids, _found(row_ids, rows.num_rows), layout)
        for row_ids in (left_rows, right_rows)
    ]
    columns = (*sides[0].take(left.columns), *sides[1].take(right.columns))
    levels = []
    for a, b in pairs:
        (x,) = take_columns([a], left_rows, layout)
        (y,) = take_columns([b], right_rows, layout)
        levels.append(x.with_arrays(_either(left_rows, x.arrays, y.arrays)))
    table = Table(columns, RowIndex(tuple(levels), names), rows.num_rows, layout=layout)
    are_ranges = left.index.is_range and right.index.is_range
    if sort or are_ranges:
        order = [(key, False) for level in levels for key in join_keys(level)]
        return sort_rows(table, order)
    return table


def _found(row_ids: Array, num_rows: Count) -> Any:
    return "some" if bool(_any_hole(row_ids, as_count(int(num_rows)))) else "all"


@jax.jit
def _any_hole(row_ids: Array, num_rows: Count) -> Array:
    return jnp.any((row_ids < 0) & is_row(row_ids.shape[0], num_rows))


@jax.jit
def _nowhere(row_ids: Array) -> Array:
    return jnp.full_like(row_ids, -1)


@jax.jit
def _either(left_rows: Array, left: Any, right: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(left_rows < 0, b, a), left, right)
