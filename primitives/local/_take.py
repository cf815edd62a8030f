# SPDX-License-Identifier: Apache-2.0
"""Rows moved by a permutation."""

from typing import Any

import jax

from .._key_bits import OrderedWord
from .._typing import Array


def take_rows(rows: Any, row_ids: Array, *, is_unique: bool = True) -> Any:
    """Takes the rows that `row_ids` name, all of which exist, of every leaf of a pytree."""
    return jax.tree.map(
        lambda leaf: leaf.at[row_ids].get(mode="promise_in_bounds", unique_indices=is_unique),
        rows,
    )


def take_words(columns: tuple[OrderedWord, ...], row_ids: Array) -> tuple[OrderedWord, ...]:
    """Takes the rows that `row_ids` name, each once, of every column."""
    return tuple(column._replace(word=take_rows(column.word, row_ids)) for column in columns)
