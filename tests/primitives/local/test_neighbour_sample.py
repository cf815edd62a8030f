# SPDX-License-Identifier: Apache-2.0
"""`local.neighbour_sample`: edges of the nodes, each set as likely as any other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives import local
from jaxframes.primitives.local._neighbour_sample import MOST_AT_ONCE, _in_a_loop, _in_turn

DEGREES = np.array([5, 0, 2, 1])
GRAPH = local.Ragged.from_lengths(np.arange(10, dtype=np.int32), DEGREES)
NODES = np.array([0, 3, -1, 0, 2, 1, 4], np.int32)


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("k", [0, 1, 2, 5, 6, MOST_AT_ONCE + 1])
def test_draws_are_edges_of_the_node(replace, k):
    drawn, count = local.neighbour_sample(jax.random.key(k), GRAPH, NODES, k, replace=replace)
    assert drawn.shape == (len(NODES), k)
    for node, edges, number in zip(NODES, np.asarray(drawn), np.asarray(count), strict=True):
        is_node = 0 <= node < len(DEGREES)
        degree = DEGREES[node] if is_node else 0
        assert number == (k * (degree > 0) if replace else min(k, degree))
        assert (edges[number:] == -1).all()
        start = DEGREES[:node].sum() if is_node else 0
        assert ((edges[:number] >= start) & (edges[:number] < start + degree)).all()
        if not replace:
            assert len(set(edges[:number])) == number
            assert degree > k or edges[:number].tolist() == list(range(start, start + degree))


def test_all_sets_are_equally_likely():
    num_draws = 6000
    nodes = np.zeros(num_draws, np.int32)
    drawn, _ = local.neighbour_sample(jax.random.key(1), GRAPH, nodes, 2)
    _, counts = np.unique(np.sort(drawn, axis=1), axis=0, return_counts=True)
    # Ten pairs of five, within five standard deviations.
    np.testing.assert_allclose(counts, np.full(10, 600), atol=5 * np.sqrt(600 * 0.9))
    drawn, _ = local.neighbour_sample(jax.random.key(2), GRAPH, nodes, 2, replace=True)
    counts = np.bincount(np.asarray(drawn).reshape(-1), minlength=5)
    np.testing.assert_allclose(counts, np.full(5, 2400), atol=5 * np.sqrt(2400 * 0.8))


@pytest.mark.parametrize("dtype", ["uint8", "int64", "uint64"])
def test_nodes_of_any_integer_dtype(dtype):
    graph = local.Ragged.from_lengths(np.arange(600, dtype=np.int32), np.full(300, 2))
    nodes = np.array([255, 7, np.iinfo(dtype).max], dtype)
    drawn, count = local.neighbour_sample(jax.random.key(0), graph, nodes, 2)
    expected = [[2 * int(node), 2 * int(node) + 1] if node < 300 else [-1, -1] for node in nodes]
    assert drawn.tolist() == expected
    assert count.tolist() == [2 * (node < 300) for node in nodes]


def test_draws_in_one_pass_are_those_of_the_loop():
    k = 6
    place = np.broadcast_to(np.arange(k, dtype=np.int32), (500, k))
    # Few numbers to choose from, so that many come twice.
    most = jnp.asarray(place + np.arange(500, dtype=np.int32)[:, None] % 4)
    draws = jax.random.randint(jax.random.key(0), place.shape, 0, most + 1, jnp.int32)
    np.testing.assert_array_equal(
        _in_turn(draws, most), _in_a_loop(draws, most, jnp.asarray(place))
    )
