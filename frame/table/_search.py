# SPDX-License-Identifier: Apache-2.0
"""Searches for the values of rows among sorted keys that every device holds."""

import functools

import jax
import jax.numpy as jnp

from ...shardings._compat import explicit_sharding
from ._column import Array
from ._types import Function


def search_rows(keys: Array, rows: Array, search: Function) -> Array:
    """Inside a compiled function: searches for each row among sorted keys."""
    sharding = explicit_sharding(rows)
    if sharding is not None:
        search = jax.sharding.auto_axes(search, out_sharding=sharding)
    return search(keys, rows).astype(jnp.int32)


# For so few keys all comparisons take less time than the steps of a search, which gather keys.
_MOST_COMPARED = 16


def search_few(keys: Array, rows: Array, side: str) -> Array:
    """`search_rows` among few keys, none of them NaN; the position of a NaN is arbitrary."""
    # The unrolled search is one fusion, ten times as fast as a loop.
    search = functools.partial(jnp.searchsorted, side=side, method="scan_unrolled")
    if keys.shape[0] <= _MOST_COMPARED:
        search = functools.partial(_count_before, side=side)
    return search_rows(keys, rows, search)


def _count_before(keys: Array, rows: Array, side: str) -> Array:
    keys, rows = keys[:, None], rows[None, :]
    return jnp.sum(keys < rows if side == "left" else keys <= rows, axis=0, dtype=jnp.int32)
