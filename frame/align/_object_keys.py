# SPDX-License-Identifier: Apache-2.0
"""Common codes for two columns of keys, at least one of which holds Python objects."""

from collections.abc import Hashable

import numpy as np
import pandas as pd

from ..table._column import Column, ColumnType
from ..table._dictionary import HostObjects
from ..table._distinct_objects import hash_objects
from ..table._object_functions import as_objects, joined_objects
from ..table._objects import hashed
from ..table._recode import renumbered
from ..table._table import Count


def common_objects(
    left: Column, right: Column, name: Hashable, counts: tuple[Count, Count]
) -> tuple[Column, Column]:
    """Converts two columns to objects with codes into one dictionary, in its order if it has one.

    Raises:
        TypeError: a value cannot be hashed.
        ValueError: pandas does not compare objects with the dtype of the other side.
    """
    are_objects = left.kind == right.kind
    sides = zip((left, right), counts, strict=True)
    columns = [hashed(as_objects(one, count, "merge"), count) for one, count in sides]
    if not are_objects:
        _check_dtypes(left, right, columns, name)
    columns = joined_objects(columns)
    joined = columns[0].type.dictionary
    assert isinstance(joined, HostObjects)
    found = hash_objects(joined.values)
    kind = ColumnType("object", found.distinct)
    a, b = (Column(renumbered(column.data, found.codes), None, kind) for column in columns)
    return a, b


def _check_dtypes(left: Column, right: Column, columns: list[Column], name: Hashable) -> None:
    """Raises pandas' error for objects beside another dtype that no value of them has."""
    sides = []
    for column, objects in zip((left, right), columns, strict=True):
        dictionary = objects.type.dictionary
        assert dictionary is not None
        dtype = object if column.kind == "object" else column.dtype_name
        sides.append(pd.Series(np.asarray(dictionary.values), dtype=dtype).to_frame(name))
    pd.merge(*sides, on=name)
