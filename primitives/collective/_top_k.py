# SPDX-License-Identifier: Apache-2.0
"""The k first rows in the order of a sort, over the shards of a mesh axis."""

import functools

import jax
import jax.numpy as jnp

from ..contract._arguments import as_flag, as_key, as_num_valid, as_static_int
from ..contract._key_bits import ordered_word, ordered_words
from ..contract._moved import with_tangents
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Integer
from ..kernels.sort._top_k import top_k_words
from ..local import TopK
from ..local.parts import argsort_columns
from ._axis import AxisName, as_shards, num_shards_on
from ._packing import pack_rows, unpack_rows
from ._radix_sort import global_row_ids


def top_k(
    x: ArrayLike,
    k: int,
    *,
    axis_name: AxisName,
    largest: bool = True,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> TopK:
    """Finds the k largest (or smallest) elements of all shards, in order.

    They are the first k rows of a stable sort in that direction, so ties go to the lowest row id,
    -0.0 equals 0.0, and NaN comes after every number, in both directions.

    Args:
        x: this shard's elements, of shape `(rows,)` and any key dtype.
        k: number of elements, in `[0, num_shards x rows]`. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        largest: finds the largest elements if True, else the smallest.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
            With fewer than `k` valid rows on the mesh, padding fills the end of the result.

    Returns:
        `TopK(values, row_ids)`, each of shape `(k,)`, the same on every shard; row ids are global,
        `shard * rows + row`.

    Raises:
        ValueError: `k` is out of range, or `axis_name` is not an axis of the enclosing `shard_map`.
        TypeError: a dtype that is not a key dtype, or `k` is traced.

    Cost:
        Work O(rows + num_shards x k). Communication: one `all_gather` of `min(k, rows)` elements
        and ids from each shard.

    Guarantees:
        Stable; deterministic; differentiable in `x`.

    Example:
        Two shards, k = 3:

            shard 0   x [5 9 1]
            shard 1   x [9 0 7]
            ->
            both      values [9 9 7]   row ids [1 3 5]
    """
    caller = "top_k"
    largest = as_flag(largest, caller, "largest")
    num_shards = num_shards_on(axis_name, caller)
    column = as_key(x, caller)
    num_rows = column.shape[0]
    k = as_static_int(k, caller, "k", 0, num_rows * num_shards)
    valid = as_num_valid(num_valid, num_rows, caller)
    column, valid = as_shards((column, valid), axis_name)
    if k == 0:
        # A message must have rows.
        return TopK(jnp.zeros((0,), column.dtype), jnp.zeros((0,), jnp.int32))

    num_candidates = min(k, num_rows)
    local_ids = top_k_words(ordered_word(column, descending=largest), num_candidates, valid)
    row_ids = take_rows(global_row_ids(num_rows, axis_name, caller), local_ids)
    is_padding = jax.lax.iota(jnp.int32, num_candidates) >= valid
    # Candidates are in the order of their shards, so a stable sort gives ties to the lowest id.
    rows = (jax.lax.stop_gradient(take_rows(column, local_ids)), row_ids, is_padding)
    words = jax.lax.all_gather(pack_rows(rows), axis_name, tiled=True, to="invarying")
    candidates = unpack_rows(words, rows)
    order = argsort_columns(
        ordered_words((candidates[2], candidates[0]), (False, largest)),
        jnp.asarray(words.shape[0], jnp.int32),
    )[:k]
    values, row_ids, _ = take_rows(candidates, order)
    route = functools.partial(_route, axis_name=axis_name)
    return TopK(with_tangents(route, values, column, (local_ids, order)), row_ids)


def _route(matrix: Array, plan: tuple[Array, Array], *, axis_name: AxisName) -> Array:
    local_ids, order = plan
    candidates = take_rows(matrix, local_ids)
    return take_rows(jax.lax.all_gather(candidates, axis_name, tiled=True, to="invarying"), order)
