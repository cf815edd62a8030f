# SPDX-License-Identifier: Apache-2.0
"""Connected components of a graph whose edges lie on several shards."""

import jax
import jax.numpy as jnp

from ..contract._arguments import as_num_valid
from ..contract._typing import ArrayLike, Integer
from ..local import Components
from ..local.parts import as_edges, numbered, smallest_nodes
from ._axis import AxisName, as_shards, num_shards_on


def connected_components(
    senders: Integer[ArrayLike, " edges"],
    receivers: Integer[ArrayLike, " edges"],
    num_nodes: int,
    *,
    axis_name: AxisName,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Components:
    """Finds which nodes are connected by the edges of all shards, whatever their directions.

    Args:
        senders: a node of each of this shard's edges, integers of shape `(edges,)`. Edges with a
            node outside `[0, num_nodes)` are dropped.
        receivers: the other node of each edge, integers of the same shape.
        num_nodes: the number of nodes. Static.
        axis_name: mesh axis of the edges, or a tuple of axes.
        num_valid: number of valid edges of this shard, at its front; all by default.

    Returns:
        `Components(labels, representatives, count)`, the same on every shard: the component of
        each node, int32, numbered in the order of their smallest nodes; the smallest node of each
        node's component; and the number of components.

    Raises:
        TypeError: ids that are not integers, or `num_nodes` is traced.
        ValueError: lengths differ, `num_nodes` is out of range, or `axis_name` is not an axis of
            the enclosing `shard_map`.

    Cost:
        Each shard finds the components of its own edges, which are then a forest of at most
        `num_nodes` edges; log2(shards) times it joins its forest with that of another shard.
        Communication O(num_nodes x log2(shards)).

    Guarantees:
        Deterministic; does not depend on the number of shards. Integers have no derivative.

    Example:
        Two shards, four nodes:

            shard 0   senders [0]   receivers [2]
            shard 1   senders [3]   receivers [2]
            ->
            both      labels [0 1 0 0]   representatives [0 1 0 0]   count 2
    """
    caller = "connected_components"
    num_shards = num_shards_on(axis_name, caller)
    edges, num_nodes = as_edges(caller, senders, receivers, num_nodes)
    valid = None if num_valid is None else as_num_valid(num_valid, edges[0].shape[0], caller)
    nodes = jax.lax.iota(jnp.int32, num_nodes)
    if num_nodes == 0 or edges[0].shape[0] == 0:
        return numbered(nodes)
    (own, others), valid = as_shards((edges, valid), axis_name)
    forest = smallest_nodes(own, others, valid, num_nodes)
    distance = 1
    while distance < num_shards:
        # Before the round a shard knows the edges of `distance` shards, after it of twice as many.
        pairs = [(shard, (shard + distance) % num_shards) for shard in range(num_shards)]
        other = jax.lax.ppermute(forest, axis_name, pairs)
        ends = jnp.concatenate([nodes, nodes])
        forest = smallest_nodes(ends, jnp.concatenate([forest, other]), None, num_nodes)
        distance *= 2
    # Now all shards hold the same; the minimum says so to shard_map.
    return numbered(jax.lax.pmin(forest, axis_name))
