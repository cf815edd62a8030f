# SPDX-License-Identifier: Apache-2.0
"""JAX's collectives on trees, with their arguments checked."""

from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import as_flag, as_static_int, as_tree, type_of
from ..contract._axis_scope import size_of_axis
from ..contract._typing import Array, PyTree
from ._axis import AxisName, as_shards
from ._moving import move_rows


def psum(tree: PyTree, *, axis_name: AxisName) -> PyTree:
    """Sums arrays over the shards of an axis.

    Args:
        tree: any pytree of arrays; the dtypes may differ. bool is counted in int32.
        axis_name: mesh axis, or a tuple of axes.

    Returns:
        The sums, of the same structure, the same on every shard.

    Raises:
        TypeError: a leaf is not an array of numbers.
        ValueError: `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        One all-reduce, as in `jax.lax.psum`: the program is the same.

    Guarantees:
        Differentiable in `tree`.

    Example:
        Two shards:

            shard 0   {"loss": 1.0, "rows": 3}
            shard 1   {"loss": 2.0, "rows": 4}
            ->
            each      {"loss": 3.0, "rows": 7}
    """
    return jax.lax.psum(_checked(tree, axis_name, "psum"), axis_name)


def pmean(tree: PyTree, *, axis_name: AxisName) -> PyTree:
    """Averages arrays over the shards of an axis.

    Args:
        tree: any pytree of arrays; the dtypes may differ. Integers become floats.
        axis_name: mesh axis, or a tuple of axes.

    Returns:
        The means, of the same structure, the same on every shard.

    Raises:
        TypeError: a leaf is not an array of numbers.
        ValueError: `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        One all-reduce, as in `jax.lax.pmean`: the program is the same.

    Guarantees:
        Differentiable in `tree`.

    Example:
        Two shards:

            shard 0   {"loss": 1.0, "w": [1. 4.]}
            shard 1   {"loss": 2.0, "w": [3. 4.]}
            ->
            each      {"loss": 1.5, "w": [2. 4.]}
    """
    return jax.lax.pmean(_checked(tree, axis_name, "pmean"), axis_name)


def pmax(tree: PyTree, *, axis_name: AxisName) -> PyTree:
    """Takes the elementwise maximum of arrays over the shards of an axis.

    Args:
        tree: any pytree of arrays of real numbers; the dtypes may differ.
        axis_name: mesh axis, or a tuple of axes.

    Returns:
        The maxima, of the same structure, the same on every shard.

    Raises:
        TypeError: a leaf is not an array of real numbers.
        ValueError: `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        One all-reduce, as in `jax.lax.pmax`: the program is the same.

    Guarantees:
        Exact; not differentiable. Use `reduce` for a maximum with a derivative.

    Example:
        Two shards:

            shard 0   [1. 5.]
            shard 1   [2. 3.]
            ->
            each      [2. 5.]
    """
    return jax.lax.pmax(_real(_checked(tree, axis_name, "pmax"), "pmax"), axis_name)


def pmin(tree: PyTree, *, axis_name: AxisName) -> PyTree:
    """Takes the elementwise minimum of arrays over the shards of an axis.

    Args:
        tree: any pytree of arrays of real numbers; the dtypes may differ.
        axis_name: mesh axis, or a tuple of axes.

    Returns:
        The minima, of the same structure, the same on every shard.

    Raises:
        TypeError: a leaf is not an array of real numbers.
        ValueError: `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        One all-reduce, as in `jax.lax.pmin`: the program is the same.

    Guarantees:
        Exact; not differentiable. Use `reduce` for a minimum with a derivative.

    Example:
        Two shards:

            shard 0   [1. 5.]
            shard 1   [2. 3.]
            ->
            each      [1. 3.]
    """
    return jax.lax.pmin(_real(_checked(tree, axis_name, "pmin"), "pmin"), axis_name)


def all_gather(tree: PyTree, *, axis_name: AxisName, axis: int = 0, tiled: bool = False) -> PyTree:
    """Gathers the arrays of all shards on each of them.

    Args:
        tree: any pytree of arrays; the dtypes may differ.
        axis_name: mesh axis, or a tuple of axes.
        axis: array axis of the result that the shards lie along. Static.
        tiled: concatenate along the existing `axis`; otherwise `axis` is a new one. Static.

    Returns:
        The arrays of all shards, of the same structure.

    Raises:
        TypeError: a leaf is not an array of numbers, or `axis` is traced.
        ValueError: `axis_name` is not an axis of the enclosing `shard_map`, or a leaf has no
            such `axis`.

    Cost:
        One all-gather a leaf, as in `jax.lax.all_gather`: the program is the same.

    Guarantees:
        Every bit is kept; differentiable in `tree`.

    Example:
        Two shards:

            shard 0   [1 2]
            shard 1   [3 4]
            ->
            each      [[1 2] [3 4]], or with tiled=True [1 2 3 4]
    """
    caller = "all_gather"
    tree = _checked(tree, axis_name, caller)
    axis, tiled = as_static_int(axis, caller, "axis"), as_flag(tiled, caller, "tiled")
    for leaf in jax.tree.leaves(tree):
        if axis >= leaf.ndim + (not tiled):
            raise ValueError(
                f"{caller}: axis must lie in [0, {leaf.ndim - tiled}] for {type_of(leaf)}, "
                f"got {axis}."
            )
    return jax.lax.all_gather(tree, axis_name, axis=axis, tiled=tiled)


def psum_scatter(
    tree: PyTree, *, axis_name: AxisName, axis: int = 0, tiled: bool = False
) -> PyTree:
    """Sums arrays over the shards of an axis; each shard keeps its part of the sums.

    Args:
        tree: any pytree of arrays; the dtypes may differ.
        axis_name: mesh axis, or a tuple of axes.
        axis: array axis that the sums are cut along. Static.
        tiled: keep `axis`, cut into `num_shards` parts; otherwise its length must be `num_shards`
            and it is removed. Static.

    Returns:
        This shard's part of the sums, of the same structure.

    Raises:
        TypeError: a leaf is not an array of numbers, or `axis` is traced.
        ValueError: `axis_name` is not an axis of the enclosing `shard_map`, or the length of
            `axis` is not divisible as `tiled` requires.

    Cost:
        One reduce-scatter a leaf, as in `jax.lax.psum_scatter`: the program is the same.

    Guarantees:
        Differentiable in `tree`.

    Example:
        Two shards, tiled=True:

            shard 0   [1 2 3 4]
            shard 1   [5 6 7 8]
            ->
            shard 0   [6 8]
            shard 1   [10 12]
    """
    caller = "psum_scatter"
    num_shards = size_of_axis(axis_name, caller)
    tree = _checked(tree, axis_name, caller)
    axis, tiled = as_static_int(axis, caller, "axis"), as_flag(tiled, caller, "tiled")
    for leaf in jax.tree.leaves(tree):
        length = leaf.shape[axis] if axis < leaf.ndim else 0
        if axis >= leaf.ndim or (length % num_shards if tiled else length != num_shards):
            rule = f"a multiple of {num_shards}" if tiled else f"{num_shards}, as without tiled"
            raise ValueError(
                f"{caller}: axis {axis} of each leaf must have a length of {rule}, the number of "
                f"shards, got {type_of(leaf)}. "
                + ("Pad it first." if tiled else "Pass tiled=True to cut a longer axis.")
            )
    return jax.lax.psum_scatter(tree, axis_name, scatter_dimension=axis, tiled=tiled)


def broadcast(tree: PyTree, src: int, *, axis_name: AxisName) -> PyTree:
    """Copies the arrays of one shard to all shards of an axis.

    Args:
        tree: any pytree of arrays; the dtypes may differ.
        src: the shard with the arrays to copy, in `[0, num_shards)`. Static.
        axis_name: mesh axis, or a tuple of axes.

    Returns:
        The arrays of shard `src`, of the same structure, the same on every shard.

    Raises:
        TypeError: a leaf is not an array of numbers, or `src` is traced.
        ValueError: `axis_name` is not an axis of the enclosing `shard_map`, or `src` is out of
            range.

    Cost:
        One all-reduce of all leaves together, packed as 32-bit words.

    Guarantees:
        Every bit is kept, NaN payloads and the sign of zero included; differentiable in `tree`,
        with the derivative of the other shards zero.

    Example:
        Two shards, src=1:

            shard 0   [1 2]
            shard 1   [3 4]
            ->
            each      [3 4]
    """
    caller = "broadcast"
    num_shards = size_of_axis(axis_name, caller)
    src = as_static_int(src, caller, "src", 0, num_shards - 1)
    tree = as_shards(_checked(tree, axis_name, caller), axis_name)
    if not jax.tree.leaves(tree):
        return tree
    rows = jax.tree.map(lambda leaf: leaf[None], tree)
    is_source = jax.lax.axis_index(axis_name) == src

    def route(matrix: Array, is_source: Array) -> Array:
        kept = jnp.where(is_source, matrix, jnp.zeros((), matrix.dtype))
        return jax.lax.psum(kept, axis_name)

    # Words, because a sum of floats loses the sign of zero.
    return jax.tree.map(lambda leaf: leaf[0], move_rows(rows, is_source, route))


def _checked(tree: Any, axis_name: AxisName, caller: str) -> Any:
    """Checks the axis, and that the leaves are arrays."""
    size_of_axis(axis_name, caller)
    return as_tree(tree, caller)


def _real(tree: Any, caller: str) -> Any:
    for path, leaf in jax.tree_util.tree_leaves_with_path(tree):
        if jnp.issubdtype(leaf.dtype, jnp.complexfloating):
            raise TypeError(
                f"{caller}: tree{jax.tree_util.keystr(path)} must be real, because complex numbers "
                f"have no order, got {type_of(leaf)}. Pass its parts or jnp.abs of it."
            )
    return tree
