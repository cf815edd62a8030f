# SPDX-License-Identifier: Apache-2.0
"""The kernels on floats, taken as they are: their order, and every bit of every key."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import backend, kernels

pytestmark = pytest.mark.skipif(
    backend().cpu != "native" or jax.default_backend() != "cpu", reason="no kernels serve"
)

DTYPES = ["float32", "float64"]


def corner_keys(num_rows, dtype):
    """Zeros, infinities, denormals and NaNs of both signs, many payloads, among numbers."""
    rng = np.random.default_rng(num_rows)
    info = np.finfo(dtype)
    numbers = rng.standard_normal(num_rows).astype(dtype)
    corners = np.array([0, info.smallest_subnormal, info.tiny, 1, info.max, np.inf], dtype)
    keys = np.where(rng.random(num_rows) < 0.3, rng.choice(corners, num_rows), numbers)
    word = f"u{keys.itemsize}"
    payloads = rng.integers(1, 2**info.nmant, num_rows).astype(word)
    nans = np.array(np.inf, dtype).view(word) | payloads
    signs = rng.integers(0, 2, num_rows).astype(word) << (8 * keys.itemsize - 1)
    return np.where(rng.random(num_rows) < 0.2, nans, keys.view(word) ^ signs).view(dtype)


def sorted_forms(keys, num_valid, descending):
    """Keys alone, row ids alone, keys and the given row ids."""
    width = 8 * keys.dtype.itemsize
    column = kernels.sort._radix_sort.OrderedWord(keys, (2**width - 1) * descending, width)
    given = jnp.arange(keys.shape[0], dtype=jnp.int32)[::-1]
    num_valid = jnp.int32(num_valid)
    return (
        kernels.sort._radix_sort.sort_words(column, num_valid),
        kernels.sort._radix_sort.argsort_words(column, num_valid),
        kernels.sort._radix_sort.sort_words_with_row_ids(column, num_valid, given),
    )


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("num_rows", [1, 30, 5000, 200_000])
def test_sorts_match_oracle(dtype, descending, num_rows):
    keys = corner_keys(num_rows, dtype)
    for num_valid in (num_rows, num_rows // 2):
        order = oracles.argsort(keys, descending=descending, num_valid=num_valid)
        given = np.arange(num_rows, dtype=np.int32)[::-1]
        expected = keys[order], order, (keys[order], given[order])
        oracles.assert_same_bits(sorted_forms(jnp.asarray(keys), num_valid, descending), expected)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("k", [1, 100, 90_000])
def test_top_k_matches_oracle(dtype, descending, k):
    keys = corner_keys(100_000, dtype)
    width = 8 * keys.itemsize
    column = kernels.sort._top_k.OrderedWord(jnp.asarray(keys), (2**width - 1) * descending, width)
    for num_valid in (100_000, 60_000):
        order = oracles.argsort(keys, descending=descending, num_valid=num_valid)
        actual = kernels.sort._top_k.top_k_words(column, k, jnp.int32(num_valid))
        oracles.assert_same_bits(actual, order[:k])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("descending", [False, True])
def test_merge_matches_oracle(dtype, descending):
    halves = []
    for num_rows in (70_000, 50_001):
        keys = corner_keys(num_rows, dtype)
        halves.append(keys[oracles.argsort(keys, descending=descending)])
    width = 8 * halves[0].itemsize
    flip = (2**width - 1) * descending
    columns = [
        (kernels.sort._merge.OrderedWord(jnp.asarray(keys), flip, width),) for keys in halves
    ]
    actual = kernels.sort._merge.merge_words(*columns, jnp.int32(70_000), jnp.int32(50_001))
    expected = oracles.argsort(np.concatenate(halves), descending=descending)
    oracles.assert_same_bits(actual, expected)


@pytest.mark.parametrize(
    ("flip", "bits", "message"),
    [
        (1 << 31, 32, "flip must be 0 or all ones for floating point, got 2147483648"),
        (0, 31, "bits must be 32 for floating point, got 31"),
    ],
)
def test_orders_that_floats_do_not_have_are_refused(flip, bits, message):
    column = kernels.sort._radix_sort.OrderedWord(jnp.zeros(3, jnp.float32), flip, bits)
    with pytest.raises(jax.errors.JaxRuntimeError, match=message):
        kernels.sort._radix_sort.argsort_words(column, jnp.int32(3)).block_until_ready()
