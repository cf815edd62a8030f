# SPDX-License-Identifier: Apache-2.0
"""Converts the key columns of two sides to common types."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ...primitives.staging import tiered
from ..table._column import NAT, Array, Column, in_dtype
from ..table._count_types import in_one_label
from ..table._dictionary import unify
from ..table._from_host import check_width
from ..table._recode import recoded, renumbered, unencoded
from ..table._sort_keys import group_keys
from ..table._table import Count
from ..table._units import finest_unit, is_past, units_per, with_units
from ._number_keys import number_keys
from ._object_keys import common_objects

# Kinds of columns that pandas joins with no other one.
_KINDS_APART = {"datetime", "timedelta", "period"}


def common_pair(
    left: Column,
    right: Column,
    name: Hashable,
    counts: tuple[Count, Count],
    *,
    one_is_empty: bool = False,
) -> tuple[Column, Column]:
    """Converts two key columns to one type, dictionary and dtype.

    `counts` are the numbers of rows of the sides. `one_is_empty` tells whether exactly one side has
    no rows: pandas then joins any types.

    Raises:
        OutOfBoundsDatetime, OutOfBoundsTimedelta: a time is past the range of the finer unit.
        NotImplementedError: bools with numbers, complex numbers with real ones, or kinds that
            pandas compares as objects.
        ValueError: kinds that pandas does not compare.
    """
    if "object" in (left.kind, right.kind) and not one_is_empty:
        return common_objects(left, right, name, counts)
    if left.is_numeric and right.is_numeric:
        return _common_numbers(left, right, name)
    if same_categories(left, right):
        if left.type != right.type:
            codes = left.dictionary.values.get_indexer(right.dictionary.values).astype(np.int32)
            right = Column(renumbered(right.data, codes), None, left.type)
        return left, right
    pair = in_one_encoding(left, right, counts)
    if pair is not None:
        return pair
    if one_is_empty:
        return left, right
    if _compare_as_objects(left, right):
        raise NotImplementedError(
            f"merge: key {name!r} must be of one kind in both frames, got {left.dtype_name} and "
            f"{right.dtype_name}, which pandas compares as objects. Convert both with "
            "astype(object)."
        )
    raise ValueError(
        f"You are trying to merge on {left.dtype_name} and {right.dtype_name} columns "
        f"for key '{name}'. If you wish to proceed you should use pd.concat"
    )


def _compare_as_objects(left: Column, right: Column) -> bool:
    """Whether pandas joins columns of two kinds, by their values as Python objects."""
    kinds = {left.kind, right.kind}
    if kinds & _KINDS_APART:
        has_zone = left.type.zone is not None or right.type.zone is not None
        return kinds <= _KINDS_APART and "period" in kinds and not has_zone
    return kinds != {"number", "string"} or left.is_bool or right.is_bool


def in_one_encoding(
    left: Column, right: Column, counts: tuple[Count, Count]
) -> tuple[Column, Column] | None:
    """Strings, labelled counts or times of two columns in one dictionary, label or unit.

    None for columns of other kinds, or of several.
    """
    if {left.kind, right.kind} <= {"string", "category"}:
        left, right = recoded([left, right])
        return left, right
    labelled = in_one_label((left, right), counts)
    if labelled is None and left.type.compares_with(right.type):
        labelled = with_units((left, right), finest_unit(left, right), counts)
    if labelled is None:
        return None
    left, right = labelled
    return left, right


def keys_of_sides(
    levels: Sequence[tuple[Column, Column]],
    pairs: Sequence[tuple[Column, Column]],
    as_keys: Callable[[Column], tuple[Array, ...]],
) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """The keys of the left and of the right columns.

    `pairs` are the columns of `levels` in their common types; numbers that these would round have
    keys of their own.
    """
    left: list[Array] = []
    right: list[Array] = []
    for (a, b), (x, y) in zip(levels, pairs, strict=True):
        keys = None if a.dtype == b.dtype else number_keys(a, b)
        keys = (as_keys(x), as_keys(y)) if keys is None else keys
        left.extend(keys[0])
        right.extend(keys[1])
    return tuple(left), tuple(right)


def join_keys(column: Column) -> tuple[Array, ...]:
    """Keys for a column, in the order by which pandas sorts a merge."""
    return (column.data,) if joins_missing_first(column) else group_keys(column)


def joins_missing_first(column: Column) -> bool:
    """Whether missing values come first where pandas sorts a merge by a key, and not last.

    They do where it sorts integers: codes of categories, and counts of times and periods.
    """
    return column.kind == "category" or (column.type.is_counted and not column.is_nullable)


def keys_of_two_units(left: Column, right: Column) -> tuple[tuple[Array, ...], tuple[Array, ...]]:
    """Join keys of times of two units, in the order of time, exact for all times.

    Inside `jit` a conversion to the finer unit would lose the times past its range. The first key
    is such a time, and 0 for others; the second is the time in the finer unit.
    """
    unit = finest_unit(left, right)
    sides = (
        _keys_in_unit(side.data, units_per(side.type.unit or unit, unit)) for side in (left, right)
    )
    return next(sides), next(sides)


@tiered
def _keys_in_unit(data: Array, factor: Any) -> tuple[Array, Array]:
    is_outside = is_past(data, factor) | (data == NAT)
    zero = np.int64(0)
    return jnp.where(is_outside, data, zero), jnp.where(is_outside, zero, data * factor)


def codes_to_match(left: Column, right: Column) -> tuple[Array, Array] | None:
    """Codes of two columns of strings that are equal for equal strings, in no order.

    The column of more rows keeps its codes. Returns None where both need new ones.
    """
    if (left.kind, right.kind) != ("string", "string"):
        return None
    left, right = unencoded(left), unencoded(right)
    is_swapped = left.capacity < right.capacity
    kept, other = (right, left) if is_swapped else (left, right)
    unified, (codes, other_codes) = unify([kept.dictionary, other.dictionary])
    data = other.data
    if codes is None or other_codes is None:
        if codes is not other_codes:
            return None
    else:
        if not (np.diff(codes) > 0).all():  # Strings that are not encoded may repeat.
            return None
        # Strings of the other column alone get the codes past those of the dictionary.
        new_codes = np.full(len(unified), -1, np.int32)
        new_codes[codes] = np.arange(len(codes), dtype=np.int32)
        alone = np.flatnonzero(new_codes < 0)
        new_codes[alone] = np.arange(len(codes), len(codes) + len(alone), dtype=np.int32)
        data = renumbered(other.data, new_codes[other_codes])
    return (data, kept.data) if is_swapped else (kept.data, data)


def _common_numbers(left: Column, right: Column, name: Hashable) -> tuple[Column, Column]:
    if left.is_bool != right.is_bool:
        raise NotImplementedError(
            f"merge: key {name!r} must not be bools on one side and numbers on the other, got "
            f"{left.dtype_name} and {right.dtype_name}. Convert one with astype first."
        )
    if (left.dtype.kind == "c") != (right.dtype.kind == "c"):
        raise NotImplementedError(
            f"merge: key {name!r} must not be complex on one side and real on the other, got "
            f"{left.dtype_name} and {right.dtype_name}. Convert one with astype first."
        )
    are_alike = left.dtype == right.dtype and left.family == right.family
    if are_alike and left.valid is None and right.valid is None:
        return left, right
    dtype = np.result_type(left.dtype, right.dtype)
    check_width(dtype, name)
    left, right = in_dtype([left, right], dtype)
    return left, right


def become_objects(left: Column, right: Column) -> bool:
    """Whether pandas converts labels to objects because one side alone has objects."""
    are_objects = [column.kind == "object" or column.is_of_objects for column in (left, right)]
    other = right if are_objects[0] else left
    return are_objects[0] != are_objects[1] and other.kind in ("number", "string")


def same_categories(left: Column, right: Column) -> bool:
    """Whether both columns have equal category dtypes; unordered ones ignore the order."""
    if left.kind != "category" or right.kind != "category":
        return False
    dtypes = [
        pd.CategoricalDtype(column.dictionary.values, ordered=column.type.ordered)
        for column in (left, right)
    ]
    return dtypes[0] == dtypes[1]
