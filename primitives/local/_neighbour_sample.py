# SPDX-License-Identifier: Apache-2.0
"""Random neighbours of nodes of a graph."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import MAX_SHARD_ROWS, as_flag, as_row_ids, as_static_int
from ..contract._random_rows import as_key_words, integers_below, key_of_words
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..tiers._tiered import tiered
from ._gather_rows import gather_rows
from ._ragged import Ragged, as_ragged
from ._sample import Sampled

# Draws of a node that are compared in one pass: three to six times faster than in a loop, on CPU.
# The time to compile grows with the square of their number, from 0.3 s for five to 1 s for ten.
MOST_AT_ONCE = 8


def neighbour_sample(
    key: Shaped[ArrayLike, "..."],
    graph: Ragged,
    nodes: Integer[ArrayLike, " nodes"],
    k: int,
    *,
    replace: bool = False,
) -> Sampled:
    """Draws k entries of each of some segments at random, such as the edges of a batch's nodes.

    The other segments are not read, so a batch of a large graph is cheap; `segment_sample` draws
    of all segments, and by weights.

    Args:
        key: a key of `jax.random`.
        graph: the edges by node, such as `csr_from_coo` gives.
        nodes: the nodes to draw for, integers of shape `(nodes,)`; each has draws of its own. One
            out of range has no edges.
        k: the number of edges to draw of each. Static.
        replace: whether an edge can be drawn more than once. Static.

    Returns:
        `Sampled(row_ids, count)`: the positions of the edges in `graph.values`, int32 of shape
        `(nodes, k)`, -1 at the end of a node with too few; and the number of those drawn.

    Raises:
        TypeError: `key` is not a key of `jax.random`, `nodes` are not integers, or `k` is traced.
        ValueError: `nodes` are not one-dimensional, or `k` is negative.

    Cost:
        Work O(nodes x k), without replacement O(nodes x k x k). No communication.

    Guarantees:
        Deterministic. Without replacement all sets of k edges are equally likely, but not all
        orders of them; a node with k edges or fewer has all, in order.

    References:
        Bentley and Floyd (1987), "A sample of brilliance". Hamilton, Ying and Leskovec (2017),
        "Inductive representation learning on large graphs".

    Example:
        >>> import jax
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> graph = local.Ragged.from_lengths(jnp.array([7, 8, 9]), jnp.array([2, 0, 1]))
        >>> drawn = local.neighbour_sample(jax.random.key(0), graph, jnp.array([2, 0]), 2)
        >>> drawn.row_ids.tolist(), drawn.count.tolist()
        ([[2, -1], [0, 1]], [1, 2])
    """
    caller = "neighbour_sample"
    replace = as_flag(replace, caller, "replace")
    words = as_key_words(key, caller)
    graph = as_ragged(graph, caller, "graph")
    nodes = as_row_ids(nodes, caller, "nodes")
    k = as_static_int(k, caller, "k", 0, MAX_SHARD_ROWS)
    return _draw(words, graph.offsets, nodes, k, replace)


@functools.partial(tiered, static_argnums=(3, 4))
def _draw(words: Array, offsets: Array, nodes: Array, k: int, replace: bool) -> Sampled:
    key = key_of_words(words)
    starts, ends = gather_rows((offsets[:-1], offsets[1:]), nodes)
    degrees = ends - starts
    place = jax.lax.broadcasted_iota(jnp.int32, (nodes.shape[0], k), 1)
    if replace:
        count = jnp.where(degrees > 0, np.int32(k), 0)
        numbers = _below(key, jnp.broadcast_to(degrees[:, None], place.shape))
    else:
        count = jnp.minimum(degrees, k)
        numbers = _distinct(key, degrees, place)
    is_drawn = place < count[:, None]
    return Sampled(jnp.where(is_drawn, starts[:, None] + numbers, np.int32(-1)), count)


def _below(key: Array, limits: Array) -> Array:
    """Random integers in `[0, limit)`, of 64 random bits each; zero if the limit is."""
    high, low = jax.random.bits(key, (2, *limits.shape), jnp.uint32)
    limit = limits.astype(jnp.uint32)
    _, numbers = integers_below((high, low), (jnp.zeros_like(limit), limit))
    return numbers.astype(jnp.int32)


def _distinct(key: Array, degrees: Array, place: Array) -> Array:
    """Floyd's sample: draw t of k is below degree - k + t + 1, or that number if it came before."""
    k = place.shape[1]
    if not k:
        return place
    most = jnp.maximum(degrees[:, None] - k + place, 0)
    draws = _below(key, most + 1)
    numbers = _in_turn(draws, most) if k <= MOST_AT_ONCE else _in_a_loop(draws, most, place)
    return jnp.where(degrees[:, None] <= k, place, numbers)


def _in_turn(draws: Array, most: Array) -> Array:
    """Each draw is compared with those before it, in one pass over the nodes."""
    numbers: list[Array] = []
    for draw, last in zip(draws.T, most.T, strict=True):
        came_before = [number == draw for number in numbers]
        is_taken = functools.reduce(jnp.logical_or, came_before, jnp.zeros_like(draw, bool))
        numbers.append(jnp.where(is_taken, last, draw))
    return jnp.stack(numbers, axis=1)


def _in_a_loop(draws: Array, most: Array, place: Array) -> Array:
    """A pass over all draws for each of them: programs do not grow with the number of draws."""

    def step(t: Array, numbers: Array) -> Array:
        draw = jax.lax.dynamic_slice_in_dim(draws, t, 1, axis=1)
        came_before = jnp.any((numbers == draw) & (place < t), axis=1, keepdims=True)
        last = jax.lax.dynamic_slice_in_dim(most, t, 1, axis=1)
        return jnp.where(place == t, jnp.where(came_before, last, draw), numbers)

    return jax.lax.fori_loop(np.int32(0), np.int32(draws.shape[1]), step, draws)
