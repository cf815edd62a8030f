# SPDX-License-Identifier: Apache-2.0
"""Sums of many rows by dense keys, which number the segments; the sums count their rows, too."""

import functools
import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from ...primitives.staging import tiered
from ..table._column import Array, Column
from ..table._layout import ONE_DEVICE
from ..table._table import Count, Table, as_count, is_row
from ..table._tracing import answered_at_once
from ._dense_keys import Digits, as_digits, first_rows_of_segments, group_segments, segment_ids_of
from ._grouped_column import Groups, Options, Reduction
from ._one_pass_sums import SIZES, Parts, Plan, sums_from

# The first rows of the groups are searched in so many rows for each segment, then in all rows:
# in random order, n segments have appeared after about n log n rows.
ROWS_OF_A_SEGMENT = 16
LEAST_SEARCHED = 1 << 15


class GroupSums(NamedTuple):
    """Groups, and the accumulators of a plan by segment."""

    groups: Groups
    parts: Parts


@answered_at_once
def sums_by_dense_keys(
    keys: Sequence[Column], table: Table, columns: Sequence[Column], plan: Plan, options: Options
) -> GroupSums | None:
    """Groups and sums together; None for keys of objects or without a small known range."""
    if any(key.kind == "object" for key in keys):
        return None
    digits = as_digits(keys, table, options.dropna, table.capacity // ROWS_OF_A_SEGMENT)
    if digits is None:
        return None
    if _are_ids(keys, digits):
        # The ids of later calls are written when they need them.
        ids, low = keys[0].data, np.asarray(digits[1][0], keys[0].dtype)
        given_ids = functools.partial(segment_ids_of, keys, table, digits)
    else:
        ids, low = segment_ids_of(keys, table, digits), np.int32(0)
        given_ids = ids
    num_segments = math.prod(digit.size for digit in digits[0])
    sizes = 0, Reduction("size")
    parts = sums_from(low, ids, table.num_rows, num_segments, columns, [sizes, *plan])
    is_group, count = _groups_in(parts[SIZES])
    num_groups = int(count)
    first_rows = None if options.sort else _first_rows(ids, low, table, num_segments, num_groups)
    capacity = ONE_DEVICE.capacity_for(num_groups)
    of_groups, arrays = group_segments(
        is_group, first_rows, digits[1], digits[0], capacity, ONE_DEVICE, ONE_DEVICE
    )
    columns = tuple(map(Column.with_arrays, keys, arrays))
    count = as_count(num_groups)
    groups = Groups(given_ids, of_groups, columns, count, num_segments, capacity, ONE_DEVICE)
    return GroupSums(groups, parts)


def _are_ids(keys: Sequence[Column], digits: Digits) -> bool:
    """Whether the distances of a key from its lowest value are segment ids.

    A missing code, -1, belongs to no segment.
    """
    ((key, *others), (digit, *_)) = keys, digits[0]
    is_word = key.dtype.name in ("int32", "int64")
    return is_word and not others and key.valid is None and not digit.can_miss


@tiered
def _groups_in(counts: Array) -> tuple[Array, Array]:
    is_group = counts > 0
    return is_group, jnp.sum(is_group, dtype=jnp.int32)


def _first_rows(ids: Array, low: Any, table: Table, num_segments: int, num_groups: int) -> Array:
    """The first row of each segment; the greatest int32 for segments without rows."""
    num_searched = max(LEAST_SEARCHED, ROWS_OF_A_SEGMENT * num_segments)
    if num_searched < table.capacity:
        first_rows, num_found = _first_rows_among(
            ids, low, table.num_rows, num_segments, num_searched
        )
        if int(num_found) == num_groups:
            return first_rows
    return _first_rows_among(ids, low, table.num_rows, num_segments, table.capacity)[0]


@functools.partial(tiered, static_argnums=(3, 4))
def _first_rows_among(
    ids: Array, low: Any, num_rows: Count, num_segments: int, num_searched: int
) -> tuple[Array, Array]:
    """The first row of each segment among the first rows, and the number of segments found."""
    ids = ids[:num_searched]
    has_segment = (ids >= low) & is_row(num_searched, num_rows)
    numbers = jnp.where(has_segment, (ids - low).astype(jnp.int32), np.int32(-1))
    first_rows = first_rows_of_segments(numbers, num_segments, ONE_DEVICE)
    return first_rows, jnp.sum(first_rows < np.iinfo(np.int32).max, dtype=jnp.int32)
