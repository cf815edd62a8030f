# SPDX-License-Identifier: Apache-2.0
"""Rows moved by a permutation."""

from typing import Any

import jax

from .._typing import Array


def take_rows(rows: Any, row_ids: Array, *, is_unique: bool = True) -> Any:
    """Takes the rows that `row_ids` name, all of which exist, of every leaf of a pytree."""
    return jax.tree.map(
        lambda leaf: leaf.at[row_ids].get(mode="promise_in_bounds", unique_indices=is_unique),
        rows,
    )
