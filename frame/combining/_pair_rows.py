# SPDX-License-Identifier: Apache-2.0
"""Dispatches joins to their eager and traced implementations."""

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
    """Pairs rows with equal keys, in pandas' order.

    Args:
        left: the left side.
        right: the right side.
        left_keys: keys of the left rows, of the dtypes of `right_keys`.
        right_keys: keys of the right rows.
        how: "inner", "left", "right", "outer", "left_anti" or "right_anti".
        sort: whether the pairs come in the order of the keys.
        capacity: maximum number of pairs; required inside `jit`, except for anti joins.

    Raises:
        CapacityError: `capacity` is too small for an eager call.
        ValueError: `capacity` is missing inside `jit`, or there are 2^31 - 1 pairs or more.
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
                "merge: inside jit capacity must be the maximum number of result rows, got None. "
                "Pass capacity= (the left side's, if the right keys are unique), or merge outside "
                "jit."
            )
        numbers = left.num_rows, right.num_rows
        limit = rounded(capacity, layout)
        pairs = paired_rows(left_keys, right_keys, numbers, how, sort, limit, layout)
        num_rows = jnp.minimum(pairs.count, np.int32(limit))
        needed = needed_of(left, right, pairs.count, limit)
        left_presence = "some" if how in ("right", "outer") else "all"
        right_presence = "some" if how in ("left", "outer") else "all"
        return RowPairs(
            SideRows(pairs.left_rows, left_presence, layout),
            SideRows(pairs.right_rows, right_presence, layout),
            num_rows,
            needed,
        )
    return counted_pairs(left, right, left_keys, right_keys, how, sort, capacity)
