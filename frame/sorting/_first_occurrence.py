# SPDX-License-Identifier: Apache-2.0
"""First occurrences and repetitions of rows."""

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ... import primitives
from ..table._column import Array, Column, distinct_keys, group_keys
from ..table._layout import Layout
from ..table._table import Count, is_row
from ..table._take import gather, position


def numbered_rows(
    columns: Sequence[Column], num_rows: Count, layout: Layout
) -> tuple[Array, Array, Array]:
    """Group ids of equal rows in order of appearance, flags of first rows, and the group count."""
    keys = tuple(key for column in columns for key in distinct_keys(column))
    return _numbered(keys, num_rows, layout)


def is_repeated(columns: Sequence[Column], num_rows: Count, layout: Layout, keep: Any) -> Array:
    """Flags rows that `keep` drops from each group of equal rows.

    Raises:
        ValueError: `keep` is neither "first" nor "last" nor False.
    """
    if not (keep is False or keep in ("first", "last")):
        raise ValueError('keep must be either "first", "last" or False')
    as_keys = distinct_keys if len(columns) == 1 else group_keys
    keys = tuple(key for column in columns for key in as_keys(column))
    return _repeated(keys, num_rows, layout, keep)


def count_distinct(
    columns: Sequence[Column], num_rows: Count, layout: Layout, *, dropna: bool
) -> tuple[Array, ...]:
    """Counts the distinct values of each column, in one compiled call."""
    keys = tuple((group_keys if dropna else distinct_keys)(column) for column in columns)
    missing = tuple(column.missing() if column.can_miss else None for column in columns)
    return _count_distinct(keys, missing if dropna else (None,) * len(keys), num_rows, layout)


@functools.partial(jax.jit, static_argnums=2)
def _numbered(keys: Any, num_rows: Count, layout: Layout) -> tuple[Array, Array, Array]:
    groups = primitives.factorize(
        keys, capacity=layout.num_shards, sort=False, num_valid=num_rows, **layout.on_mesh
    )
    # Ids ascend by first appearance, so a new id is greater than all ids before it.
    before = primitives.exclusive_scan(groups.group_ids, "max", **layout.on_mesh)
    rows = is_row(keys[0].shape[0], num_rows, layout)
    return groups.group_ids, rows & (groups.group_ids > before), groups.count


@functools.partial(jax.jit, static_argnums=(2, 3))
def _repeated(keys: Any, num_rows: Count, layout: Layout, keep: Any) -> Array:
    rows = is_row(keys[0].shape[0], num_rows, layout)
    is_kept = rows
    if keep in ("first", False):
        is_kept = is_kept & _numbered(keys, num_rows, layout)[1]
    if keep in ("last", False):
        reverse = jnp.asarray(num_rows, jnp.int32) - 1 - position(keys[0].shape[0], layout)
        _, is_first, _ = _numbered(gather(keys, reverse, layout), num_rows, layout)
        is_kept = is_kept & gather(is_first, reverse, layout)
    return rows & ~is_kept


@functools.partial(jax.jit, static_argnums=3)
def _count_distinct(keys: Any, missing: Any, num_rows: Count, layout: Layout) -> tuple[Array, ...]:
    counts = []
    for key, is_missing in zip(keys, missing, strict=True):
        groups = primitives.factorize(
            key, capacity=layout.num_shards, num_valid=num_rows, **layout.on_mesh
        )
        count = groups.count
        if is_missing is not None:
            rows = is_row(is_missing.shape[0], num_rows, layout)
            count = count - jnp.any(rows & is_missing).astype(count.dtype)
        counts.append(count.astype(jax.dtypes.canonicalize_dtype(np.int64)))
    return tuple(counts)
