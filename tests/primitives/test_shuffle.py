# SPDX-License-Identifier: Apache-2.0
"""`random_permutation` and `shuffle` of whole arrays: the same on every mesh."""

import jax
import numpy as np
import oracles
import pytest
from jaxframes import primitives
from on_shards import mesh_of


@pytest.mark.parametrize("mesh_size", [None, 1, 3])
@pytest.mark.parametrize("num_rows", [0, 1, 11])
def test_matches_the_oracle(mesh_size, num_rows):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    key = jax.random.key(num_rows)
    order = oracles.random_permutation(key, num_rows)
    oracles.assert_same_bits(primitives.random_permutation(key, num_rows, mesh), order)
    rows = (np.arange(num_rows) + 1, np.arange(2.0 * num_rows).reshape(num_rows, 2))
    shuffled = primitives.shuffle(key, rows, mesh)
    oracles.assert_same_bits(shuffled, tuple(leaf[order] for leaf in rows))


@pytest.mark.parametrize("generator", ["rbg", "unsafe_rbg"])
def test_keys_of_any_generator_give_the_same_order_on_a_mesh(generator):
    key = jax.random.key(5, impl=generator)
    order = oracles.random_permutation(jax.random.key_data(key)[:2], 11)
    oracles.assert_same_bits(primitives.random_permutation(key, 11, mesh_of(3)), order)


@pytest.mark.parametrize("mesh_size", [None, 3])
def test_valid_rows_come_first(mesh_size):
    mesh = None if mesh_size is None else mesh_of(mesh_size)
    key, rows = jax.random.key(2), np.arange(11) + 1
    call = jax.jit(lambda valid: primitives.shuffle(key, rows, mesh, num_valid=valid))
    order = oracles.random_permutation(key, 11)
    for valid in (0, 5, 11):
        expected = rows[order[order < valid]]
        oracles.assert_same_bits(np.asarray(call(np.int32(valid)))[:valid], expected)
