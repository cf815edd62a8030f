# SPDX-License-Identifier: Apache-2.0
"""Rows of a mesh axis reduced to one."""

import functools
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import as_flag
from ..contract._custom_jvp import custom_jvp
from ..contract._typing import Array, ArrayLike, Integer, PyTree
from ..local import Reduced
from ..local.parts import (
    BlockParts,
    MaskedRows,
    ReducePlan,
    Transform,
    as_rows_to_reduce,
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
    operands: tuple[PyTree, ...] = (),
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
        operands: further arguments of `transform`; see `local.reduce`.
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
        That of `local.reduce`. Communication: one `psum`, `pmin` or `pmax` of each value, an
        `all_gather` for "prod", and one `psum` of the counts.

    Guarantees:
        Deterministic; differentiable in `x` if the result is a float.

    Example:
        Two shards:

            shard 0   x [5 1 4]   where [1 0 1]
            shard 1   x [2 8 7]   where [1 1 0]
            ->
            both      "sum"      values 19   counts 4
            both      "argmax"   values 4    counts 4
    """
    caller = "reduce"
    skip_nan = as_flag(skip_nan, caller, "skip_nan")
    num_shards = num_shards_on(axis_name, caller)
    rows, valid, plan = as_rows_to_reduce(caller, x, op, where, num_valid, transform, dtype, ddof)
    plan = plan._replace(skip_nan=skip_nan)
    return Reduced(*reduce_shards(rows, operands, valid, plan, axis_name, num_shards))


def reduce_shards(
    rows: MaskedRows,
    operands: tuple[Any, ...],
    num_valid: Array | None,
    plan: ReducePlan,
    axis_name: AxisName,
    num_shards: int,
) -> tuple[Any, Any]:
    """The values and the counts of checked arguments."""
    dtype = row_id_dtype(rows.num_rows * num_shards, plan.caller)
    rows, num_valid = as_shards((rows, num_valid), axis_name)
    return reduce_in_passes(rows, operands, num_valid, plan, _OverShards(axis_name, dtype))


@dataclass(frozen=True)
class _OverShards:
    """Combines the shards of an axis; `local._reduce_passes.OneShard` documents the methods."""

    axis_name: AxisName
    dtype: Any

    def combine(self, parts: BlockParts) -> BlockParts:
        return {
            name: {
                number: self._combined(name, as_shards(part, self.axis_name))
                for number, part in arrays.items()
            }
            for name, arrays in parts.items()
        }

    def _combined(self, name: str, part: Array) -> Array:
        match name:
            case "sum":
                return jax.lax.psum(part, self.axis_name)
            case "min" | "max":
                is_float = jnp.issubdtype(part.dtype, jnp.floating)
                extreme = _extreme if is_float else _extreme_of_shards
                return extreme(part, self.axis_name, name == "max")
            case "any" | "all":
                votes = _extreme_of_shards(part.astype(jnp.int32), self.axis_name, name == "any")
                return votes != 0
        # No collective multiplies.
        of_shards = jax.lax.all_gather(part, self.axis_name, to="invarying")
        return jnp.prod(of_shards, axis=0, dtype=part.dtype)

    def total(self, counts: list[Array]) -> list[Array]:
        counts = [as_shards(count.astype(self.dtype), self.axis_name) for count in counts]
        return jax.lax.psum(counts, self.axis_name)

    def row_ids(self, row_ids: Array, num_rows: int) -> Array:
        first = jax.lax.axis_index(self.axis_name).astype(self.dtype) * num_rows
        return first + row_ids.astype(self.dtype)


def _extreme_of_shards(part: Array, axis_name: AxisName, is_max: bool) -> Array:
    return (jax.lax.pmax if is_max else jax.lax.pmin)(part, axis_name)


@functools.partial(custom_jvp, nondiff_argnums=(1, 2))
def _extreme(part: Array, axis_name: AxisName, is_max: bool) -> Array:
    return _extreme_of_shards(part, axis_name, is_max)


@_extreme.defjvp
def _tangent_of_extreme(
    axis_name: AxisName, is_max: bool, primals: Any, tangents: Any, extreme: Array
) -> Array:
    del is_max
    (part,), (tangent,) = primals, tangents
    # Shards that tie share the derivative, as rows that tie do.
    is_tied = (part == extreme).astype(part.dtype)
    moved, num_tied = jax.lax.psum((is_tied * tangent, is_tied), axis_name)
    return moved / num_tied
