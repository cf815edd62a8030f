# SPDX-License-Identifier: Apache-2.0
"""`local.radix_sort` under `vmap`, control flow, donation, derivatives and `shard_map`."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.sharding import AxisType, PartitionSpec
from jax.test_util import check_grads
from jaxframes.primitives import local
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


@pytest.mark.parametrize("descending", [False, True])
def test_derivatives_match_finite_differences(descending):
    # Keys lie further apart than a finite difference moves them.
    keys = np.random.default_rng(0).permutation(12) / 4.0
    values = np.random.default_rng(1).standard_normal((12, 2))
    weights = jnp.arange(12.0) ** 2

    @jax.jit
    def weighted(keys, values):
        keys, values = local.radix_sort(
            jnp.sin(keys / 4), values=values**3, descending=descending, num_valid=10
        )
        return jnp.vdot(weights, keys) + jnp.vdot(weights, values[:, 1] * keys)

    check_grads(weighted, (keys, values), order=2, modes=("fwd", "rev"))
    check_grads(jax.checkpoint(weighted), (keys, values), order=1, modes=("rev",))


def test_inside_shard_map():
    mesh = jax.make_mesh((8,), ("rows",), axis_types=(AxisType.Auto,))
    keys = make_keys("uniform", 8 * 125, np.int64)
    by_row = PartitionSpec("rows")
    sort_shards = jax.shard_map(local.radix_sort, mesh=mesh, in_specs=by_row, out_specs=by_row)
    expected = np.concatenate([oracles.sort(shard) for shard in keys.reshape(8, 125)])
    oracles.assert_same_bits(jax.jit(sort_shards)(keys), expected)
