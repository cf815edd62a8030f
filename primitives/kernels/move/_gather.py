# SPDX-License-Identifier: Apache-2.0
"""Gathers of rows by row id: the portable definition, the C++ kernel on CPU, and ways on TPU."""

from collections.abc import Sequence

import jax.numpy as jnp

from ....shardings._compat import as_varying, explicit_sharding, varying_axes
from ...contract._platform import by_platform
from ...contract._typing import Array
from ..base._foreign import as_words, call, of_words
from ..base._library import is_native
from ..base._pallas import on_tpu
from ._take_on_tpu import can_take_on_tpu, take_on_tpu


def gather_words(
    row_ids: Array, words: Sequence[Array], fills: Sequence[Array]
) -> tuple[Array, ...]:
    """Gathers the rows of several arrays by one kernel if possible; without derivatives.

    XLA removes the kernel if none of its results are used, but it cannot remove a part of it.

    Args:
        row_ids: the row of each result, int32.
        words: at least one array, one-dimensional and of the same length.
        fills: for each array the scalar that an id out of range gives.

    Returns:
        The rows of each array in the order of the ids.
    """
    can_take = explicit_sharding(row_ids) is None and can_take_on_tpu(words, row_ids)
    on_core = on_tpu(gather_on_tpu) if can_take else {}
    if not (is_native() or on_core):
        return _gather_xla(row_ids, tuple(words), tuple(fills))
    # All results of one kernel vary over the same mesh axes.
    axes = varying_axes(row_ids, *words, *fills)

    def native(
        row_ids: Array, words: tuple[Array, ...], fills: tuple[Array, ...]
    ) -> tuple[Array, ...]:
        sources = [as_words(array) for array in words]
        gathered = call(
            "jaxframes_gather_rows_v1",
            [array[None] for array in (row_ids, *sources, *map(as_words, fills))],
            [(row_ids.shape, source.dtype) for source in sources],
        )
        return tuple(map(of_words, gathered, [array.dtype for array in words]))

    def xla(
        row_ids: Array, words: tuple[Array, ...], fills: tuple[Array, ...]
    ) -> tuple[Array, ...]:
        return as_varying(_gather_xla(row_ids, words, fills), axes)

    kernels = ({"cpu": native} if is_native() else {}) | on_core
    return by_platform(row_ids, tuple(words), tuple(fills), default=xla, **kernels)


def gather_on_tpu(
    row_ids: Array, words: Sequence[Array], fills: Sequence[Array]
) -> tuple[Array, ...]:
    """`gather_words` without XLA's gather; see `can_take_on_tpu`."""
    is_row = (row_ids >= 0) & (row_ids < words[0].shape[0])
    taken = take_on_tpu(words, jnp.where(is_row, row_ids, 0))
    found = tuple(jnp.where(is_row, *pair) for pair in zip(taken, fills, strict=True))
    return as_varying(found, varying_axes(row_ids, *words, *fills))


def _gather_xla(
    row_ids: Array, words: tuple[Array, ...], fills: tuple[Array, ...]
) -> tuple[Array, ...]:
    return tuple(
        of_words(_gather_one(row_ids, as_words(array), as_words(fill)), array.dtype)
        for array, fill in zip(words, fills, strict=True)
    )


def _gather_one(row_ids: Array, source: Array, fill: Array) -> Array:
    num_rows = source.shape[0]
    if num_rows == 0:
        return jnp.broadcast_to(fill, row_ids.shape)
    is_row = (row_ids >= 0) & (row_ids < num_rows)
    rows = source.at[jnp.where(is_row, row_ids, 0)].get(
        mode="promise_in_bounds", out_sharding=explicit_sharding(row_ids)
    )
    return jnp.where(is_row, rows, fill)
