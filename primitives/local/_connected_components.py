# SPDX-License-Identifier: Apache-2.0
"""Connected components of a graph that is given by its edges."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import like_varying
from ..contract._arguments import MAX_SHARD_ROWS, as_num_valid, as_row_ids, as_static_int, type_of
from ..contract._platform import by_platform
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Int, Integer
from ..kernels.base._library import is_native
from ..kernels.groups._components import native_smallest_nodes
from ..kernels.scan._running import running_count
from ..tiers._tiered import tiered
from ._segment_reduce import segment_min
from ._segments import place_segment_ids


class Components(NamedTuple):
    """The component of each node, its smallest node, and the number of components."""

    labels: Int[Array, " nodes"]
    representatives: Int[Array, " nodes"]
    count: Int[Array, ""]


def connected_components(
    senders: Integer[ArrayLike, " edges"],
    receivers: Integer[ArrayLike, " edges"],
    num_nodes: int,
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Components:
    """Finds which nodes of a graph are connected, whatever the directions of its edges.

    Args:
        senders: a node of each edge, integers of shape `(edges,)`. Edges with a node outside
            `[0, num_nodes)` are dropped.
        receivers: the other node of each edge, integers of the same shape.
        num_nodes: the number of nodes. Static.
        num_valid: number of valid edges, at the front; all by default.

    Returns:
        `Components(labels, representatives, count)`: the component of each node, int32, numbered
        in the order of their smallest nodes, so that they are segment ids; the smallest node of
        each node's component; and the number of components.

    Raises:
        TypeError: ids that are not integers, or `num_nodes` is traced.
        ValueError: lengths differ, or `num_nodes` is out of range.

    Cost:
        On CPU nearly O(edges + nodes), on all threads. On TPU and GPU rounds of O(edges + nodes),
        until one changes nothing: about log2 of the longest of the shortest paths, and two. A batch
        takes the rounds of its slowest graph there; the devices that share it send each other one
        flag a round. No other communication.

    Guarantees:
        Deterministic; the order of the edges does not matter. Integers have no derivative.

    References:
        Zhang, Azad and Hu (2020), "FastSV: a distributed-memory connected component algorithm with
        fast convergence"; on CPU union-find without locks, Jayanti and Tarjan (2016), "A randomized
        concurrent algorithm for disjoint set union".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> found = local.connected_components(jnp.array([4, 1]), jnp.array([2, 3]), 5)
        >>> found.labels.tolist(), found.representatives.tolist(), found.count.tolist()
        ([0, 1, 2, 1, 2], [0, 1, 2, 1, 2], 3)
    """
    caller = "connected_components"
    edges, num_nodes = as_edges(caller, senders, receivers, num_nodes)
    valid = None
    if num_valid is not None:
        valid = as_num_valid(num_valid, edges[0].shape[0], caller)
    return _components(*edges, valid, num_nodes)


def as_edges(
    caller: str, senders: Any, receivers: Any, num_nodes: Any
) -> tuple[tuple[Array, Array], int]:
    """Checks the arguments that all levels share."""
    nodes = as_row_ids(senders, caller, "senders"), as_row_ids(receivers, caller, "receivers")
    if nodes[0].shape != nodes[1].shape:
        raise ValueError(
            f"{caller}: senders and receivers must have the same length, got "
            f"{type_of(nodes[0])} and {type_of(nodes[1])}."
        )
    return nodes, as_static_int(num_nodes, caller, "num_nodes", 0, MAX_SHARD_ROWS)


@functools.partial(tiered, static_argnums=3)
def _components(
    senders: Array, receivers: Array, num_valid: Array | None, num_nodes: int
) -> Components:
    return numbered(smallest_nodes(senders, receivers, num_valid, num_nodes))


def smallest_nodes(
    senders: Array, receivers: Array, num_valid: Array | None, num_nodes: int
) -> Array:
    """The smallest node of each node's component."""
    if num_nodes == 0 or senders.shape[0] == 0:
        return jax.lax.iota(jnp.int32, num_nodes)
    one = place_segment_ids(senders, num_nodes, num_valid, is_exact=False)
    other = place_segment_ids(receivers, num_nodes, num_valid, is_exact=False)
    portable, native = (
        functools.partial(way, num_nodes=num_nodes)
        for way in (spread_smallest, native_smallest_nodes)
    )
    kernels = {"cpu": native} if is_native() else {}
    return by_platform(one, other, default=portable, **kernels)


def spread_smallest(one: Array, other: Array, num_nodes: int) -> Array:
    """Spreads the smallest node along all edges, until none changes; negative nodes have none."""
    nodes = jax.lax.iota(jnp.int32, num_nodes)
    one, other = jnp.where(other < 0, other, one), jnp.where(one < 0, one, other)
    # Each edge in both directions; those that are dropped read node 0 and write nowhere.
    ends, starts = jnp.concatenate([one, other]), jnp.maximum(jnp.concatenate([other, one]), 0)
    smallest = functools.partial(segment_min, num_segments=num_nodes, fill_value=num_nodes)

    def improve(state: tuple[Array, Array]) -> tuple[Array, Array]:
        parents, _ = state
        grandparents = take_rows(parents, parents, is_unique=False)
        of_neighbours = smallest(take_rows(grandparents, starts, is_unique=False), ends)
        # The root of a tree hears what any of its nodes heard.
        of_trees = smallest(of_neighbours, parents)
        new = jnp.minimum(jnp.minimum(grandparents, of_neighbours), of_trees)
        return new, jnp.any(new != parents)

    start = like_varying(nodes, ends), jnp.any(ends >= 0)
    return jax.lax.while_loop(lambda state: state[1], improve, start)[0]


def numbered(representatives: Array) -> Components:
    """Numbers components in the order of their smallest nodes."""
    nodes = jax.lax.iota(jnp.int32, representatives.shape[0])
    numbers = running_count(representatives == nodes)
    labels = take_rows(numbers, representatives, is_unique=False) - np.int32(1)
    count = numbers[-1] if numbers.shape[0] else jnp.zeros((), jnp.int32)
    return Components(labels, representatives, count)
