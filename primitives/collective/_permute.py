# SPDX-License-Identifier: Apache-2.0
"""Permutations of shards, on trees."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import as_flag, as_static_int, as_tree, type_of
from ..contract._axis_scope import size_of_axis
from ..contract._typing import PyTree
from ._axis import AxisName, check_mesh_order


def ppermute(tree: PyTree, perm: Sequence[tuple[int, int]], *, axis_name: AxisName) -> PyTree:
    """Sends arrays between pairs of shards.

    Args:
        tree: any pytree of arrays; the dtypes may differ.
        perm: pairs `(source, destination)` of shards. No shard is twice a source or twice a
            destination. Static.
        axis_name: mesh axis, or a tuple of axes in the order of the mesh.

    Returns:
        The arrays that this shard received, of the same structure; zeros if no pair names it as
        destination.

    Raises:
        TypeError: a leaf is not an array of numbers, or `perm` is traced.
        ValueError: `axis_name` is not an axis of the enclosing `shard_map`, or a shard in `perm`
            is out of range or repeated.

    Cost:
        One collective-permute a leaf, as in `jax.lax.ppermute`: the program is the same.

    Guarantees:
        Every bit is kept; differentiable in `tree`.

    Example:
        Three shards, perm=[(0, 2), (1, 0)]:

            shard 0   [1]
            shard 1   [2]
            shard 2   [3]
            ->
            shard 0   [2]
            shard 1   [0]
            shard 2   [1]
    """
    caller = "ppermute"
    num_shards = size_of_axis(axis_name, caller)
    check_mesh_order(axis_name, caller)
    tree = as_tree(tree, caller)
    return jax.lax.ppermute(tree, axis_name, _checked_pairs(perm, num_shards))


def shift(tree: PyTree, k: int = 1, *, axis_name: AxisName, wrap: bool = False) -> PyTree:
    """Sends the arrays of each shard to the shard `k` positions later.

    Args:
        tree: any pytree of arrays; the dtypes may differ.
        k: number of positions; negative for earlier shards. Static.
        axis_name: mesh axis, or a tuple of axes in the order of the mesh.
        wrap: send the arrays of the last shards to the first ones, as in a ring. Static.

    Returns:
        The arrays of the shard `k` positions before; without `wrap` zeros if there is none.

    Raises:
        TypeError: a leaf is not an array of numbers, or `k` is traced.
        ValueError: `axis_name` is not an axis of the enclosing `shard_map`.

    Cost:
        One collective-permute a leaf.

    Guarantees:
        Every bit is kept; differentiable in `tree`.

    Example:
        Three shards, k=1:

            shard 0   [1]
            shard 1   [2]
            shard 2   [3]
            ->
            shard 0   [0], or with wrap=True [3]
            shard 1   [1]
            shard 2   [2]
    """
    caller = "shift"
    num_shards = size_of_axis(axis_name, caller)
    check_mesh_order(axis_name, caller)
    tree = as_tree(tree, caller)
    k = as_static_int(k, caller, "k", None)
    wrap = as_flag(wrap, caller, "wrap")
    targets = [(source, source + k) for source in range(num_shards)]
    if wrap:
        perm = [(source, target % num_shards) for source, target in targets]
    else:
        perm = [(source, target) for source, target in targets if 0 <= target < num_shards]
    if not perm:
        return jax.tree.map(jnp.zeros_like, tree)
    return jax.lax.ppermute(tree, axis_name, perm)


def _checked_pairs(perm: Any, num_shards: int) -> list[tuple[int, int]]:
    caller = "ppermute"
    try:
        pairs = [(source, destination) for source, destination in perm]
    except (TypeError, ValueError):
        raise TypeError(
            f"{caller}: perm must be pairs of (source, destination), got {_shown(perm)}."
        ) from None
    checked = [
        (
            as_static_int(source, caller, "a source in perm", 0, num_shards - 1),
            as_static_int(destination, caller, "a destination in perm", 0, num_shards - 1),
        )
        for source, destination in pairs
    ]
    for side, name in enumerate(("source", "destination")):
        shards = [pair[side] for pair in checked]
        repeated = sorted({shard for shard in shards if shards.count(shard) > 1})
        if repeated:
            raise ValueError(
                f"{caller}: perm must name each shard at most once as {name}, got shard "
                f"{repeated[0]} twice in {checked}. Use broadcast to send from one shard to many, "
                "or partition to send to one shard from many."
            )
    return checked


def _shown(perm: Any) -> str:
    return repr(perm) if isinstance(perm, (tuple, list)) else type_of(perm)
