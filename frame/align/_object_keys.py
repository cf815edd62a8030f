# SPDX-License-Identifier: Apache-2.0
"""Common codes for two columns of keys, at least one of which holds Python objects."""

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd

from ..table._column import Column, ColumnType
from ..table._dictionary import HostObjects
from ..table._distinct_objects import DistinctObjects, hash_objects
from ..table._object_functions import as_objects, host_series, joined_objects
from ..table._objects import hashed, positions_of
from ..table._recode import renumbered
from ..table._table import Count
from ..table._take import any_missing
from ..table._tracing import is_traced


def common_objects(
    left: Column,
    right: Column,
    name: Hashable,
    counts: tuple[Count, Count],
    *,
    are_labels: bool = False,
) -> tuple[Column, Column]:
    """Converts two columns to objects with codes into one dictionary, in its order if it has one.

    `are_labels` tells that they are row labels, which pandas compares whatever their dtypes are.

    Raises:
        TypeError: a value cannot be hashed.
        ValueError: pandas does not compare objects with the dtype of the other side.
    """
    sides = zip((left, right), counts, strict=True)
    columns = [hashed(as_objects(one, count, "merge"), count) for one, count in sides]
    if not are_labels and left.kind != right.kind:
        _check_dtypes((left, right), columns, counts, name)
    columns = joined_objects(columns)
    joined = columns[0].type.dictionary
    assert isinstance(joined, HostObjects)
    found = hash_objects(joined.values)
    codes, distinct = found.codes, found.distinct
    is_known = are_labels and not is_traced(columns, counts)
    if is_known and distinct.order != "full" and all(map(_ascend, columns, counts)):
        # As in pandas, ascending labels that do not compare with the others stay in their order.
        sides = zip(columns, counts, strict=True)
        rows = np.concatenate([positions_of(one, count) for one, count in sides])
        in_order = pd.unique(np.append(codes[rows[rows >= 0]], np.arange(len(distinct))))
        distinct = DistinctObjects(distinct.values[in_order])
        codes = np.where(codes < 0, codes, np.argsort(in_order)[codes]).astype(np.int32)
    kind = ColumnType("object", distinct)
    a, b = (Column(renumbered(column.data, codes), None, kind) for column in columns)
    return a, b


def with_own_objects(
    left: Column, right: Column, keys: tuple[Column, Column], counts: tuple[Count, Count]
) -> tuple[Column, Column]:
    """Labels of two sides for a result in which each row keeps its own of equal objects.

    A missing label stays None, NaN or NA. `keys` are the labels in their common type, which are
    the result unless they are objects.
    """
    return keys if keys[0].kind != "object" else own_objects(left, right, counts, "index")


def own_objects(
    left: Column, right: Column, counts: tuple[Count, Count], caller: str
) -> tuple[Column, Column]:
    """Both sides as objects of one dictionary; each row keeps its own of equal ones."""
    sides = zip((left, right), counts, strict=True)
    left, right = joined_objects([as_objects(one, count, caller) for one, count in sides])
    return left, right


def _ascend(labels: Column, num_rows: Count) -> bool:
    index = pd.Index(host_series(labels, num_rows))
    return index.is_unique and index.is_monotonic_increasing


def _check_dtypes(
    sides: Sequence[Column],
    columns: Sequence[Column],
    counts: tuple[Count, Count],
    name: Hashable,
) -> None:
    """Raises pandas' error for objects beside another dtype that no value of them has."""
    frames = []
    for column, objects, count in zip(sides, columns, counts, strict=True):
        dictionary = objects.type.dictionary
        assert dictionary is not None
        values, is_object = np.asarray(dictionary.values), column.kind == "object"
        # pandas infers other dtypes of values with a missing one.
        is_known = (is_object or column.is_nullable) and not is_traced(objects, count)
        if is_known and bool(any_missing(objects.data >= 0, count)):
            values = np.append(values, np.array([None], object))
        dtype = object if is_object else column.dtype_name
        frames.append(pd.Series(values, dtype=dtype).to_frame(name))
    pd.merge(*frames, on=[name])
