# SPDX-License-Identifier: Apache-2.0
"""Bins of numbers on TPU: the Pallas kernel, interpreted on CPU, has the ids of the definition."""

import interpreted
import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from covering import needs_long_profile
from jaxframes.primitives.kernels.reduce import _bin_ids_tpu, _histogram

NUM_ROWS = 2 * 1024 + 77


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(_bin_ids_tpu, "BLOCK_LINES", 8)


def numbers(dtype, edges):
    rng = np.random.default_rng(0)
    x = rng.choice(edges, NUM_ROWS)
    if dtype == "int32":
        return x + rng.integers(-1, 2, NUM_ROWS, np.int32)
    # Edges, and the numbers next to them.
    x = np.nextafter(x, rng.choice([-np.inf, np.inf], NUM_ROWS).astype(dtype), dtype=dtype)
    x[::3] = rng.choice(edges, len(x[::3]))
    x[:6] = [np.nan, np.inf, -np.inf, 0, -0.0, edges[-1]]
    return x


def check(x, edges, num_valid, mode):
    x, edges, valid = jnp.asarray(x), jnp.asarray(edges), jnp.int32(num_valid)
    actual = _bin_ids_tpu.bin_ids_tpu(x, edges, valid, mode)
    expected = _histogram._bin_ids_xla(x, edges, valid, is_uniform=False)
    oracles.assert_same_bits(actual, expected)


@pytest.mark.parametrize("num_bins", [1, 127, 128, 129, 1025])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("num_valid", [NUM_ROWS, 1000, 0])
def test_kernel_and_definition_agree(num_bins, dtype, num_valid):
    edges = np.sort(np.random.default_rng(1).integers(-500, 500, num_bins + 1)).astype(dtype)
    check(numbers(dtype, edges), edges, num_valid, True)


def test_infinite_edges():
    edges = np.array([-np.inf, -1, 0, 0, 2, np.inf], np.float32)
    check(numbers("float32", edges), edges, NUM_ROWS, True)


@needs_long_profile
def test_no_races():
    edges = np.linspace(-1, 1, 200, dtype=np.float32)
    check(numbers("float32", edges), edges, NUM_ROWS, interpreted.WITH_RACES)


def test_each_row_of_a_batch_is_its_own():
    edges = np.linspace(0, 1, 11, dtype=np.float32)
    x = jnp.asarray(np.random.default_rng(2).random((3, 1100), np.float32))
    num_valid = jnp.array([1100, 0, 9], jnp.int32)

    def on_tpu(x, valid):
        return _bin_ids_tpu.bin_ids_tpu(x, jnp.asarray(edges), valid, True)

    def portable(x, valid):
        return _histogram._bin_ids_xla(x, jnp.asarray(edges), valid, is_uniform=False)

    oracles.assert_same_bits(jax.vmap(on_tpu)(x, num_valid), jax.vmap(portable)(x, num_valid))
