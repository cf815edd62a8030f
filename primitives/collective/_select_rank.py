# SPDX-License-Identifier: Apache-2.0
"""Order statistics over the shards of a mesh axis, without moving rows."""

import functools
from typing import Any

import jax
import jax.numpy as jnp

from ...shardings._compat import varying_axes
from ..contract._arguments import as_key, as_num_valid, type_of
from ..contract._key_bits import ordered_words
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..kernels.sort._radix_sort import sort_words_with_row_ids
from ..local.parts import as_ranks
from ._axis import AxisName, as_shards, num_shards_on
from ._moving import move_rows
from ._splitters import position_of_ranks
from ._wide_counts import WideCount, minimum, psum_wide, subtract, widen


def select_rank(
    x: ArrayLike,
    ranks: int | Integer[ArrayLike, " ranks"],
    *,
    axis_name: AxisName,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Shaped[Array, " ranks"]:
    """Finds the elements of given ranks among the rows of all shards, rank 0 being the smallest.

    Args:
        x: this shard's elements, of shape `(rows,)` and any key dtype.
        ranks: integers of any shape, the same on every shard, in `[0, num_shards x rows)`. Traced
            ranks are clipped to the valid rows.
        axis_name: mesh axis of the rows, or a tuple of axes.
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        The elements, in the shape of `ranks`, the same on every shard; those at the same positions
        of a stable sort, bit for bit.

    Raises:
        TypeError: a dtype that is not a key dtype, or `ranks` that are not integers.
        ValueError: a concrete rank is out of range, ranks differ between shards, `x` is
            empty, or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        A local sort; then, for each 4 or 8 bits of the key, a `psum` of 16 or 256 counts for each
        rank, and a last `psum` of the elements.

    Guarantees:
        Deterministic; differentiable in `x`.

    References:
        Saukas, Song (1999), "A note on parallel selection on coarse-grained multicomputers".

    Example:
        Two shards, ranks [0 3]:

            shard 0   x [9 2 2]
            shard 1   x [2 1 0]
            ->
            both      [0 2]
    """
    caller = "select_rank"
    num_shards = num_shards_on(axis_name, caller)
    column = as_key(x, caller)
    num_rows = column.shape[0]
    ranks = as_shared(as_ranks(ranks, num_rows * num_shards, caller), axis_name, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    column, valid = as_shards((column, valid), axis_name)

    wanted = widen(jnp.maximum(ranks, jnp.zeros((), ranks.dtype)).reshape(-1))
    total = psum_wide(valid, axis_name)
    return select_wide(column, wanted, total, valid, axis_name).reshape(ranks.shape)


def select_wide(
    column: Array, ranks: WideCount, total: WideCount, num_valid: Array, axis_name: AxisName
) -> Array:
    """The elements of given ranks, which are clipped to the valid rows."""
    (word,) = ordered_words((column,), (False,))
    sorted_word, row_ids = sort_words_with_row_ids(word, num_valid)
    last = subtract(total, widen(jnp.ones((), jnp.int32)))
    ranks = minimum(ranks, WideCount(*(jnp.broadcast_to(part, ranks.low.shape) for part in last)))
    sorted_columns = (word._replace(word=sorted_word),)
    position, is_here = position_of_ranks(sorted_columns, num_valid, ranks, axis_name)
    plan = (take_rows(row_ids, position, is_unique=False), is_here)
    route = functools.partial(_route, axis_name=axis_name)
    return move_rows(column, plan, route)


def as_shared(ranks: Array, axis_name: AxisName, caller: str, name: str = "ranks") -> Array:
    """Checks that an argument is the same on every shard."""
    # Shards with different ranks would add up unrelated counts.
    own = frozenset((axis_name,) if isinstance(axis_name, str) else axis_name)
    if varying_axes(ranks) & own:
        raise ValueError(
            f"{caller}: {name} must be the same on every shard of {axis_name!r}, "
            f"got {type_of(ranks)}. Pass them through shard_map with an empty PartitionSpec, or "
            "gather them first (jax.lax.all_gather with to='invarying')."
        )
    return ranks


def _route(matrix: Array, plan: tuple[Array, Array], *, axis_name: AxisName) -> Any:
    # One shard has the element and all others add zero, which preserves its bits.
    row_ids, is_here = plan
    rows = take_rows(matrix, row_ids, is_unique=False)
    return jax.lax.psum(jnp.where(is_here[:, None], rows, jnp.zeros((), rows.dtype)), axis_name)
