# SPDX-License-Identifier: Apache-2.0
"""The first k words on TPU: the Pallas kernel, interpreted on CPU, against NumPy."""

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
from jaxframes.primitives.kernels.sort import _top_k_tpu

top_k_tpu = _top_k_tpu.top_k_tpu
# Two blocks of two steps, and a part of a third one.
NUM_ROWS = 2 * 2048 + 77


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_top_k_tpu, "BLOCK_LINES", 16)
    monkeypatch.setattr(_top_k_tpu, "STEP_LINES", 8)


def words_of(distribution, num_rows):
    rng = np.random.default_rng(0)
    most = {"uniform": 2**32, "few": 3, "one": 1}[distribution]
    words = rng.integers(0, most, num_rows, np.uint32)
    # The smallest and the largest words, in rows that ties reach.
    return np.where(words % 3 == 0, words, ~words)


def first(words, k, num_valid):
    valid = np.argsort(words[:num_valid], kind="stable")
    return np.concatenate([valid, np.arange(num_valid, len(words))])[:k].astype(np.int32)


@pytest.mark.parametrize("distribution", ["uniform", "few", "one"])
@pytest.mark.parametrize("k", [1, 5, 130])
def test_first_rows(distribution, k):
    words = words_of(distribution, NUM_ROWS)
    run = jax.jit(functools.partial(top_k_tpu, k=k, interpret=True))
    for num_valid in (NUM_ROWS, 2048, k // 2, 0):
        actual = run(jnp.asarray(words), num_valid=jnp.int32(num_valid))
        oracles.assert_same_bits(actual, first(words, k, num_valid))


@pytest.mark.parametrize("num_rows", [1, 7, 1024, 1025])
def test_edge_sizes(num_rows):
    words, k = words_of("few", num_rows), min(num_rows, 9)
    actual = top_k_tpu(jnp.asarray(words), k, jnp.int32(num_rows), True)
    oracles.assert_same_bits(actual, first(words, k, num_rows))


@needs_long_profile
def test_no_races():
    words = words_of("few", NUM_ROWS)
    actual = top_k_tpu(jnp.asarray(words), 9, jnp.int32(3000), interpreted.WITH_RACES)
    oracles.assert_same_bits(actual, first(words, 9, 3000))


def test_each_row_of_a_batch_is_its_own():
    words = np.stack([np.roll(words_of("few", 1100), shift) for shift in (0, 1, 5)])
    num_valid = np.array([1100, 0, 3], np.int32)
    run = jax.vmap(lambda words, valid: top_k_tpu(words, 7, valid, True))
    expected = [first(*row) for row in zip(words, [7] * 3, num_valid, strict=True)]
    actual = run(jnp.asarray(words), jnp.asarray(num_valid))
    oracles.assert_same_bits(actual, np.stack(expected))


def test_results_vary_over_the_mesh():
    mesh = shardings.make_mesh(2)
    by_row = jax.sharding.PartitionSpec(mesh.axis_names)
    words = words_of("few", 2 * 1100)

    def on_tpu(words):
        return top_k_tpu(words, 7, jnp.int32(1100), interpreted.ON_MESH)

    run = jax.jit(jax.shard_map(on_tpu, mesh=mesh, in_specs=by_row, out_specs=by_row))
    expected = [first(half, 7, 1100) for half in words.reshape(2, -1)]
    oracles.assert_same_bits(run(jnp.asarray(words)), np.concatenate(expected))


@pytest.mark.parametrize(("k", "has_kernel"), [(8, True), (9, False)])
def test_programs_for_tpu_sort_only_for_many_rows(k, has_kernel, monkeypatch):
    # One block.
    monkeypatch.undo()
    rows = jax.ShapeDtypeStruct((8192,), np.float32)
    text = interpreted.lowered_with_kernels(lambda x: local.top_k(x, k), rows)
    assert ("tpu_custom_call" in text) == has_kernel
    assert ('"stablehlo.sort"' in text) != has_kernel
