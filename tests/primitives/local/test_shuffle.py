# SPDX-License-Identifier: Apache-2.0
"""`local.random_permutation` and `local.shuffle` against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import local


@pytest.mark.parametrize("num_rows", [0, 1, 33])
def test_matches_the_oracle(num_rows):
    rows = {"id": np.arange(num_rows), "pair": np.arange(2.0 * num_rows).reshape(num_rows, 2)}
    for key in (jax.random.key(3), jax.random.PRNGKey(3)):
        order = oracles.random_permutation(key, num_rows)
        oracles.assert_same_bits(local.random_permutation(key, num_rows), order)
        shuffled = local.shuffle(key, rows)
        oracles.assert_same_bits(shuffled, {name: leaf[order] for name, leaf in rows.items()})


@pytest.mark.parametrize("generator", ["rbg", "unsafe_rbg"])
def test_keys_of_any_generator_are_read_as_two_words(generator):
    keys = jax.random.split(jax.random.key(0, impl=generator), 2)
    orders = jax.vmap(lambda key: local.random_permutation(key, 40))(keys)
    for words, order in zip(jax.random.key_data(keys), orders, strict=True):
        oracles.assert_same_bits(order, oracles.random_permutation(words[:2], 40))


def test_padding_stays_behind_the_valid_rows():
    key, rows = jax.random.key(1), np.arange(9) + 1
    bits = oracles.random_words(key, 6)
    order = np.lexsort(bits.T[::-1])
    shuffled = np.asarray(jax.jit(local.shuffle)(key, rows, num_valid=np.int32(6)))
    np.testing.assert_array_equal(shuffled[:6], rows[order])


def test_all_orders_are_equally_likely():
    keys = jax.random.split(jax.random.key(0), 6000)
    orders = jax.vmap(lambda key: local.random_permutation(key, 3))(keys)
    _, counts = np.unique(np.asarray(orders), axis=0, return_counts=True)
    # Five standard deviations of a count.
    np.testing.assert_allclose(counts, np.full(6, 1000), atol=5 * np.sqrt(1000 * 5 / 6))


def test_names_what_is_wrong():
    with pytest.raises(TypeError, match=r"shuffle: key must be a key of jax.random, got int32"):
        local.shuffle(jnp.int32(3), np.zeros(3))
    with pytest.raises(ValueError, match=r"random_permutation: key must be one key, got key<fry>"):
        local.random_permutation(jax.random.split(jax.random.key(0), 2), 3)
    with pytest.raises(TypeError, match=r"must be a key of jax.random, got uint32\[3\]"):
        local.random_permutation(jnp.zeros(3, jnp.uint32), 3)
    with pytest.raises(ValueError, match="random_permutation: num_rows"):
        local.random_permutation(jax.random.key(0), -1)
