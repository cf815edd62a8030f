# SPDX-License-Identifier: Apache-2.0
"""Aligns the rows of two tables by label."""

import functools
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ..table._column import Array, Column, in_dtype
from ..table._column_labels import Labels
from ..table._from_host import check_width
from ..table._layout import Layout
from ..table._ndframe import SeriesBase
from ..table._object_functions import host_series
from ..table._recode import category_values, has_strings, recoded
from ..table._sort_keys import group_keys
from ..table._table import Count, Table, check_same_layout, is_row
from ..table._take import position, repeated, resized, settled, take_columns
from ..table._tracing import answered_at_once, at_once, is_traced
from ..table._units import in_one_zone
from ._common_types import in_one_encoding, keys_of_sides
from ._number_keys import number_keys
from ._object_keys import common_objects


def same_labels(a: Table, b: Table) -> bool:
    """Whether two tables have equal labels in the same order.

    Traced labels are the same only if they are the same array.
    """
    is_one = a.index is b.index and a.num_rows is b.num_rows and a.layout is b.layout
    if is_one and type(a.num_rows) is np.int32:
        # Columns of one frame, whose length the host knows.
        return True
    if a.layout != b.layout or (a.capacity != b.capacity and is_traced(a.num_rows, b.num_rows)):
        return False
    if a.num_rows is not b.num_rows and (
        is_traced(a.num_rows, b.num_rows) or a.num_rows_on_host != b.num_rows_on_host
    ):
        return False
    if a.index.is_range and b.index.is_range:
        return a.index.is_same_range(b.index)
    if a.index.num_levels != b.index.num_levels:
        return False
    if a.index.has_positions and b.index.has_positions and a.index.is_same_range(b.index):
        (x,), (y,) = a.index.stored, b.index.stored
        return _same_values(x, y, a.num_rows)
    a_levels, b_levels = a.index_columns(), b.index_columns()
    return all(_same_values(x, y, a.num_rows) for x, y in zip(a_levels, b_levels, strict=True))


@answered_at_once
def _same_values(a: Column, b: Column, num_rows: Count) -> bool:
    if a is b or a.stored is b.stored:
        return True
    if a.stored.data is b.stored.data and a.stored.type == b.stored.type:
        return True
    if is_traced(a, b, num_rows):
        return False
    if "object" in (a.kind, b.kind):
        x, y = (host_series(column, num_rows) for column in (a, b))
        return bool(pd.Index(x).equals(pd.Index(y)))
    if _are_numbers_of_two_dtypes(a, b):
        keys = number_keys(a, b)
        if keys is None:
            x, y = in_dtype([a, b], np.result_type(a.dtype, b.dtype))
            keys = group_keys(x), group_keys(y)
        return a.capacity == b.capacity and bool(_equal(*keys, num_rows))
    if a.kind == b.kind == "string" and a.type != b.type:
        a, b = recoded([a, b])
    if a.dtype != b.dtype or a.type != b.type or a.data.shape != b.data.shape:
        return False
    if (a.valid is None) is not (b.valid is None):
        a, b = (column.with_arrays((column.data, column.mask())) for column in (a, b))
    return bool(_equal(group_keys(a), group_keys(b), num_rows))


def _are_numbers_of_two_dtypes(a: Column, b: Column) -> bool:
    are_plain = all(one.is_numeric and not one.is_nullable for one in (a, b))
    return are_plain and a.dtype != b.dtype and a.valid is None and b.valid is None


def are_bools_beside_numbers(a: Column, b: Column) -> bool:
    """Whether labels are bools on one side and numbers on the other."""
    return a.is_numeric and b.is_numeric and a.is_bool != b.is_bool


@tiered
def _equal(a: Any, b: Any, num_rows: Count) -> Array:
    valid = is_row(a[0].shape[0], num_rows)
    equal = jnp.ones((), jnp.bool_)
    for x, y in zip(a, b, strict=True):
        same = x == y
        if jnp.issubdtype(x.dtype, jnp.inexact):
            same = same | (jnp.isnan(x) & jnp.isnan(y))
        equal = equal & jnp.all(same | ~valid)
    return equal


def in_capacity_of(table: Table, like: Table) -> Table:
    """A table in the capacity of another one with as many rows; others as they are.

    Frames of equally many rows differ in it: a batch has the capacity of all batches, and a result
    of `jit` that of its program.
    """
    if table.capacity == like.capacity or table.layout != like.layout:
        return table
    counts = table.num_rows, like.num_rows
    if is_traced(counts) or table.num_rows_on_host != like.num_rows_on_host:
        return table
    capacity, layout = like.capacity, like.layout
    index = table.index.with_stored(resized(table.index.stored, capacity, layout))
    return table.replace(columns=resized(table.columns, capacity, layout), index=index)


def aligned_column(series: SeriesBase, table: Table) -> Column:
    """Aligns a series with the rows of a table by label; absent labels give missing values.

    Raises:
        ValueError: the labels differ and those of the series are not unique.
        NotImplementedError: the labels differ inside `jit`.
    """
    rows = in_capacity_of(series._table, table)
    if same_labels(rows, table):
        return rows.columns[0]
    if is_traced(series._table.index, series._table.num_rows, table.index, table.num_rows):
        raise NotImplementedError(
            "alignment: inside jit the labels of two series must be the same array, as for two "
            "columns of a frame. Use merge(), or select rows after calculating."
        )
    row_ids = at_once(positions_of_labels, table, series._table)
    (column,) = take_columns([series._only], row_ids, table.layout, holes=True)
    return settled(column, table.num_rows)


def repeats_labels(series: SeriesBase) -> bool:
    """Whether two rows of a series have one label; False inside `jit`, where nothing is known."""
    table = series._table
    if table.index.is_range or is_traced(table.index, table.num_rows):
        return False
    of: Any = series
    levels = table.index_columns()
    rows = of._make_frame(levels, Labels.of(list(range(len(levels)))))
    return bool(rows.duplicated().any())


def positions_of_labels(target: Table, table: Table) -> Array:
    """Positions in `table` of the labels of `target`; -1 for absent labels."""
    levels = _level_pairs(target.index_columns(), table.index_columns())
    if any(are_bools_beside_numbers(*pair) for pair in levels):
        # No number is a label of bools, but pandas leaves rows alone whose labels are all equal.
        if same_labels(target, table):
            return position(target.capacity, target.layout)
        return target.layout.constrain(repeated(np.int32(-1), target.capacity))
    counts = target.num_rows, table.num_rows
    pairs = [comparable_pair(a, b, counts) for a, b in levels]
    left, right = keys_of_sides(levels, pairs, group_keys)
    check_same_layout("alignment", target, table)
    row_ids, is_distinct = _positions(left, right, target.num_rows, table.num_rows, target.layout)
    if not bool(is_distinct):
        raise ValueError("cannot reindex on an axis with duplicate labels")
    return row_ids


@functools.partial(tiered, static_argnums=4)
def _positions(
    left: Any, right: Any, num_left: Count, num_right: Count, layout: Layout
) -> tuple[Array, Array]:
    capacity = left[0].shape[0]
    num_valid = (num_left, num_right)
    joined = primitives.join(
        left, right, how="left", capacity=capacity, num_valid=num_valid, **layout.on_mesh
    )
    groups = primitives.factorize(
        right, capacity=right[0].shape[0], num_valid=num_right, **layout.on_mesh
    )
    return joined.right_rows, groups.count == num_right


def comparable_pair(a: Column, b: Column, counts: tuple[Count, Count]) -> tuple[Column, Column]:
    """Converts two columns of labels, given their numbers of rows, to one type and dictionary.

    Labels of kinds that do not compare become objects, as in pandas.
    """
    if a.kind == "category" and b.kind == "category" and a.type == b.type:
        return a, b
    if "category" in (a.kind, b.kind) and not (has_strings(a) and has_strings(b)):
        a, b = (_values_of_labels(one, count) for one, count in zip((a, b), counts, strict=True))
        if "category" in (a.kind, b.kind):
            return common_objects(a, b, "index", counts, are_labels=True)
    pair = in_one_encoding(a, b, counts)
    if pair is not None:
        a, b = in_one_zone(pair)
        return a, b
    if a.kind != "number" or b.kind != "number" or are_bools_beside_numbers(a, b):
        return common_objects(a, b, "index", counts, are_labels=True)
    dtype = np.result_type(a.dtype, b.dtype)
    if a.dtype != b.dtype:
        check_width(dtype, "index")
    a, b = in_dtype([a, b], dtype)
    return a, b


def _values_of_labels(column: Column, num_rows: Count) -> Column:
    """Categories as values, unless these are of a dtype that no column has."""
    values = category_values(column) if column.kind == "category" else column
    return column if values is None else settled(values, num_rows)


def labels_of_sides(left: Table, right: Table) -> list[tuple[Column, Column]]:
    """The columns of the labels of two tables, level by level.

    As in pandas, a range or objects without a label get the dtype of the labels of the other table.
    """
    a, b = left.index_columns(), right.index_columns()
    if len(a) == len(b) == 1:
        if _is_untyped(left):
            a = resized(b, a[0].capacity, left.layout)
        elif _is_untyped(right):
            b = resized(a, b[0].capacity, right.layout)
    return _level_pairs(a, b)


def _level_pairs(a: Sequence[Column], b: Sequence[Column]) -> list[tuple[Column, Column]]:
    if len(a) != len(b):
        raise NotImplementedError(
            f"alignment: row labels must have equally many levels, got {len(a)} and {len(b)}. Use "
            "reset_index() and merge()."
        )
    return list(zip(a, b, strict=True))


def _is_untyped(table: Table) -> bool:
    """Whether a table has no labels, and an index that pandas makes for none."""
    if is_traced(table.num_rows) or table.num_rows_on_host:
        return False
    return table.index.is_range or table.index_columns()[0].kind == "object"
