# SPDX-License-Identifier: Apache-2.0
"""A graph network: trained on sampled neighbours, applied to all of them."""

from collections.abc import Callable
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from divided import divide
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxframes.primitives import local
from jaxframes.primitives.local import Ragged

Array: TypeAlias = jax.Array
Parameters: TypeAlias = dict[str, Array]
NUM_CLASSES, HIDDEN = 4, 16


class Nodes(NamedTuple):
    """The features and the class of each node."""

    features: Array
    labels: Array


def make_graph(num_nodes: int, degree: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, Nodes]:
    """Receivers and senders of edges, mostly within a class, and nodes with noisy features."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, NUM_CLASSES, num_nodes)
    members = [np.flatnonzero(labels == label) for label in range(NUM_CLASSES)]
    receivers = rng.integers(0, num_nodes, num_nodes * degree)
    senders = rng.integers(0, num_nodes, len(receivers))
    draws = rng.random(len(receivers))
    for label, of_class in enumerate(members):
        within = (labels[receivers] == label) & (draws < 0.6)
        senders[within] = rng.choice(of_class, within.sum())
    features = np.eye(NUM_CLASSES)[labels] + rng.normal(0, 1.5, (num_nodes, NUM_CLASSES))
    nodes = Nodes(jnp.asarray(features, jnp.float32), jnp.asarray(labels, jnp.int32))
    return receivers.astype(np.int32), senders.astype(np.int32), nodes


def new_parameters(seed: int = 0) -> Parameters:
    """Random weights of two layers: of the node itself, and of the mean of its neighbours."""
    shapes = {"in": (2 * NUM_CLASSES, HIDDEN), "out": (2 * HIDDEN, NUM_CLASSES)}
    keys = jax.random.split(jax.random.key(seed), 2)
    return {
        name: jax.random.normal(key, shape) / np.sqrt(shape[0])
        for key, (name, shape) in zip(keys, shapes.items(), strict=True)
    }


def combine(rows: Array, sums: Array, counts: Array, weights: Array) -> Array:
    """A linear layer of rows and the means of their neighbours."""
    means = sums / jnp.maximum(counts, 1)[:, None]
    return jnp.concatenate([rows, means], axis=1) @ weights


def draw_neighbours(key: Array, graph: Ragged, nodes: Array, k: int) -> tuple[Array, Array]:
    """At most k neighbours of each node, -1 for none, and their number."""
    drawn = local.neighbour_sample(key, graph, nodes, k)
    (neighbours,) = local.gather_rows((graph.values[0],), drawn.row_ids.ravel(), fill_value=-1)
    return neighbours.reshape(drawn.row_ids.shape), drawn.count


def sampled_logits(
    params: Parameters, key: Array, graph: Ragged, features: Array, nodes: Array, k: int
) -> Array:
    """The logits of some nodes, from k neighbours of each and k neighbours of these."""
    keys = jax.random.split(key)
    near, num_near = draw_neighbours(keys[0], graph, nodes, k)
    both = jnp.concatenate([nodes, near.ravel()])
    far, num_far = draw_neighbours(keys[1], graph, both, k)

    # Rows of no node are zeros, and add nothing.
    sums = local.gather_rows(features, far.ravel()).reshape(*far.shape, -1).sum(axis=1)
    hidden = combine(local.gather_rows(features, both), sums, num_far, params["in"])
    hidden = jnp.where(both[:, None] >= 0, jax.nn.relu(hidden), 0)

    hidden, of_near = hidden[: len(nodes)], hidden[len(nodes) :]
    sums = of_near.reshape(*near.shape, -1).sum(axis=1)
    return combine(hidden, sums, num_near, params["out"])


def loss(
    params: Parameters, key: Array, graph: Ragged, of_nodes: Nodes, nodes: Array, k: int
) -> Array:
    """The mean cross entropy of some nodes."""
    logits = sampled_logits(params, key, graph, of_nodes.features, nodes, k)
    shares = jax.nn.log_softmax(logits)
    return -jnp.take_along_axis(shares, of_nodes.labels[nodes][:, None], axis=1).mean()


def loss_over_mesh(mesh: Mesh, k: int) -> Callable[..., Array]:
    """`loss` with the nodes of a batch over the devices of a mesh, which all have the graph."""
    (axis_name,) = mesh.axis_names

    def mapped(params: Parameters, key: Array, graph: Ragged, of_nodes: Nodes, nodes: Array) -> Any:
        key = jax.random.fold_in(key, jax.lax.axis_index(axis_name))
        return jax.lax.pmean(loss(params, key, graph, of_nodes, nodes, k), axis_name)

    specs = (P(), P(), P(), P(), P(axis_name))
    return jax.shard_map(mapped, mesh=mesh, in_specs=specs, out_specs=P())


def train(
    params: Parameters,
    loss: Callable[..., Array],
    graph: Ragged,
    of_nodes: Nodes,
    batches: Array,
    rate: float,
) -> tuple[Parameters, Array]:
    """The parameters after a step for each batch of nodes, and the losses."""

    def step(params: Parameters, batch: tuple[Array, Array]) -> tuple[Parameters, Array]:
        key, nodes = batch
        value, slopes = jax.value_and_grad(loss)(params, key, graph, of_nodes, nodes)
        return jax.tree.map(lambda leaf, slope: leaf - rate * slope, params, slopes), value

    keys = jax.random.split(jax.random.key(1), len(batches))
    return jax.lax.scan(step, params, (keys, batches))


def all_logits(params: Parameters, graph: Ragged, features: Array) -> Array:
    """The logits of all nodes, from all of their neighbours: a sparse product for each layer."""
    sums = local.spmm(graph, features)
    hidden = jax.nn.relu(combine(features, sums, graph.lengths, params["in"]))
    return combine(hidden, local.spmm(graph, hidden), graph.lengths, params["out"])


def all_logits_over_mesh(params: Parameters, graph: Ragged, features: Array, mesh: Mesh) -> Array:
    """`all_logits` with nodes and their edges over the devices of a mesh.

    Each layer gathers the rows of all nodes, and adds up those of its own edges.
    """
    (axis_name,) = mesh.axis_names
    divided = divide(graph, mesh.size)
    num_nodes = divided.offsets.shape[0] - mesh.size

    def mapped(params: Parameters, graph: Ragged, rows: Array) -> Array:
        for name in ("in", "out"):
            everywhere = jax.lax.all_gather(rows, axis_name, tiled=True)
            rows = combine(rows, local.spmm(graph, everywhere), graph.lengths, params[name])
            rows = jax.nn.relu(rows) if name == "in" else rows
        return rows

    specs = (P(), P(axis_name), P(axis_name))
    mapped = jax.shard_map(mapped, mesh=mesh, in_specs=specs, out_specs=P(axis_name))
    padded = jnp.pad(features, ((0, num_nodes - len(features)), (0, 0)))
    return jax.jit(mapped)(params, divided, padded)[: len(features)]


def plain_csr(receivers: Array, senders: Array, num_nodes: int) -> tuple[Array, Array]:
    """The row pointers and the senders of a sparse matrix, by `jax.numpy` alone."""
    order = jnp.lexsort((senders, receivers))
    counts = jnp.bincount(receivers, length=num_nodes)
    return jnp.append(0, jnp.cumsum(counts)), senders[order]


def plain_spmm(receivers: Array, senders: Array, features: Array) -> Array:
    """The sums over neighbours, by a scatter over edges in any order."""
    return jnp.zeros_like(features).at[receivers].add(features[senders])


def plain_neighbours(
    key: Array, offsets: Array, senders: Array, nodes: Array, k: int, most: int
) -> Array:
    """k neighbours without replacement: the largest of random numbers for up to `most` edges."""
    place = jnp.arange(most)
    is_edge = place < (offsets[nodes + 1] - offsets[nodes])[:, None]
    times = jnp.where(is_edge, jax.random.uniform(key, is_edge.shape), -1)
    times, chosen = jax.lax.top_k(times, k)
    return jnp.where(times < 0, -1, senders[offsets[nodes][:, None] + chosen])
