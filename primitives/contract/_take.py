# SPDX-License-Identifier: Apache-2.0
"""Gathers of rows by row id."""

from typing import Any

import jax
import jax.numpy as jnp

from ...shardings._compat import gather_sharding, like_varying
from ._custom_jvp import custom_jvp
from ._key_bits import OrderedWord
from ._typing import Array


def take_rows(rows: Any, row_ids: Array, *, is_unique: bool = True) -> Any:
    """Takes rows by id from every leaf of a pytree; all ids must be in range."""

    def take(leaf: Array) -> Array:
        return leaf.at[row_ids].get(
            mode="promise_in_bounds",
            unique_indices=is_unique,
            out_sharding=gather_sharding(leaf, row_ids),
        )

    return jax.tree.map(take, rows)


def take_rows_or_zeros(
    rows: Any, row_ids: Array, is_row: Array, *, is_tangent: bool = False
) -> Any:
    """Takes rows by id if `is_row`, and zeros otherwise.

    All ids must be in range, unless there are no rows at all. Tangents need no exact bits, but an
    operation with a transpose.
    """
    keep = _keep if is_tangent else _keep_with_bits

    def take(leaf: Array) -> Array:
        if leaf.shape[0] == 0:
            zeros = jnp.zeros((*row_ids.shape, *leaf.shape[1:]), leaf.dtype)
            return like_varying(zeros, leaf, row_ids)
        return keep(take_rows(leaf, row_ids, is_unique=False), is_row)

    return jax.tree.map(take, rows)


def keep_or_zero(rows: Any, is_row: Array) -> Any:
    """Keeps rows if `is_row`, bit for bit, and replaces others with zeros."""
    return jax.tree.map(lambda leaf: _keep_with_bits(leaf, is_row), rows)


def _keep_with_bits(leaf: Array, is_row: Array) -> Array:
    # XLA on CPU selects bfloat16 through float32, which rewrites NaNs.
    return (_keep_bits if leaf.dtype == jnp.bfloat16 else _keep)(leaf, is_row)


def _keep(leaf: Array, is_row: Array) -> Array:
    flags = is_row.reshape(*is_row.shape, *(1,) * (leaf.ndim - is_row.ndim))
    return jnp.where(flags, leaf, jnp.zeros((), leaf.dtype))


@custom_jvp
def _keep_bits(leaf: Array, is_row: Array) -> Array:
    words = _keep(jax.lax.bitcast_convert_type(leaf, jnp.uint16), is_row)
    return jax.lax.bitcast_convert_type(words, leaf.dtype)


@_keep_bits.defjvp
def _keep_tangent(primals: tuple[Array, Array], tangents: tuple[Array, Any], kept: Array) -> Array:
    del kept
    return _keep(tangents[0], primals[1])


def take_words(columns: tuple[OrderedWord, ...], row_ids: Array) -> tuple[OrderedWord, ...]:
    """Takes rows by unique id from every column."""
    return tuple(column._replace(word=take_rows(column.word, row_ids)) for column in columns)
