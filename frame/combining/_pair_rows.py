# SPDX-License-Identifier: Apache-2.0
"""Pairs the rows of two tables whose keys are equal."""

import jax.numpy as jnp
import numpy as np

from ..table._table import Table
from ..table._tracing import is_in_jit
from ._anti_join import rows_without_match
from ._eager_join import counted_pairs
from ._row_pairs import Keys, RowPairs, SideRows, needed_of, numbers_of, paired_rows, rounded


def pair_rows(
    left: Table,
    right: Table,
    left_keys: Keys,
    right_keys: Keys,
    how: str,
    *,
    sort: bool = False,
    capacity: int | None = None,
) -> RowPairs:
    """Pairs the rows of two tables whose keys are equal, in pandas' order.

    Args:
        left: the left side.
        right: the right side.
        left_keys: keys of the left rows, of the dtypes of `right_keys`.
        right_keys: keys of the right rows.
        how: "inner", "left", "right", "outer", "left_anti" or "right_anti".
        sort: whether the pairs come in the order of the keys.
        capacity: rows that there is room for; needed inside `jit`, but for anti joins.

    Raises:
        CapacityError: an eager call was given too small a capacity.
        ValueError: `capacity` is left out inside `jit`, or there are 2^31 - 1 pairs or more.
    """
    if how == "right_anti":
        swapped = pair_rows(
            right, left, right_keys, left_keys, "left_anti", sort=sort, capacity=capacity
        )
        return swapped._replace(left=swapped.right, right=swapped.left)
    traced = is_in_jit(left_keys, right_keys, *numbers_of(left, right))
    if how == "left_anti":
        return rows_without_match(left, right, left_keys, right_keys, sort, capacity, traced)
    layout = left.layout
    if traced:
        if capacity is None:
            raise ValueError(
                "merge: inside jit capacity must say how many rows there is room for, got None. "
                "Pass capacity=, for a key that is distinct on the right that of the left side, or "
                "merge before the function is traced."
            )
        numbers = left.num_rows, right.num_rows
        room = rounded(capacity, layout)
        pairs = paired_rows(left_keys, right_keys, numbers, how, sort, room, layout)
        num_rows = jnp.minimum(pairs.count, np.int32(room))
        needed = needed_of(left, right, pairs.count, room)
        left_found = "some" if how in ("right", "outer") else "all"
        right_found = "some" if how in ("left", "outer") else "all"
        return RowPairs(
            SideRows(pairs.left_rows, left_found, layout),
            SideRows(pairs.right_rows, right_found, layout),
            num_rows,
            needed,
        )
    return counted_pairs(left, right, left_keys, right_keys, how, sort, capacity)
