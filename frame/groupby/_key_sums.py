# SPDX-License-Identifier: Apache-2.0
"""Sums of many rows by a key whose values are segment ids: no other ids are written."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._layout import ONE_DEVICE
from ..table._table import Count, Table, as_count, is_row
from ..table._tracing import answered_at_once
from ._dense_keys import as_digits, first_rows_of_segments, group_segments, segment_ids_of
from ._grouped_column import Groups, Options, Reduction
from ._one_pass_sums import SIZES, Parts, Plan, sums_from

# The first rows of the groups are searched in so many rows for each segment, then in all rows:
# in random order, n segments have appeared after about n log n rows.
ROWS_OF_A_SEGMENT = 16
LEAST_SEARCHED = 1 << 15


class GroupSums(NamedTuple):
    """Groups in the order of their first rows, and the accumulators of a plan, by segment."""

    groups: Groups
    parts: Parts


@answered_at_once
def sums_by_segment_key(
    keys: Sequence[Column], table: Table, columns: Sequence[Column], plan: Plan, options: Options
) -> GroupSums | None:
    """Groups and sums together, in the order of the first rows; None for other than one dense key.

    Rows without a key must be outside the range of the key's values, as the codes of missing
    strings are.
    """
    (key, *others) = keys
    if others or key.kind == "object" or key.valid is not None:
        return None
    if key.dtype.name not in ("int32", "int64"):
        return None
    digits = as_digits(keys, table, options.dropna, table.capacity // ROWS_OF_A_SEGMENT)
    if digits is None or digits[0][0].can_miss:
        return None
    (digit,), (low,) = digits
    low = np.asarray(low, key.dtype)
    sizes = 0, Reduction("size")
    parts = sums_from(low, key.data, table.num_rows, digit.size, columns or keys, [sizes, *plan])
    counts = parts[SIZES]
    is_group, count = _groups_in(counts)
    count = as_count(int(count))
    num_searched = max(LEAST_SEARCHED, ROWS_OF_A_SEGMENT * digit.size)
    for num_rows in (min(num_searched, table.capacity), table.capacity):
        first_rows, num_found = _first_rows(key.data, low, table.num_rows, digit.size, num_rows)
        if int(num_found) == count:
            break
    capacity = ONE_DEVICE.capacity_for(int(count))
    of_groups, arrays = group_segments(
        is_group, first_rows, (low,), (digit,), capacity, ONE_DEVICE, ONE_DEVICE
    )
    groups = Groups(
        functools.partial(segment_ids_of, keys, digits, table),
        of_groups,
        tuple(map(Column.with_arrays, keys, arrays)),
        count,
        digit.size,
        capacity,
        ONE_DEVICE,
    )
    return GroupSums(groups, parts)


@tiered
def _groups_in(counts: Array) -> tuple[Array, Array]:
    is_group = counts > 0
    return is_group, jnp.sum(is_group, dtype=jnp.int32)


@functools.partial(tiered, static_argnums=(3, 4))
def _first_rows(
    data: Array, low: Any, num_rows: Count, num_segments: int, num_searched: int
) -> tuple[Array, Array]:
    """The first row of each segment among the first rows, and the number of segments found."""
    ids = (data[:num_searched] - low).astype(jnp.int32)
    is_near = (data[:num_searched] >= low) & is_row(num_searched, num_rows)
    ids = jnp.where(is_near, ids, np.int32(-1))
    first_rows = first_rows_of_segments(ids, num_segments, ONE_DEVICE)
    return first_rows, jnp.sum(first_rows < np.iinfo(np.int32).max, dtype=jnp.int32)
