# SPDX-License-Identifier: Apache-2.0
"""`top_k` and `select_rank` of whole arrays over a mesh."""

import jax
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType
from jaxframes import primitives, shardings
from key_distributions import KEY_DTYPES, distributions_for, make_keys
from on_shards import mesh_of, noting


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_every_dtype_and_distribution(dtype):
    i = KEY_DTYPES.index(dtype)
    num_shards, largest = (3, 8, 5)[i % 3], i % 2 == 0
    ranks = np.array([[0, 50], [49, 7]])
    for distribution in distributions_for(dtype):
        x = make_keys(distribution, 51, dtype, num_shards)
        with noting(distribution):
            top = primitives.top_k(x, 9, mesh_of(num_shards), largest=largest)
            assert isinstance(top, primitives.TopK)
            oracles.assert_same_bits(tuple(top), oracles.top_k(x, 9, largest=largest))
            selected = primitives.select_rank(x, ranks, mesh_of(num_shards))
            oracles.assert_same_bits(selected, oracles.select_rank(x, ranks))


@pytest.mark.parametrize("num_rows", [1, 2, 7, 8, 9, 65])
def test_every_length(num_rows):
    x = make_keys("four_values", num_rows, np.dtype(np.float32), 8)
    for k in (0, num_rows):
        top = primitives.top_k(x, k, mesh_of(8))
        oracles.assert_same_bits(tuple(top), oracles.top_k(x, k))
    ranks = np.arange(num_rows)
    for mesh in (None, mesh_of(8)):
        selected = primitives.select_rank(x, ranks, mesh)
        oracles.assert_same_bits(selected, oracles.select_rank(x, ranks))
    no_rows = primitives.top_k(x[:0], 0, mesh_of(8))
    assert no_rows.values.shape == no_rows.row_ids.shape == (0,)


@pytest.mark.parametrize("axis_type", [AxisType.Auto, AxisType.Explicit])
def test_every_device_gets_the_result(axis_type):
    mesh = jax.make_mesh((2, 3), ("host", "device"), axis_types=(axis_type,) * 2)
    x = make_keys("uniform", 50, np.dtype(np.int64), 6)
    for axis in (None, "device"):
        top = primitives.top_k(x, 5, mesh, axis=axis)
        selected = primitives.select_rank(x, np.arange(5), mesh, axis=axis)
        oracles.assert_same_bits(tuple(top), oracles.top_k(x, 5))
        oracles.assert_same_bits(selected, np.sort(x)[:5])
        for leaf in (*top, selected):
            assert leaf.sharding.is_equivalent_to(shardings.replicated(mesh), 1)


def test_traced_ranks_are_clipped():
    x = make_keys("uniform", 50, np.dtype(np.int64), 3)
    select = jax.jit(lambda x, ranks: primitives.select_rank(x, ranks, mesh_of(3)))
    selected = select(x, np.array([-(2**40), -1, 49, 50, 2**40]))
    oracles.assert_same_bits(selected, np.sort(x)[[0, 0, 49, 49, 49]])
