# SPDX-License-Identifier: Apache-2.0
"""Bucket ranks on TPU: the Pallas kernels, interpreted on CPU, against NumPy."""

import functools

import interpreted
import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from covering import needs_long_profile
from jaxframes import shardings
from jaxframes.primitives import local
from jaxframes.primitives.kernels.sort import _bucket_ranks_tpu

# A tile and a part of another one.
NUM_ROWS = 128 * 128 + 3 * 128 + 77


def order_of(ids, num_buckets, num_valid):
    """Positions and offsets by NumPy; ids outside the buckets come last, then padding."""
    ids = np.where((ids >= 0) & (ids < num_buckets), ids, num_buckets)
    ids[num_valid:] = num_buckets + 1
    counts = np.bincount(ids, minlength=num_buckets)[:num_buckets]
    inverse = np.argsort(np.argsort(ids, kind="stable"))
    return inverse.astype(np.int32), np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


def ranks(ids, num_buckets, num_valid, mode):
    counts = _bucket_ranks_tpu.count_buckets_tpu(ids, num_buckets, num_valid, mode)
    offsets = jnp.pad(jnp.cumsum(counts, dtype=jnp.int32), (1, 0))
    return _bucket_ranks_tpu.bucket_positions_tpu(ids, offsets, num_valid, mode), offsets


def ids_of(num_rows, num_buckets, seed=0):
    return np.random.default_rng(seed).integers(0, num_buckets + 1, num_rows, np.int32)


@pytest.mark.parametrize("num_buckets", [1, 7, 64, 256])
@pytest.mark.parametrize("distribution", ["uniform", "constant", "sorted"])
def test_ranks_and_counts(num_buckets, distribution):
    ids = ids_of(NUM_ROWS, num_buckets)
    ids = {"uniform": ids, "constant": ids * 0, "sorted": np.sort(ids)}[distribution]
    run = jax.jit(functools.partial(ranks, num_buckets=num_buckets, mode=True))
    for num_valid in (NUM_ROWS, 16_000, 0):
        actual = run(jnp.asarray(ids), num_valid=jnp.int32(num_valid))
        oracles.assert_same_bits(actual, order_of(ids.copy(), num_buckets, num_valid))


@pytest.mark.parametrize("num_rows", [1, 127, 1024, 1025])
def test_edge_sizes(num_rows):
    ids = ids_of(num_rows, 3)
    actual = ranks(jnp.asarray(ids), 3, jnp.int32(num_rows), True)
    oracles.assert_same_bits(actual, order_of(ids, 3, num_rows))


@needs_long_profile
def test_no_races():
    ids = ids_of(NUM_ROWS, 9)
    actual = ranks(jnp.asarray(ids), 9, jnp.int32(NUM_ROWS), interpreted.WITH_RACES)
    oracles.assert_same_bits(actual, order_of(ids, 9, NUM_ROWS))


def test_each_row_of_a_batch_is_its_own():
    ids = np.stack([ids_of(1100, 5, seed) for seed in range(3)])
    num_valid = np.array([1100, 0, 600], np.int32)
    run = jax.vmap(lambda ids, valid: ranks(ids, 5, valid, True))
    actual = run(jnp.asarray(ids), jnp.asarray(num_valid))
    expected = [order_of(row.copy(), 5, valid) for row, valid in zip(ids, num_valid, strict=True)]
    oracles.assert_same_bits(actual, tuple(map(np.stack, zip(*expected, strict=True))))


def test_results_vary_over_the_mesh():
    mesh = shardings.make_mesh(2)
    by_row = jax.sharding.PartitionSpec(mesh.axis_names)
    ids = ids_of(2 * 1100, 5)

    def on_tpu(ids):
        return ranks(ids, 5, jnp.int32(1100), interpreted.ON_MESH)

    run = jax.shard_map(on_tpu, mesh=mesh, in_specs=by_row, out_specs=by_row)
    expected = [order_of(row, 5, 1100) for row in ids.reshape(2, -1)]
    oracles.assert_same_bits(
        jax.jit(run)(jnp.asarray(ids)), tuple(map(np.concatenate, zip(*expected, strict=True)))
    )


def test_a_program_for_tpu_sorts_once_and_scatters_nothing():
    ids = jax.ShapeDtypeStruct((2048,), np.int32)
    text = interpreted.lowered_with_kernels(lambda ids: local.bucket_order(ids, 64), ids)
    assert text.count("tpu_custom_call") == 2
    assert (text.count('"stablehlo.sort"'), text.count("stablehlo.scatter")) == (1, 0)
    # More buckets than counters: a kernel counts them, and sorts order the rows.
    text = interpreted.lowered_with_kernels(lambda ids: local.bucket_order(ids, 257), ids)
    assert text.count("tpu_custom_call") == 1
    assert (text.count('"stablehlo.sort"'), text.count("stablehlo.scatter")) == (2, 0)
