# SPDX-License-Identifier: Apache-2.0
"""Stable selection by a mask: the portable definition, and the kernels on CPU and CUDA.

On TPU the portable way shifts the rows to the front, elsewhere it gathers them.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ....shardings._compat import as_varying, like_varying, varying_axes
from ...contract._platform import by_platform
from ...contract._take import take_rows_or_zeros
from ...contract._typing import Array
from ..base._cuda import has_cuda_kernels, on_cuda
from ..base._foreign import as_words, call, in_groups, of_words
from ..base._library import is_native
from ._log_shift import compact_by_shifts

_CHUNK_ROWS = 1 << 16  # kFlagChunkRows in kept_words.h
# What a program that uses one column of a call may move in vain.
_MOST_ROW_BYTES = 32


class Flags(NamedTuple):
    """A mask with its counts, computed once for all selected columns.

    Attributes:
        mask: a flag for each row, `bool[rows]`.
        num_valid: number of valid rows, at the front.
        count: the number of flagged valid rows.
        before: the number of them before each chunk of rows; None without a kernel.
    """

    mask: Array
    num_valid: Array
    count: Array
    before: Array | None


def count_flags(mask: Array, num_valid: Array) -> Flags:
    """Counts the flags of the first `num_valid` rows of a mask."""
    num_rows = mask.shape[0]
    if num_rows == 0 or not (is_native() or has_cuda_kernels()):
        return Flags(mask, num_valid, _count_xla(mask, num_valid), None)
    num_chunks = -(-num_rows // _CHUNK_ROWS)

    def native(target: str, mask: Array, num_valid: Array) -> tuple[Array, Array]:
        results = (((num_chunks,), jnp.int32), ((), jnp.int32))
        before, count = call(target, (mask[None], num_valid[None]), results)
        return before, count

    def xla(mask: Array, num_valid: Array) -> tuple[Array, Array]:
        count = _count_xla(mask, num_valid)
        return like_varying(jnp.zeros((num_chunks,), jnp.int32), count), count

    kernels = _kernels(native, "count_flags")
    before, count = by_platform(mask, num_valid, default=xla, **kernels)
    return Flags(mask, num_valid, count, before)


def flagged_rows(mask: Array, capacity: int, num_valid: Array) -> tuple[Array, Array]:
    """Finds the rows that a mask flags.

    Args:
        mask: a flag for each row, `bool[rows]`.
        capacity: number of row ids in the result.
        num_valid: number of valid rows, at the front.

    Returns:
        The ids of the flagged rows in order, `int32[capacity]`, padded with zeros; and the true
        number of flagged rows.
    """
    flags = count_flags(mask, num_valid)
    return flagged_ids(flags, capacity), flags.count


def flagged_ids(flags: Flags, capacity: int) -> Array:
    """The ids of flagged rows in order, `int32[capacity]`, padded with zeros."""
    (row_ids,) = flagged_words(
        flags, (), capacity, lambda: (_flagged_ids_xla(flags, capacity),), with_ids=True
    )
    return row_ids


def select_words(
    mask: Array, words: Sequence[Array], capacity: int, num_valid: Array
) -> tuple[tuple[Array, ...], Array]:
    """Selects flagged rows of arrays that satisfy `is_words`; returns them and their number."""
    flags = count_flags(mask, num_valid)

    def by_ids() -> tuple[Array, ...]:
        is_kept = jax.lax.iota(jnp.int32, capacity) < flags.count
        return take_rows_or_zeros(tuple(words), flagged_ids(flags, capacity), is_kept)

    return flagged_words(flags, words, capacity, by_ids), flags.count


def flagged_words(
    flags: Flags,
    words: Sequence[Array],
    capacity: int,
    otherwise: Callable[[], tuple[Array, ...]],
    *,
    with_ids: bool = False,
) -> tuple[Array, ...]:
    """Selects the words of flagged rows by one kernel if possible; without derivatives.

    XLA removes the kernel if none of its results are used, but it cannot remove a part of it.

    Args:
        flags: the flagged rows.
        words: the arrays to select from; each satisfies `is_words`.
        capacity: number of rows in the result.
        otherwise: the XLA version.
        with_ids: also return the ids of the flagged rows, as the first result.

    Returns:
        The words of the flagged rows of each array in order, padded with zeros.
    """
    if flags.mask.shape[0] == 0:
        return otherwise()

    # All results of one kernel vary over the same mesh axes.
    axes = varying_axes(*jax.tree.leaves(flags), *words)

    def native(target: str, flags: Flags, words: tuple[Array, ...]) -> tuple[Array, ...]:
        assert flags.before is not None
        sources = tuple(map(as_words, words))
        dtypes = [jnp.int32] * with_ids + [source.dtype for source in sources]
        counted = (flags.mask[None], flags.before[None], flags.count[None])
        selected = call(
            target,
            (*counted, *(source[None] for source in sources)),
            [((capacity,), dtype) for dtype in dtypes],
        )
        dtypes = [jnp.int32] * with_ids + [array.dtype for array in words]
        return tuple(map(of_words, selected, dtypes))

    def by_shifts(flags: Flags, words: tuple[Array, ...]) -> tuple[Array, ...]:
        row_ids = (jax.lax.iota(jnp.int32, flags.mask.shape[0]),) * with_ids
        is_flagged = _is_flagged(flags.mask, flags.num_valid)
        return as_varying(compact_by_shifts(is_flagged, (*row_ids, *words), capacity), axes)

    kernels = _kernels(native, "flagged_rows")
    return by_platform(
        flags,
        tuple(words),
        tpu=by_shifts,
        default=lambda *_: as_varying(otherwise(), axes),
        **kernels,
    )


def flagged_columns(
    flags: Flags,
    columns: Sequence[Array],
    capacity: int,
    otherwise: Callable[[Sequence[Array]], tuple[Array, ...]],
    *,
    with_ids: bool = False,
) -> tuple[Array, ...]:
    """Selects the words of flagged rows of each array apart, so that XLA drops what is not used.

    On CUDA a call takes columns of up to `_MOST_ROW_BYTES` together: each launch has a price.

    Args:
        flags: the flagged rows.
        columns: the arrays to select from; each satisfies `is_words`.
        capacity: number of rows in the result.
        otherwise: the XLA version, given some of the columns.
        with_ids: also return the ids of the flagged rows, as the first result.
    """

    def select(columns: Sequence[Array], flags: Flags) -> tuple[Array, ...]:
        by_xla = functools.partial(otherwise, columns)
        return flagged_words(flags, columns, capacity, by_xla)

    def ids(flags: Flags) -> tuple[Array, ...]:
        return (flagged_ids(flags, capacity),) if with_ids else ()

    def apart(flags: Flags, columns: tuple[Array, ...]) -> tuple[Array, ...]:
        return *ids(flags), *(select((column,), flags)[0] for column in columns)

    def together(flags: Flags, columns: tuple[Array, ...]) -> tuple[Array, ...]:
        return *ids(flags), *in_groups(select, columns, flags, row_bytes=_MOST_ROW_BYTES)

    def at_once(flags: Flags, columns: tuple[Array, ...]) -> tuple[Array, ...]:
        def by_xla() -> tuple[Array, ...]:
            return *ids(flags), *otherwise(columns)

        return flagged_words(flags, columns, capacity, by_xla, with_ids=with_ids)

    # All results of one call vary over the same mesh axes.
    axes = varying_axes(*jax.tree.leaves(flags))
    row_bytes = 4 * with_ids + sum(column.dtype.itemsize for column in columns)
    fits = row_bytes <= _MOST_ROW_BYTES and all(varying_axes(one) == axes for one in columns)
    kernels = on_cuda(at_once if fits else together) if len(columns) + with_ids > 1 else {}
    return by_platform(flags, tuple(columns), default=apart, **kernels)


def _kernels(native: Callable[..., Any], name: str) -> dict[str, Callable[..., Any]]:
    """The kernels of each platform, which have one contract."""
    on_cpu = functools.partial(native, f"jaxframes_{name}_v1")
    return ({"cpu": on_cpu} if is_native() else {}) | on_cuda(
        functools.partial(native, f"jaxframes_cuda_{name}_v1")
    )


def _is_flagged(mask: Array, num_valid: Array) -> Array:
    return mask & (jax.lax.iota(jnp.int32, mask.shape[0]) < num_valid)


def _count_xla(mask: Array, num_valid: Array) -> Array:
    return jnp.sum(_is_flagged(mask, num_valid), dtype=jnp.int32)


def _flagged_ids_xla(flags: Flags, capacity: int) -> Array:
    is_flagged = _is_flagged(flags.mask, flags.num_valid)
    counts = jnp.cumsum(is_flagged, dtype=jnp.int32)
    # Unflagged rows and rows that do not fit are written past the end, which drops them.
    positions = jnp.where(is_flagged, counts - 1, capacity)
    zeros = like_varying(jnp.zeros((capacity,), jnp.int32), positions)
    row_ids = jax.lax.iota(jnp.int32, flags.mask.shape[0])
    return zeros.at[positions].set(row_ids, mode="drop")
