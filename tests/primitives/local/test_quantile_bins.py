# SPDX-License-Identifier: Apache-2.0
"""`local.quantile_bins` against NumPy."""

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import local
from jaxframes.primitives.local._quantile_ranks import ranks_of_parts


def check(x, num_bins, num_valid=None):
    binned = local.quantile_bins(x, num_bins, num_valid=num_valid)
    bins, edges = oracles.quantile_bins(np.asarray(x), num_bins, num_valid=num_valid)
    assert binned.bin_ids.dtype == np.int32
    assert binned.edges.dtype == x.dtype
    np.testing.assert_array_equal(binned.bin_ids, bins)
    np.testing.assert_array_equal(binned.edges, edges)
    return binned


@pytest.mark.parametrize("num_rows", [0, 1, 2, 31, 257])
def test_matches_numpy(num_rows):
    rng = np.random.default_rng(num_rows)
    x = rng.standard_normal(num_rows)
    x[rng.random(num_rows) < 0.2] = np.nan
    for num_bins in (1, 2, 5, 300):
        for num_valid in {None, 0, num_rows // 2}:
            check(x, num_bins, num_valid)


@pytest.mark.parametrize(
    "dtype",
    ["bool", "int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", jnp.bfloat16],
)
def test_dtypes(dtype):
    x = np.random.default_rng(0).integers(0, 100, 64).astype(dtype)
    check(x, 8)


def test_integers_past_the_range_of_floats_are_exact():
    x = 2**62 + np.arange(9, dtype=np.int64)
    assert check(x, 3).bin_ids.tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


@pytest.mark.parametrize("num_rows", [50, 101, 2000])
def test_ranks_are_exact(num_rows):
    x = np.arange(num_rows, dtype=np.int32)
    for num_bins in (num_rows - 1, num_rows, 49, 999):
        check(x, num_bins)


def test_ranks_past_32_bits_are_exact():
    for last in (2**32 - 1, 2**40 + 12_345, 2**63 - 1):
        words = jnp.uint32(last >> 32), jnp.uint32(last & 0xFFFFFFFF)
        for num_parts in (2, 7, 1000, 65_535):
            ranks = ranks_of_parts(*words, num_parts)
            high, low = (np.asarray(one).astype(object) for one in ranks)
            expected = [b * last // num_parts for b in range(1, num_parts)]
            assert (high * 2**32 + low).tolist() == expected


def test_infinities_zeros_and_rows_without_a_number():
    assert check(np.array([np.inf, -np.inf, 0.0, -0.0, np.inf]), 4).bin_ids[0] == 2
    assert check(np.array([np.nan, np.nan]), 3).edges.tolist() == [0, 0]
    # Negative NaN comes after all numbers as well.
    assert check(-np.array([np.nan, 1.0, 2.0]), 2).bin_ids.tolist() == [2, 1, 0]


ERRORS = {
    "none": (
        lambda: local.quantile_bins(np.zeros(4), 0),
        "quantile_bins: num_bins must be in [1, 65535], got 0.",
    ),
    "many": (
        lambda: local.quantile_bins(np.zeros(4), 2**16),
        "quantile_bins: num_bins must be in [1, 65535], got 65536.",
    ),
    "matrix": (
        lambda: local.quantile_bins(np.zeros((4, 2)), 3),
        "quantile_bins: x must be one-dimensional, got float64[4,2]. Use jax.vmap for a batch, a "
        "tuple of arrays for several columns.",
    ),
}


@pytest.mark.checks_arguments
@pytest.mark.parametrize("name", ERRORS)
def test_refuses(name):
    call, message = ERRORS[name]
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert str(raised.value) == message
