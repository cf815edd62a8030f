# SPDX-License-Identifier: Apache-2.0
"""Concatenates rows: converts columns to common types, and packs the valid rows."""

import functools
from collections.abc import Hashable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ... import primitives
from ...primitives.staging import tiered
from ...shardings._compat import is_x64_enabled
from ..align._common_types import common_pair, same_categories
from ..table._column import (
    NAT,
    Array,
    Column,
    common_family,
    in_dtype,
    of_family,
    plain,
    show_holes,
)
from ..table._count_types import in_one_label
from ..table._dtypes import cast_exactly, narrowed, wide
from ..table._from_host import check_width, column_from
from ..table._host_column import host_column, rows_on_host
from ..table._join_lists import joined_lists, share_lists, with_one_form
from ..table._layout import Layout, padded
from ..table._lists import ListColumn
from ..table._object_functions import as_objects, joined_objects
from ..table._recode import category_values, has_strings, recoded
from ..table._table import NO_ROWS, Count, Table, as_count
from ..table._take import (
    moved_columns,
    position,
    repeated,
    settled,
    stored_arrays,
    take_columns,
)
from ..table._tracing import is_in_jit
from ..table._unencoded import joined_strings
from ..table._units import finest_unit, with_units


def common_columns(
    columns: Sequence[Column],
    name: Hashable,
    counts: Sequence[Count],
    *,
    of_frames: bool = True,
) -> tuple[Column, ...]:
    """Converts columns, given their numbers of rows, to pandas' common type.

    In frames bools mix with integers, and with floats that come first.
    """
    first = columns[0]
    if all(_is_of_same_type(column, first) for column in columns):
        return tuple(columns)
    kinds = {column.kind for column in columns}
    family = common_family(columns)
    if family is not None and len({column.is_bool for column in columns}) > 1:
        return _objects(columns, name, counts)
    if family is not None and (len(kinds) == 1 or kinds == {"string", "category"}):
        columns = tuple(map(plain, columns))
        common = common_columns(columns, name, counts, of_frames=False)
        return tuple(of_family(column, family) for column in common)
    if kinds == {"number"}:
        return _common_numbers(columns, name, of_frames, counts)
    if kinds == {"category"} and all(same_categories(first, column) for column in columns):
        others = zip(columns[1:], counts[1:], strict=True)
        pairs = (common_pair(first, one, name, (counts[0], count)) for one, count in others)
        return (first, *(other for _, other in pairs))
    if kinds == {"string"} and any(column.stored is not column for column in columns):
        return joined_strings(columns)
    if kinds <= {"string", "category"} and all(map(has_strings, columns)):
        return recoded(columns)
    if "category" in kinds:
        return _of_category_values(columns, name, counts)
    if all(isinstance(column, ListColumn) for column in columns):
        return _common_lists(columns, name, counts)
    labelled = in_one_label(columns, counts)
    if labelled is not None:
        return labelled
    if len(kinds) == 1 and first.type.is_time and len({c.type.zone for c in columns}) == 1:
        return with_units(columns, finest_unit(*columns), counts)
    return _objects(columns, name, counts)


def _is_of_same_type(column: Column, other: Column) -> bool:
    """Whether columns of plain numbers, times or codes of one dictionary go together as they are.

    They have the same object for a type.
    """
    return (
        # Strings are not encoded for this.
        column.stored is column
        and column.type is other.type
        and column.kind in ("number", "string", "datetime", "timedelta")
        and column.family is None
        and column.valid is None
        and column.dtype == other.dtype
    )


def _objects(
    columns: Sequence[Column], name: Hashable, counts: Sequence[Count]
) -> tuple[Column, ...]:
    """Columns of several types as Python objects."""
    caller = f"concat: column {name!r} would hold objects of several types"
    sides = zip(columns, counts, strict=True)
    return joined_objects([as_objects(column, count, caller) for column, count in sides])


def _of_category_values(
    columns: Sequence[Column], name: Hashable, counts: Sequence[Count]
) -> tuple[Column, ...]:
    """Columns of categories and others, in the common type of their values."""
    values = [
        category_values(column) if column.kind == "category" else column for column in columns
    ]
    found = [column for column in values if column is not None]
    if len(found) < len(values) or len({(column.kind, column.is_bool) for column in found}) > 1:
        # Categories of times are missing as NaT, others as NaN.
        sides = zip(values, columns, strict=True)
        columns = [one if one is not None and one.type.is_time else own for one, own in sides]
        return _objects(columns, name, counts)
    if common_family(found) is None:
        found = [settled(column, count) for column, count in zip(found, counts, strict=True)]
    return common_columns(found, name, counts, of_frames=False)


def _common_lists(
    columns: Sequence[Any], name: Hashable, counts: Sequence[Count]
) -> tuple[Column, ...]:
    """One set of lists for all columns; objects if the values have no common type."""
    if share_lists(columns):
        return with_one_form(columns)
    values = [column.lists.values for column in columns]
    if len({(value.kind, value.is_bool) for value in values}) > 1:
        return _objects(columns, name, counts)
    capacities = [np.int32(value.capacity) for value in values]
    return joined_lists(columns, common_columns(values, name, capacities, of_frames=False))


def _common_numbers(
    columns: Sequence[Column], name: Hashable, of_frames: bool, counts: Sequence[Count]
) -> tuple[Column, ...]:
    are_bools = {column.is_bool for column in columns}
    # In frames the first dtype may be any: pandas appends what mixes with it as NumPy does.
    mix = of_frames and all(
        not column.is_of_objects
        and (column.dtype.kind in "biu" or column.dtype == columns[0].dtype)
        for column in columns
    )
    if len(are_bools) > 1 and not mix:
        return _objects(columns, name, counts)
    dtype = np.result_type(*(column.dtype for column in columns))
    dtype = wide(dtype) if jnp.issubdtype(dtype, jnp.inexact) else dtype
    if any(column.dtype != dtype for column in columns):
        check_width(dtype, name)
    return in_dtype(columns, dtype)


def missing_like(column: Column, capacity: int, layout: Layout) -> Column:
    """A column of the same type with only missing values."""
    if column.is_numeric and not column.is_float:
        if column.is_nullable or column.is_bool or not is_x64_enabled():
            valid = layout.constrain(repeated(np.bool_(False), capacity))
            return Column(cast_exactly(valid, column.dtype), valid, column.type)
        column = Column(jnp.zeros(0, jnp.float64))
    missing = np.nan if column.is_numeric else NAT if column.stored.type.is_counted else -1
    fill = np.asarray(missing).astype(column.dtype)
    return column.moved((layout.constrain(repeated(fill, capacity)), None))


def common_or_missing(
    columns: Sequence[Column | None],
    name: Hashable,
    tables: Sequence[Table],
    *,
    of_frames: bool = True,
) -> tuple[Column, ...]:
    """`common_columns` of the columns, with missing values in the tables that have none."""
    present = [column for column in columns if column is not None]
    sides = zip(columns, tables, strict=True)
    counts = [table.num_rows for column, table in sides if column is not None]
    if len(present) < len(columns):
        present = [
            show_holes(column)
            if column.can_miss
            else show_holes(column.with_arrays((column.data, column.mask())))
            for column in present
        ]
    present = common_columns(present, name, counts, of_frames=of_frames)
    remaining = iter(present)
    return tuple(
        missing_like(present[0], table.capacity, table.layout)
        if column is None
        else next(remaining)
        for table, column in zip(tables, columns, strict=True)
    )


def labels_at(labels: pd.Index, positions: Array, layout: Layout) -> Column:
    """Takes labels of the host by position."""
    capacity = layout.divisible(max(len(labels), 1))
    (column,) = take_columns([column_from(narrowed(labels), capacity, layout)], positions, layout)
    return column


def pack_rows(pieces: Sequence[tuple[Column, ...]], tables: Sequence[Table]) -> Table:
    """Concatenates the rows of tables, without labels; `pieces` are columns of common types."""
    layout = tables[0].layout
    capacities = tuple(table.capacity for table in tables)
    limit = layout.divisible(sum(capacities))
    in_jit = is_in_jit([(table.num_rows, table.needed) for table in tables])
    if in_jit:
        counts = tuple(table.num_rows for table in tables)
        num_rows = sum(counts[1:], start=counts[0])
        needed = functools.reduce(jnp.maximum, [table.needed for table in tables])
    else:
        counts = tuple(as_count(table.num_rows_on_host) for table in tables)
        num_rows, needed = as_count(sum(map(int, counts))), NO_ROWS
    capacity = limit if in_jit else min(layout.capacity_for(int(num_rows)), limit)
    if not in_jit and layout.mesh is None:
        few = _packed_on_host(pieces, list(map(int, counts)), capacity)
        if few is not None:
            return Table(few, num_rows=num_rows, layout=layout)
    arrays = [stored_arrays(columns) for columns in pieces]
    packed = _pack(arrays, counts, capacity, layout) if arrays[0] else ()
    columns = moved_columns(pieces[0], packed)
    return Table(columns, num_rows=num_rows, needed=needed, layout=layout)


def _packed_on_host(
    pieces: Sequence[tuple[Column, ...]], counts: Sequence[int], capacity: int
) -> tuple[Column, ...] | None:
    """The rows of few, one piece after the other, on the host; None if it cannot."""
    rows = rows_on_host([column for columns in pieces for column in columns], capacity)
    if rows is None:
        return None
    num_columns = len(pieces[0])
    packed = []
    for at, column in enumerate(pieces[0]):
        data, valid = zip(*rows[at::num_columns], strict=True)
        if any((mask is None) is not (valid[0] is None) for mask in valid):
            return None
        joined = _joined(data, counts, capacity), _joined(valid, counts, capacity)
        packed.append(host_column(column, joined))
    return tuple(packed)


def _joined(pieces: Sequence[np.ndarray | None], counts: Sequence[int], capacity: int) -> Any:
    """The first rows of arrays, one after the other, padded to a capacity; None for no arrays."""
    if pieces[0] is None:
        return None
    rows: Any = zip(pieces, counts, strict=True)
    return padded(np.concatenate([piece[:count] for piece, count in rows]), capacity)


@functools.partial(tiered, static_argnums=(2, 3))
def _pack(pieces: list[object], counts: tuple[Count, ...], capacity: int, layout: Layout) -> Any:
    return primitives.concatenate(pieces, counts, capacity=capacity, **layout.on_mesh).rows


@functools.partial(tiered, static_argnums=(1, 2))
def piece_of_rows(counts: tuple[Count, ...], capacity: int, layout: Layout) -> Array:
    """For each concatenated row, the position of its table."""
    row_ids = position(capacity, layout)
    piece, stop = layout.constrain(jnp.zeros(capacity, jnp.int32)), NO_ROWS
    for count in counts[:-1]:
        stop = stop + count
        piece = piece + (row_ids >= stop).astype(jnp.int32)
    return piece
