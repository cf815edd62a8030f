# SPDX-License-Identifier: Apache-2.0
"""`local.connected_components` against sets that are merged edge by edge."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import local
from jaxframes.primitives.local._connected_components import spread_smallest


def check(senders, receivers, num_nodes, num_valid=None):
    found = local.connected_components(senders, receivers, num_nodes, num_valid=num_valid)
    labels, smallest, count = oracles.connected_components(
        senders, receivers, num_nodes, num_valid=num_valid
    )
    assert {one.dtype for one in found} == {np.dtype(np.int32)}
    np.testing.assert_array_equal(found.labels, labels)
    np.testing.assert_array_equal(found.representatives, smallest)
    assert int(found.count) == count
    return found


@pytest.mark.parametrize(("num_nodes", "num_edges"), [(0, 0), (0, 3), (1, 2), (9, 0), (60, 40)])
def test_random_edges(num_nodes, num_edges):
    rng = np.random.default_rng(num_edges)
    for _ in range(4):
        senders, receivers = rng.integers(-2, num_nodes + 2, (2, num_edges))
        for num_valid in {None, 0, num_edges // 2}:
            check(senders, receivers, num_nodes, num_valid)


@pytest.mark.parametrize("shape", ["path", "star", "cycle", "pairs", "tree"])
def test_shapes_under_any_names_of_nodes(shape):
    nodes = np.arange(1, 65)
    parents = {
        "path": nodes - 1, "star": 0 * nodes, "cycle": nodes % 64 - 1, "pairs": nodes // 2 * 2,
        "tree": nodes // 2,
    }[shape]  # fmt: skip
    for seed in range(3):
        names = np.random.default_rng(seed).permutation(66)
        # Edges in both directions and twice: neither matters.
        check(names[nodes], names[parents], 66)
        check(names[np.r_[parents, nodes]], names[np.r_[nodes, parents]], 66)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "int64", "uint64"])
def test_ids_of_any_integer_dtype(dtype):
    ends = np.array([0, np.iinfo(dtype).max, np.iinfo(dtype).min, 3], dtype)
    check(ends, np.array([2, 1, 1, 2], dtype), 4)


def test_graphs_of_a_batch_need_different_rounds():
    paths = np.arange(31)
    senders = np.stack([paths, 0 * paths, paths])
    receivers = np.stack([paths + 1, 0 * paths, paths[::-1] + 1])
    found = jax.vmap(lambda a, b: local.connected_components(a, b, 32))(senders, receivers)
    for i in range(3):
        labels, _, count = oracles.connected_components(senders[i], receivers[i], 32)
        np.testing.assert_array_equal(found.labels[i], labels)
        assert int(found.count[i]) == count


@pytest.mark.parametrize(("num_nodes", "num_edges"), [(50, 40), (3000, 2500), (40_000, 60_000)])
def test_every_way_finds_the_same_components(num_nodes, num_edges):
    rng = np.random.default_rng(num_edges)
    ends = rng.integers(-2, num_nodes + 2, (2, num_edges)).astype(np.int32)
    # All threads link the same few nodes.
    ends[1, ::3] = num_nodes - 1
    found = local.connected_components(*ends, num_nodes).representatives
    in_rounds = spread_smallest(*jnp.asarray(np.where(ends < num_nodes, ends, -1)), num_nodes)
    np.testing.assert_array_equal(found, in_rounds)


NODES = np.zeros(4, np.int32)
ERRORS = {
    "lengths": (
        lambda: local.connected_components(NODES, NODES[:3], 5),
        "connected_components: senders and receivers must have the same length, got int32[4] and "
        "int32[3].",
    ),
    "floats": (
        lambda: local.connected_components(NODES, NODES.astype(np.float32), 5),
        "connected_components: receivers must be integers, got float32[4].",
    ),
    "nodes": (
        lambda: local.connected_components(NODES, NODES, -1),
        "connected_components: num_nodes must be in [0, 2147483647], got -1.",
    ),
}


@pytest.mark.checks_arguments
@pytest.mark.parametrize("name", ERRORS)
def test_refuses(name):
    call, message = ERRORS[name]
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert str(raised.value) == message
