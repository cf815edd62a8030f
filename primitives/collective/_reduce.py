# SPDX-License-Identifier: Apache-2.0
"""Rows of a mesh axis reduced to one."""

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..local import Reduced
from ..local.parts import (
    BlockParts,
    MaskedRows,
    ReducePlan,
    Transform,
    as_rows_to_reduce,
    reduce_block_parts,
    reduce_in_passes,
)
from ._axis import AxisName, as_shards, num_shards_on
from ._radix_sort import row_id_dtype


def reduce(
    x: PyTree,
    op: PyTree,
    *,
    axis_name: AxisName,
    where: PyTree | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    skip_nan: bool = False,
    transform: Transform | None = None,
    dtype: Any = None,
    ddof: int = 0,
) -> Reduced:
    """Reduces the rows of all shards to one.

    Args:
        x: this shard's rows, an array of shape `(rows, ...)` or a pytree of them.
        op: "sum", "prod", "min", "max", "count", "mean", "var", "std", "any", "all", "argmin" or
            "argmax"; or a pytree of these that is a prefix of `x`. Static.
        axis_name: mesh axis of the rows, or a tuple of axes.
        where: a flag for each row, bool of shape `(rows,)`: rows without one are excluded. Or a
            pytree of these, and of None, that is a prefix of `x`.
        num_valid: number of valid rows of this shard, at its front; all rows by default.
        skip_nan: excludes NaNs. Static.
        transform: see `local.reduce`. Static.
        dtype: see `local.reduce`.
        ddof: delta degrees of freedom; "var" and "std" divide by the number of rows minus `ddof`.
            Static.

    Returns:
        `Reduced(values, counts)`, the same on every shard; see `local.reduce`. A row id is global:
        `shard_index * rows` plus the id on the shard. Counts and ids are int64 where int32 does
        not hold the rows of all shards.

    Raises:
        TypeError: a dtype that `op` does not support, `where` is not bool, or `dtype` does not hold
            the rows.
        ValueError: lengths differ, `op` is unknown, all shards hold more than 2^31 rows
            without JAX's x64 mode, or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        That of `local.reduce`. Communication: one `all_gather` of a number for each value of a
        pass, and one `psum` of the counts.

    Guarantees:
        Deterministic; differentiable in `x` if the result is a float. The shards are combined
        in their order.

    Example:
        Two shards:

            shard 0   x [5 1 4]   where [1 0 1]
            shard 1   x [2 8 7]   where [1 1 0]
            ->
            both      "sum"      values 19   counts 4
            both      "argmax"   values 4    counts 4
    """
    caller = "reduce"
    num_shards = num_shards_on(axis_name, caller)
    rows, valid, plan = as_rows_to_reduce(caller, x, op, where, num_valid, transform, dtype, ddof)
    return Reduced(
        *reduce_shards(rows, valid, plan._replace(skip_nan=bool(skip_nan)), axis_name, num_shards)
    )


def reduce_shards(
    rows: MaskedRows,
    num_valid: Array | None,
    plan: ReducePlan,
    axis_name: AxisName,
    num_shards: int,
) -> tuple[Any, Any]:
    """The values and the counts of checked arguments."""
    dtype = row_id_dtype(rows.num_rows * num_shards, plan.caller)
    rows, num_valid = as_shards((rows, num_valid), axis_name)
    return reduce_in_passes(rows, num_valid, plan, _OverShards(axis_name, dtype))


@dataclass(frozen=True)
class _OverShards:
    """Combines the shards of an axis; `local._reduce_passes.OneShard` documents the methods."""

    axis_name: AxisName
    dtype: Any

    def combine(self, parts: BlockParts) -> BlockParts:
        leaves, structure = jax.tree.flatten(parts)
        dtypes = {leaf.dtype for leaf in leaves}
        gathered: list[Any] = list(leaves)
        # One message for each dtype. All shards gather all parts and combine them in one order.
        for dtype in dtypes:
            places = [place for place, leaf in enumerate(leaves) if leaf.dtype == dtype]
            numbers = jnp.concatenate([leaves[place].reshape(-1) for place in places])
            matrix = jax.lax.all_gather(
                as_shards(numbers, self.axis_name), self.axis_name, to="invarying"
            )
            start = 0
            for place in places:
                shape, stop = leaves[place].shape, start + leaves[place].size
                gathered[place] = matrix[:, start:stop].reshape(-1, *shape)
                start = stop
        return reduce_block_parts(jax.tree.unflatten(structure, gathered))

    def total(self, counts: list[Array]) -> list[Array]:
        counts = [as_shards(count.astype(self.dtype), self.axis_name) for count in counts]
        return jax.lax.psum(counts, self.axis_name)

    def row_ids(self, row_ids: Array, num_rows: int) -> Array:
        first = jax.lax.axis_index(self.axis_name).astype(self.dtype) * num_rows
        return first + row_ids.astype(self.dtype)
