# SPDX-License-Identifier: Apache-2.0
"""The rows that a mask flags: the portable definition, and the C++ kernel on CPU."""

from collections.abc import Callable

import jax
import jax.numpy as jnp

from ...shardings._compat import like_varying
from .._typing import Array
from ._foreign import as_words, call, is_words, of_words
from ._library import is_native


def flagged_rows(mask: Array, capacity: int, num_valid: Array) -> tuple[Array, Array]:
    """Finds the rows that a mask flags.

    Args:
        mask: a flag for each row, `bool[rows]`.
        capacity: row ids that there is room for.
        num_valid: the rows that count, from the front.

    Returns:
        The ids of the flagged rows in their order, `int32[capacity]`, zeros behind the last; and
        how many rows are flagged, those that do not fit included.
    """
    if mask.shape[0] == 0 or not is_native():
        return _flagged_rows_xla(mask, capacity, num_valid)

    def xla(mask: Array, num_valid: Array) -> tuple[Array, Array]:
        return _flagged_rows_xla(mask, capacity, num_valid)

    def native(mask: Array, num_valid: Array) -> tuple[Array, Array]:
        row_ids, count = call(
            "jaxframes_compact_v1",
            (mask[None], num_valid[None]),
            (((capacity,), jnp.int32), ((), jnp.int32)),
        )
        return row_ids, count

    return jax.lax.platform_dependent(mask, num_valid, cpu=native, default=xla)


def flagged_words(
    mask: Array,
    words: Array,
    capacity: int,
    num_valid: Array,
    otherwise: Callable[[], tuple[Array, Array]],
) -> tuple[Array, Array]:
    """Keeps the words whose rows a mask flags, where a kernel can; it has no derivative.

    Args:
        mask: a flag for each row, `bool[rows]`.
        words: what is kept, any array.
        capacity: words that there is room for.
        num_valid: the rows that count, from the front.
        otherwise: the same by XLA.

    Returns:
        The words of the flagged rows in their order, zeros behind the last; and how many rows are
        flagged, those that do not fit included.
    """
    if not is_words(words) or mask.shape[0] == 0 or not is_native():
        return otherwise()

    def native(mask: Array, words: Array, num_valid: Array) -> tuple[Array, Array]:
        bits = as_words(words)
        kept, count = call(
            "jaxframes_compact_words_v1",
            (mask[None], num_valid[None], bits[None]),
            (((capacity,), bits.dtype), ((), jnp.int32)),
        )
        return of_words(kept, words.dtype), count

    return jax.lax.platform_dependent(
        mask, words, num_valid, cpu=native, default=lambda *_: otherwise()
    )


def _flagged_rows_xla(mask: Array, capacity: int, num_valid: Array) -> tuple[Array, Array]:
    row_ids = jax.lax.iota(jnp.int32, mask.shape[0])
    is_flagged = mask & (row_ids < num_valid)
    counts = jnp.cumsum(is_flagged, dtype=jnp.int32)
    count = jnp.sum(is_flagged, dtype=jnp.int32)
    # Rows that are not flagged, and those that do not fit, are written past the end: dropped.
    places = jnp.where(is_flagged, counts - 1, capacity)
    room = like_varying(jnp.zeros((capacity,), jnp.int32), places)
    return room.at[places].set(row_ids, mode="drop"), count
