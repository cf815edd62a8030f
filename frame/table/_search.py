# SPDX-License-Identifier: Apache-2.0
"""Searches for the values of rows among sorted keys that every device holds."""

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
