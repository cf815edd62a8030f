# SPDX-License-Identifier: Apache-2.0
"""Gradient boosting: trees grown level by level from histograms of gradients."""

import functools
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P
from jaxframes.primitives import collective, local

Array: TypeAlias = jax.Array
NUM_BINS = 64
# Values that are missing have a bin of their own, the last one.
NUM_CELLS = NUM_BINS + 1
PENALTY, RATE = 1.0, 0.3
Histograms: TypeAlias = Callable[[Array, Array, int], Array]


class Tree(NamedTuple):
    """The feature and the last left bin of each node, `(levels, nodes)`, and a value per leaf."""

    features: Array
    bins: Array
    leaves: Array


def make_rows(num_rows: int, num_features: int = 8, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Features on many scales, and a target that depends on three of them."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((num_rows, num_features), dtype=np.float32)
    y = np.sin(2 * x[:, 0]) * (x[:, 1] > 0.3) + 0.5 * x[:, 2] ** 2
    y += rng.normal(0, 0.1, num_rows)
    return np.exp(x * np.linspace(0.5, 2, num_features, dtype=np.float32)), y.astype(np.float32)


def bin_features(x: Array, axis_name: str | None = None) -> Array:
    """The bin of each value in its feature; bins have about equally many rows."""
    if axis_name is None:
        columns = [local.quantile_bins(column, NUM_BINS).bin_ids for column in x.T]
    else:
        columns = [
            collective.quantile_bins(column, NUM_BINS, axis_name=axis_name).bin_ids
            for column in x.T
        ]
    return jnp.stack(columns, axis=1)


def histograms(cells: Array, gradients: Array, num_cells: int) -> Array:
    """The sums of the gradients in each cell of each feature, `(features, cells, 2)`."""
    return local.bincount(cells, num_cells, weights=gradients)


def best_splits(sums: Array) -> tuple[Array, Array]:
    """The feature and the last left bin of each node with the largest gain.

    Args:
        sums: the sums of first and second derivatives, `(features, nodes, bins, 2)`.
    """
    left = jnp.cumsum(sums, axis=2)
    total = left[:, :, -1:]

    def score(sums: Array) -> Array:
        return sums[..., 0] ** 2 / (sums[..., 1] + PENALTY)

    gains = score(left) + score(total - left) - score(total)
    by_node = jnp.moveaxis(gains, 1, 0)
    best = jnp.argmax(by_node.reshape(len(by_node), -1), axis=1)
    return best // NUM_CELLS, best % NUM_CELLS


def descend(bins: Array, nodes: Array, features: Array, last_left: Array) -> Array:
    """The child of each row's node: the left one has an even number, the right one an odd one."""
    of_row = jnp.take_along_axis(bins, features[nodes][:, None], axis=1)[:, 0]
    return 2 * nodes + (of_row > last_left[nodes])


def grow(bins: Array, gradients: Array, depth: int, histograms: Histograms) -> tuple[Tree, Array]:
    """A tree, and the leaf of each row.

    Args:
        bins: the bin of each row in each feature.
        gradients: first and second derivative of the loss of each row, `(rows, 2)`.
        depth: the number of levels.
        histograms: adds up the gradients of each cell.
    """
    num_nodes = 2 ** (depth - 1)

    def level(nodes: Array, _: None) -> tuple[Array, tuple[Array, Array]]:
        cells = nodes[:, None] * NUM_CELLS + bins
        sums = histograms(cells, gradients, num_nodes * NUM_CELLS)
        splits = best_splits(sums.reshape(len(sums), num_nodes, NUM_CELLS, 2))
        return descend(bins, nodes, *splits), splits

    # The nodes of rows differ from shard to shard, as the bins do.
    leaves, splits = jax.lax.scan(level, 0 * bins[:, 0], length=depth)
    sums = histograms(leaves[:, None], gradients, 2 * num_nodes)[0]
    return Tree(*splits, -RATE * sums[:, 0] / (sums[:, 1] + PENALTY)), leaves


def boost(
    bins: Array, y: Array, num_trees: int, depth: int, histograms: Histograms = histograms
) -> tuple[Tree, Array]:
    """Trees, each for what those before it leave of the target, and the predictions."""

    def step(prediction: Array, _: None) -> tuple[Array, Tree]:
        # The derivatives of half of the squared error.
        gradients = jnp.stack([prediction - y, jnp.ones_like(y)], axis=1)
        tree, leaves = grow(bins, gradients, depth, histograms)
        return prediction + tree.leaves[leaves], tree

    prediction, trees = jax.lax.scan(step, 0 * y, length=num_trees)
    return trees, prediction


def predict(trees: Tree, bins: Array) -> Array:
    """The sum of the trees' values."""

    def of_tree(prediction: Array, tree: Tree) -> tuple[Array, None]:
        nodes = jnp.zeros_like(bins[:, 0])
        for features, last_left in zip(tree.features, tree.bins, strict=True):
            nodes = descend(bins, nodes, features, last_left)
        return prediction + tree.leaves[nodes], None

    return jax.lax.scan(of_tree, jnp.zeros(len(bins)), trees)[0]


def boost_over_mesh(
    x: Array, y: Array, num_trees: int, depth: int, mesh: Mesh
) -> tuple[Tree, Array]:
    """Bins and trees of rows over the devices of a mesh, which exchange histograms alone."""
    (axis_name,) = mesh.axis_names

    def over_shards(cells: Array, gradients: Array, num_cells: int) -> Array:
        return collective.bincount(cells, num_cells, weights=gradients, axis_name=axis_name)

    @functools.partial(
        jax.shard_map,
        mesh=mesh,
        in_specs=P(axis_name),
        out_specs=(P(), P(axis_name)),
    )
    def mapped(x: Array, y: Array) -> tuple[Tree, Array]:
        bins = bin_features(x, axis_name)
        return boost(bins, y, num_trees, depth, over_shards)

    return jax.jit(mapped)(x, y)


def plain_bin_features(x: Array) -> Array:
    """`bin_features` of `jax.numpy` alone."""
    steps = jnp.arange(1, NUM_BINS) / NUM_BINS

    def of_column(column: Array) -> Array:
        return jnp.searchsorted(jnp.quantile(column, steps, method="lower"), column)

    return jnp.stack([of_column(column) for column in x.T], axis=1)


def plain_histograms(cells: Array, gradients: Array, num_cells: int) -> Array:
    """`histograms` of `jax.numpy` alone."""
    zeros = jnp.zeros((num_cells, 2))
    return jnp.stack([zeros.at[column].add(gradients) for column in cells.T])
