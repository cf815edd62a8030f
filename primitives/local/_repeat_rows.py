# SPDX-License-Identifier: Apache-2.0
"""Repeats rows, each a number of times: the expansion of lists, of counts and of pairs."""

import functools
from typing import Any, NamedTuple

import jax.numpy as jnp

from ..contract._arguments import MAX_SHARD_ROWS, as_num_valid, as_row_ids, as_static_int
from ..contract._typing import Array, ArrayLike, Int, Integer
from ..kernels.join._pair_counts import MOST_PAIRS, expand_valid
from ..tiers._tiered import tiered


class Repeated(NamedTuple):
    """The row of each copy, the number of the copy among those of its row, and the copies."""

    row_ids: Int[Array, " capacity"]
    copies: Int[Array, " capacity"]
    count: Int[Array, ""]


def repeat_rows(
    repeats: Integer[ArrayLike, " rows"],
    *,
    capacity: int,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Repeated:
    """Repeats the id of each row a given number of times.

    What `numpy.repeat(numpy.arange(rows), repeats)` computes. Gather the rows by the ids.

    Args:
        repeats: number of copies of each row, integers of shape `(rows,)`. A negative number counts
            as zero.
        capacity: most copies of the result. Static.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        `Repeated(row_ids, copies, count)`, all int32: the row of each copy, -1 in padding; the
        number of the copy among those of its row, 0 in padding; and the number of copies, exact
        below `2**31 - 1`. `count > capacity` means that copies did not fit.

    Raises:
        TypeError: `repeats` are not integers, or `capacity` is traced.
        ValueError: `repeats` are not one-dimensional.

    Cost:
        Work O(rows + capacity). No communication.

    Guarantees:
        Deterministic; in the order of (row, copy). Values that are gathered by the ids are
        differentiable.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> repeated = local.repeat_rows(jnp.array([2, 0, 3]), capacity=6)
        >>> repeated.row_ids.tolist(), repeated.copies.tolist(), repeated.count.tolist()
        ([0, 0, 2, 2, 2, -1], [0, 1, 0, 1, 2, 0], 5)
    """
    caller = "repeat_rows"
    repeats = _as_int32(repeats, caller, "repeats")
    capacity = as_static_int(capacity, caller, "capacity", 0, MAX_SHARD_ROWS)
    return _repeat(repeats, as_num_valid(num_valid, repeats.shape[0], caller), capacity)


def as_repeats(repeats: Any, caller: str, name: str = "repeats") -> Array:
    """Checks numbers of copies; returns them as int32, not negative."""
    return _not_negative(_as_int32(repeats, caller, name))


@tiered
def _not_negative(repeats: Array) -> Array:
    return jnp.maximum(repeats, 0)


def _as_int32(repeats: Any, caller: str, name: str) -> Array:
    """Checks numbers of copies; returns them as int32."""
    repeats = as_row_ids(repeats, caller, name)
    return repeats if repeats.dtype == jnp.int32 else _narrowed(repeats)


@tiered
def _narrowed(repeats: Array) -> Array:
    if jnp.iinfo(repeats.dtype).max > MOST_PAIRS:
        repeats = jnp.clip(repeats, 0, MOST_PAIRS)
    return repeats.astype(jnp.int32)


@functools.partial(tiered, static_argnums=2)
def _repeat(repeats: Array, num_valid: Array, capacity: int) -> Repeated:
    return Repeated(*expand_valid(repeats, num_valid, capacity))
