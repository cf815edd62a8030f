# SPDX-License-Identifier: Apache-2.0
"""`local.radix_sort` under `vmap`, control flow and donation; the rest is in test_matrix."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import PartitionSpec
from jaxframes.primitives import local
from jaxframes.shardings import make_mesh
from key_distributions import make_keys

NUM_ROWS = 1000


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float32", "int64"])
def test_vmap_sorts_each_row_of_the_batch(dtype):
    keys = make_keys("uniform", 6 * 50, np.dtype(dtype)).reshape(2, 3, 50)
    num_valid = np.array([[50, 0, 7], [49, 1, 25]], np.int32)
    values = np.arange(6 * 50).reshape(2, 3, 50)

    def sort_row(keys, values, num_valid):
        return local.radix_sort(keys, values=values, num_valid=num_valid)

    actual = jax.jit(jax.vmap(jax.vmap(sort_row)))(keys, values, num_valid)
    expected_keys, expected_values = keys.copy(), values.copy()
    for place in np.ndindex(2, 3):
        expected_keys[place], expected_values[place] = oracles.sort(
            keys[place], values=values[place], num_valid=num_valid[place]
        )
    oracles.assert_same_bits(actual, (expected_keys, expected_values))
    # Batched along another axis, and with arguments that are not batched.
    by_column = jax.vmap(local.radix_sort, in_axes=1, out_axes=1)(keys[0])
    oracles.assert_same_bits(by_column, np.stack([oracles.sort(c) for c in keys[0].T], axis=1))
    shared = jax.vmap(lambda n: local.radix_argsort(keys[0, 0], num_valid=n))(num_valid[0])
    expected = [oracles.argsort(keys[0, 0], num_valid=n) for n in num_valid[0]]
    oracles.assert_same_bits(shared, np.stack(expected))


def sort_by_shared_keys(shared, values):
    """Keys and one column that a batch shares, the values that it does not, and their order."""
    keys, weights = shared
    sorted_keys, (moved, sorted_weights) = local.radix_sort(keys, values=(values, weights))
    return (sorted_keys, sorted_weights), moved


@pytest.mark.parametrize("num_rows", [0, 1, NUM_ROWS, 70_000])
@pytest.mark.parametrize("dtype", [np.int32, jnp.bfloat16, np.complex128])
def test_vmap_leaves_keys_that_a_batch_shares_as_they_are(dtype, num_rows):
    keys = make_keys("four_values", num_rows, np.dtype(np.float64))
    values = np.arange(3 * num_rows).reshape(3, num_rows).astype(dtype)
    weights = np.arange(num_rows, dtype=np.int32)
    of_batch = jax.vmap(sort_by_shared_keys, in_axes=(None, 0), out_axes=(None, 0))
    order = oracles.argsort(keys)
    expected = (keys[order], weights[order]), np.take(values, order, axis=1)
    oracles.assert_same_bits(jax.jit(of_batch)((keys, weights), values), expected)


@pytest.mark.parametrize("num_rows", [0, 1, NUM_ROWS])
def test_shards_leave_keys_that_they_share_as_they_are(num_rows):
    keys = make_keys("four_values", num_rows, np.dtype(np.float64))
    values, weights = np.arange(4 * num_rows), np.arange(num_rows, dtype=np.int32)
    everywhere, by_row = PartitionSpec(), PartitionSpec("rows")
    of_shards = jax.shard_map(
        sort_by_shared_keys,
        mesh=make_mesh(4),
        in_specs=(everywhere, by_row),
        out_specs=(everywhere, by_row),
    )
    order = oracles.argsort(keys)
    expected = (keys[order], weights[order]), values.reshape(4, -1)[:, order].reshape(-1)
    oracles.assert_same_bits(jax.jit(of_shards)((keys, weights), values), expected)


def test_a_scan_body_and_a_branch_sort():
    keys = make_keys("uniform", NUM_ROWS, np.int32)

    def step(keys, num_valid):
        keys = jax.lax.cond(
            num_valid % 2 == 0,
            lambda keys: local.radix_sort(keys, num_valid=num_valid),
            lambda keys: local.radix_sort(keys, num_valid=num_valid, descending=True),
            keys,
        )
        return keys, keys[0]

    expected, firsts = keys, []
    for num_valid in (10, 333, 500, 1000):
        expected = oracles.sort(expected, num_valid=num_valid, descending=num_valid % 2 == 1)
        firsts.append(expected[0])
    actual = jax.jit(functools.partial(jax.lax.scan, step))(keys, jnp.array([10, 333, 500, 1000]))
    oracles.assert_same_bits(actual, (expected, np.array(firsts)))


def test_donated_arguments_are_reused_safely():
    keys = make_keys("uniform", NUM_ROWS, np.int32)
    values = make_keys("uniform", NUM_ROWS, np.float32)
    donating = jax.jit(lambda k, v: local.radix_sort(k, values=v), donate_argnums=(0, 1))
    donated = jnp.asarray(keys.copy()), jnp.asarray(values.copy())
    oracles.assert_same_bits(donating(*donated), oracles.sort(keys, values=values))
    assert all(array.is_deleted() for array in donated)
