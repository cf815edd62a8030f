# SPDX-License-Identifier: Apache-2.0
"""Linear layers with weights sharded by columns or by rows."""

from typing import Any

import jax

from ...shardings._compat import varying_axes
from ..contract._arguments import as_array, as_static_int, type_of
from ..contract._axis_scope import size_of_axis
from ..contract._typing import Array, ArrayLike, Shaped
from ._axis import AxisName, as_shards


def column_linear(
    x: Shaped[ArrayLike, "... inputs"],
    w: Shaped[ArrayLike, "inputs shard_outputs"],
    b: Shaped[ArrayLike, " shard_outputs"] | None = None,
    *,
    axis_name: AxisName,
    gather_axis: int | None = None,
) -> Shaped[Array, "... shard_outputs"]:
    """Multiplies by a matrix whose columns are sharded: each shard gets its part of the outputs.

    The first half of a pair of layers; an elementwise function and `row_linear` follow.

    Args:
        x: inputs, the same on every shard; with `gather_axis` this shard's part of them.
        w: this shard's columns of the weights.
        b: this shard's part of the bias.
        axis_name: mesh axis of the columns, or a tuple of axes.
        gather_axis: axis of `x` that is sharded, for example that of the tokens; all parts are
            gathered first. Static.

    Returns:
        This shard's part of `x @ w + b`.

    Raises:
        TypeError: dtypes differ, or an argument is not an array of numbers.
        ValueError: lengths differ, or `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows x inputs x shard_outputs). No communication forward, and one all-reduce in the
        derivative with respect to `x`. With `gather_axis` one all-gather forward, and one
        reduce-scatter in the derivative.

    Guarantees:
        Differentiable in `x`, `w` and `b`.

    References:
        Shoeybi et al. (2019), "Megatron-LM: Training multi-billion parameter language models using
        model parallelism".

    Example:
        Two shards, x = [1 2] on both:

            shard 0   w [[1] [0]]
            shard 1   w [[0] [3]]
            ->
            shard 0   [1]
            shard 1   [6]
    """
    caller = "column_linear"
    size_of_axis(axis_name, caller)
    x, w, b = _checked(x, w, b, caller)
    if gather_axis is not None:
        gather_axis = as_static_int(gather_axis, caller, "gather_axis", 0, x.ndim - 2)
        x = jax.lax.all_gather(as_shards(x, axis_name), axis_name, axis=gather_axis, tiled=True)
    return _with_bias(as_shards(x, axis_name) @ w, b)


def row_linear(
    x: Shaped[ArrayLike, "... shard_inputs"],
    w: Shaped[ArrayLike, "shard_inputs outputs"],
    b: Shaped[ArrayLike, " outputs"] | None = None,
    *,
    axis_name: AxisName,
    scatter_axis: int | None = None,
) -> Shaped[Array, "... outputs"]:
    """Multiplies by a matrix whose rows are sharded, and sums over the shards.

    The second half of a pair of layers: takes the result of `column_linear`.

    Args:
        x: this shard's part of the inputs.
        w: this shard's rows of the weights.
        b: the whole bias, the same on every shard; it is added once.
        axis_name: mesh axis of the rows, or a tuple of axes.
        scatter_axis: axis of the result to shard instead of a result on every shard, for example
            that of the tokens. Static.

    Returns:
        `x @ w + b` summed over the shards, the same on every shard; with `scatter_axis` this
        shard's part of it.

    Raises:
        TypeError: dtypes differ, or an argument is not an array of numbers.
        ValueError: lengths differ, the shards do not divide `scatter_axis`, or `axis_name` is not
            an axis of the enclosing `shard_map`.

    Cost:
        Work O(rows x shard_inputs x outputs). One all-reduce forward and none in the derivative.
        With `scatter_axis` one reduce-scatter, and one all-gather in the derivative.

    Guarantees:
        Differentiable in `x`, `w` and `b`.

    References:
        Shoeybi et al. (2019), "Megatron-LM: Training multi-billion parameter language models using
        model parallelism".

    Example:
        Two shards:

            shard 0   x [1]   w [[1 1]]
            shard 1   x [6]   w [[2 0]]
            ->
            each      [13 1]
    """
    caller = "row_linear"
    num_shards = size_of_axis(axis_name, caller)
    x, w, b = _checked(x, w, b, caller)
    axes = frozenset((axis_name,) if isinstance(axis_name, str) else axis_name)
    if axes & varying_axes(b):
        raise ValueError(
            f"{caller}: b must be the same on every shard of {axis_name!r}, got {type_of(b)}, "
            "which varies. Pass it with a partition spec that does not name the axis."
        )
    partial = as_shards(x @ w, axis_name)
    if scatter_axis is None:
        y = jax.lax.psum(partial, axis_name)
    else:
        scatter_axis = as_static_int(scatter_axis, caller, "scatter_axis", 0, partial.ndim - 2)
        if partial.shape[scatter_axis] % num_shards:
            raise ValueError(
                f"{caller}: scatter_axis {scatter_axis} must have a length of a multiple of "
                f"{num_shards}, the number of shards, got {type_of(partial)}. Pad it first."
            )
        y = jax.lax.psum_scatter(partial, axis_name, scatter_dimension=scatter_axis, tiled=True)
    return _with_bias(y, b)


def _with_bias(y: Array, b: Array | None) -> Array:
    return y if b is None else y + b.reshape((1,) * (y.ndim - 1) + b.shape)


def _checked(x: Any, w: Any, b: Any, caller: str) -> tuple[Array, Array, Array | None]:
    x, w = as_array(x, caller, "x"), as_array(w, caller, "w")
    if w.ndim != 2 or x.ndim == 0 or x.shape[-1] != w.shape[0]:
        raise ValueError(
            f"{caller}: the last axis of x must have the length of the first of the matrix w, "
            f"got x {type_of(x)} and w {type_of(w)}. Check how each is sharded."
        )
    if b is not None:
        b = as_array(b, caller, "b")
        if b.shape != w.shape[1:]:
            raise ValueError(
                f"{caller}: b must have one entry for each column of w, got b {type_of(b)} and "
                f"w {type_of(w)}."
            )
    dtypes = {array.dtype for array in (x, w, b) if array is not None}
    if len(dtypes) > 1:
        names = ", ".join(sorted(map(str, dtypes)))
        raise TypeError(
            f"{caller}: x, w and b must have the same dtype, got {names}. Cast them first."
        )
    return x, w, b
