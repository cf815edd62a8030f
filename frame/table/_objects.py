# SPDX-License-Identifier: Apache-2.0
"""Columns of Python objects with codes for their distinct values, when an operation needs keys.

A column of objects has a position on the host for each row, so rows move without a look at their
objects. `hashed` gives it codes: equal objects, by hash and `==`, share one. Codes are in the order
of the objects, if these have one.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas as pd

from ._column import Column, ColumnType
from ._dictionary import HostObjects
from ._distinct_objects import DistinctObjects, Order, hash_objects
from ._recode import renumbered
from ._sort_keys import unhashable
from ._table import Count
from ._to_host import host_array
from ._tracing import at_once, is_traced


def is_hashed(column: Column) -> bool:
    """Whether equal values of a column have equal keys."""
    if column.kind == "object":
        return isinstance(column.type.dictionary, DistinctObjects)
    return column.kind != "list"


def hashed(column: Column, num_rows: Count) -> Column:
    """The column with codes for its distinct objects; other columns as they are.

    Outside `jit` the objects of dropped rows have no part in it. Inside, all objects that rows may
    have get codes.

    Raises:
        TypeError: a value cannot be hashed.
    """
    if column.kind == "list":
        raise unhashable(column)
    return column if is_hashed(column) else at_once(_hashed, column, num_rows)


def _hashed(column: Column, num_rows: Count) -> Column:
    objects = column.type.dictionary
    assert isinstance(objects, HostObjects)
    if is_traced(column, num_rows):
        found = objects.once(hash_objects)
    else:
        try:
            found = objects.once(hash_objects)
        except TypeError:
            found = None
        if found is None or found.has_twins or found.distinct.order != "full":
            return _hashed_rows(column, objects, num_rows)
    data = renumbered(column.data, found.codes)
    return Column(data, None, ColumnType("object", found.distinct))


def _hashed_rows(column: Column, objects: HostObjects, num_rows: Count) -> Column:
    """Gives codes to the objects of rows alone, the first of equal ones."""
    positions = positions_of(column, num_rows)
    used = positions[np.sort(np.unique(positions, return_index=True)[1])]
    used = used[used >= 0]
    found = hash_objects(objects.values[used])
    codes = np.full(len(objects), -1, np.int32)
    codes[used] = found.codes
    return Column(renumbered(column.data, codes), None, ColumnType("object", found.distinct))


def missing_apart(column: Column, num_rows: Count) -> Column:
    """`hashed`, with a code past the dictionary for each kind of missing value.

    None, NaN, NA and NaT are then keys of their own, as in pandas' `unique`. Such codes are only
    compared: they have no values.
    """
    if column.kind not in ("object", "list"):
        return column
    keys, values = hashed(column, num_rows), column.type.dictionary
    assert values is not None
    assert keys.type.dictionary is not None
    if is_hashed(column):
        return keys
    is_missing = pd.isna(values.values)
    if not is_missing.any():
        return keys
    names = np.array([_kind_of(value) for value in values.values[is_missing]], object)
    numbers = np.full(len(values), -1, np.int32)
    # NaN of holes in a column is a kind, too.
    kinds, distinct = pd.factorize(np.append(np.array(["float"], object), names))
    del distinct
    size = len(keys.type.dictionary)
    numbers[is_missing] = size + kinds[1:]
    apart = at_once(_apart, column.data, keys.data, numbers, size)
    return Column(apart, None, keys.type)


def _apart(positions: Any, codes: Any, numbers: np.ndarray, size: int) -> Any:
    others = renumbered(positions, numbers)
    others = jnp.where(positions < 0, np.int32(size), others)
    return jnp.where(codes < 0, others, codes)


def _kind_of(missing: object) -> str:
    return "float" if isinstance(missing, (float, np.floating)) else type(missing).__name__


def sortable(column: Column, num_rows: Count, order: Order = "full") -> Column:
    """`hashed`, whose codes are in the order of `<`, or in that of groups.

    Raises:
        TypeError: the values have no order.
    """
    if column.kind not in ("object", "list"):
        return column
    keys = hashed(column, num_rows)
    check_order(keys, order)
    return keys


def check_order(column: Column, order: Order) -> None:
    """Raises pandas' error unless the codes of a column are in an order of the values."""
    objects = column.type.dictionary
    if not isinstance(objects, DistinctObjects) or objects.order in ("full", order):
        return
    if order == "groups":
        pd.factorize(objects.values, sort=True)
    else:
        np.sort(objects.values)
    raise TypeError("the values of a column of objects have no order.")


def positions_of(column: Column, num_rows: Count) -> np.ndarray:
    """The positions of the rows' objects, on the host; -1 if missing."""
    return host_array(column.data)[: int(num_rows)]


def has_order(column: Column) -> bool:
    """Whether the keys of a column are in an order by which pandas sorts results."""
    objects = column.type.dictionary
    return not isinstance(objects, DistinctObjects) or objects.order is not None
