# SPDX-License-Identifier: Apache-2.0
"""Mean gradients over the microbatches of a batch."""

import math
from collections.abc import Callable
from typing import Any, TypeVar

import jax
import jax.numpy as jnp

from ...shardings._compat import as_varying, explicit_sharding, varying_axes
from ..contract._arguments import as_array, as_static_int, num_rows_of, type_of
from ..contract._typing import Array, PyTree

Gradients = TypeVar("Gradients")


def accumulate(
    grad_fn: Callable[[Any, Any], Gradients],
    params: PyTree,
    batch: PyTree,
    steps: int,
) -> Gradients:
    """Averages a function of a batch over microbatches, one after the other.

    Microbatch `i` holds the rows `i`, `i + steps`, `i + 2 * steps` and so on. So a batch that is
    sharded by rows stays where it is, and each device works on each microbatch.

    Args:
        grad_fn: a function of `params` and a microbatch whose result is a mean over the rows, such
            as `jax.grad` or `jax.value_and_grad` of a mean loss. Its results are floats.
        params: any pytree.
        batch: any pytree of arrays with the same leading axis.
        steps: number of microbatches. Static.

    Returns:
        The mean of `grad_fn(params, microbatch)` over the microbatches, with its structure and
        dtypes.

    Raises:
        ValueError: `steps` does not divide the rows of `batch`, or their numbers differ; or the
            shards of a batch on Explicit axes do not divide the rows of a microbatch.
        TypeError: `steps` is traced or not an integer, `grad_fn` is not callable, or it returns
            integers or bools.

    Cost:
        The work of `grad_fn` on the whole batch; its temporary memory for one microbatch, and one
        accumulator for each result. One loop for any number of steps, by `lax.scan`. Inside
        `shard_map`, JAX sums gradients in replicated `params` over the shards in every step. Mark
        `params` with `jax.lax.pcast(params, axis_name, to="varying")` first, and reduce once.

    Guarantees:
        Deterministic; equal to `grad_fn(params, batch)` but for rounding, because all microbatches
        have the same number of rows. Float16 and bfloat16 are summed in float32. Differentiable;
        works inside `shard_map` and on meshes of Auto and Explicit axes.

    Example:
        The mean loss of four rows in two steps:

            rows           [1 2 3 4]
            microbatches   [1 3]  [2 4]
            means          2      3
            ->             2.5

        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import staging
        >>> rows = jnp.array([1.0, 2.0, 3.0, 4.0])
        >>> float(staging.accumulate(lambda params, rows: jnp.mean(params * rows), 1.0, rows, 2))
        2.5
    """
    if not callable(grad_fn):
        raise TypeError(
            f"accumulate: grad_fn must be callable, got {type_of(grad_fn)}. Pass jax.grad of a "
            "mean loss."
        )
    steps = as_static_int(steps, "accumulate", "steps", lowest=1)
    batch = jax.tree.map(_as_leaf, batch)
    num_rows = num_rows_of(batch, "accumulate", "batch")
    if num_rows % steps:
        divisors = [d for d in range(1, num_rows + 1) if num_rows % d == 0]
        nearest = min(divisors, key=lambda divisor: abs(divisor - steps))
        raise ValueError(
            f"accumulate: steps must divide the {num_rows} rows of batch, got {steps}. "
            f"Take steps={nearest}, or pad the batch to {-(-num_rows // steps) * steps} rows."
        )

    for leaf in jax.tree.leaves(batch):
        _check_shards(leaf, num_rows, steps)

    def split(leaf: Array) -> Array:
        return leaf.reshape(num_rows // steps, steps, *leaf.shape[1:])

    def result_of(step: Any) -> Gradients:
        microbatch = jax.tree.map(
            lambda leaf: jax.lax.dynamic_index_in_dim(leaf, step, axis=1, keepdims=False), rows
        )
        return grad_fn(params, microbatch)

    def add(sums: Any, step: Array) -> tuple[Any, None]:
        result = result_of(step)
        return jax.tree.map(
            lambda total, leaf: total + jnp.asarray(leaf, total.dtype), sums, result
        ), None

    rows = jax.tree.map(split, batch)
    types = jax.eval_shape(result_of, jnp.int32(0))
    sums, _ = jax.lax.scan(add, _accumulators(types), jnp.arange(steps, dtype=jnp.int32))
    return jax.tree.map(lambda total, kind: (total / steps).astype(kind.dtype), sums, types)


def _as_leaf(leaf: Any) -> Array:
    # Of JAX's own arrays any dtype can be split, random keys included.
    return leaf if isinstance(leaf, jax.Array) else as_array(leaf, "accumulate", "batch")


def _check_shards(leaf: Array, num_rows: int, steps: int) -> None:
    """Checks that the shards of explicit rows divide a microbatch."""
    sharding = explicit_sharding(leaf)
    if sharding is None or sharding.spec[0] is None:
        return
    shards = num_rows // sharding.shard_shape(leaf.shape)[0]
    if num_rows // steps % shards:
        raise ValueError(
            f"accumulate: the {shards} shards of batch must divide the rows of a microbatch, got "
            f"{num_rows // steps} rows in each of {steps} steps, and batch {type_of(leaf)}. Take "
            f"steps={math.gcd(steps, num_rows // shards)}, or shard the batch over fewer devices."
        )


def _accumulators(types: Any) -> Any:
    """Zeros of the types of the results, 16-bit floats as float32."""

    def zeros(path: Any, kind: jax.ShapeDtypeStruct) -> Array:
        if not jnp.issubdtype(kind.dtype, jnp.inexact):
            raise TypeError(
                f"accumulate: grad_fn must return floats, got {jax.typeof(kind)} at "
                f"result{jax.tree_util.keystr(path)}. Cast it to float32."
            )
        dtype = jnp.float32 if jnp.finfo(kind.dtype).bits < 32 else kind.dtype
        total = jnp.zeros(kind.shape, dtype, out_sharding=explicit_sharding(kind))
        return as_varying(total, varying_axes(kind))

    return jax.tree_util.tree_map_with_path(zeros, types)
