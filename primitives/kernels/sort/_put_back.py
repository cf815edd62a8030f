# SPDX-License-Identifier: Apache-2.0
"""Rows moved by a permutation of row ids, or back by it."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ...contract._moved import with_tangents
from ...contract._platform import by_platform
from ...contract._typing import Array
from ._portable_sort import carry_rows, take


def put_back(row_ids: Array, rows: Sequence[Array]) -> tuple[Array, ...]:
    """Puts row `i` at position `row_ids[i]`; the row ids are a permutation, int32.

    By a scatter. On TPU, where a scatter costs ten times as much, by a sort of the row ids. A sort
    of a permutation crashes or is miscompiled with x64 in some versions of XLA on GPU.
    """

    def by_scatter(row_ids: Array, rows: tuple[Array, ...]) -> tuple[Array, ...]:
        return tuple(_scattered(leaf, row_ids) for leaf in rows)

    def by_sort(row_ids: Array, rows: tuple[Array, ...]) -> tuple[Array, ...]:
        keys = (jax.lax.bitcast_convert_type(row_ids, jnp.uint32),)
        _, moved = carry_rows(keys, rows)
        return tuple(
            _scattered(leaf, row_ids) if carried is None else carried
            for leaf, carried in zip(rows, moved, strict=True)
        )

    plain = tuple(map(jax.lax.stop_gradient, rows))
    moved = by_platform(row_ids, plain, tpu=by_sort, default=by_scatter)
    return with_tangents(_scattered, moved, tuple(rows), row_ids)


def take_permuted(row_ids: Array, rows: Sequence[Array]) -> tuple[Array, ...]:
    """Takes rows by a permutation: row `row_ids[i]` to position `i`.

    By gathers; on TPU by a sort of the permutation, and one of its inverse.
    """

    def by_gathers(row_ids: Array, rows: tuple[Array, ...]) -> tuple[Array, ...]:
        return tuple(take(leaf, row_ids) for leaf in rows)

    def by_sorts(row_ids: Array, rows: tuple[Array, ...]) -> tuple[Array, ...]:
        return put_back(inverse_of(row_ids), rows)

    plain = tuple(map(jax.lax.stop_gradient, rows))
    taken = by_platform(row_ids, plain, tpu=by_sorts, default=by_gathers)
    return with_tangents(take, taken, tuple(rows), row_ids)


def inverse_of(order: Array) -> Array:
    """The inverse of a permutation."""
    return put_back(order, (jax.lax.iota(jnp.int32, order.shape[0]),))[0]


def _scattered(rows: Any, row_ids: Array) -> Array:
    # Every position is written, so the zeros are not read.
    room = jnp.zeros_like(rows)
    return room.at[row_ids].set(rows, unique_indices=True, mode="promise_in_bounds")
