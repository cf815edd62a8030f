# SPDX-License-Identifier: Apache-2.0
"""`local.pairwise_sum` against exact sums, and the C++ kernel against the portable definition."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.test_util import check_grads
from jaxframes.primitives import backend, kernels, local

DTYPES = [jnp.bfloat16, np.float16, np.float32, np.float64]
SIZES = [0, 1, 17, 1023, 1024, 1025, 5000, 70_001]
needs_kernels = pytest.mark.skipif(backend().cpu != "native", reason=backend().reason)


def numbers(size, dtype, seed=0):
    """Numbers of many magnitudes, of both signs."""
    rng = np.random.default_rng(seed)
    exponent = rng.integers(-9, 4, size)
    return np.ldexp(rng.standard_normal(size), exponent).astype(dtype)


def unit(dtype):
    return float(jnp.finfo(dtype).eps) / 2


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_close_to_the_exact_sum(dtype, size):
    x = numbers(size, dtype)
    add_up = jax.jit(
        lambda x, n, dtype: local.pairwise_sum(x, num_valid=n, dtype=dtype), static_argnums=2
    )
    for wide in (None, np.float32, np.float64):
        if wide is not None and np.dtype(wide).itemsize < x.dtype.itemsize:
            continue
        for num_valid in sorted({0, size // 3, max(size - 1, 0), size}):
            found = add_up(x, num_valid, wide)
            assert found.dtype == (dtype if wide is None else wide)
            valid = x[:num_valid].astype(float).tolist()
            exact, magnitude = math.fsum(valid), math.fsum(map(abs, valid))
            summed = max(found.dtype, np.dtype(np.float32), key=lambda dtype: dtype.itemsize)
            bound = ((64 + math.log2(max(size, 1))) * unit(summed)) ** 2 * magnitude
            rounding = (unit(found.dtype) + unit(summed)) * abs(exact)
            assert abs(float(found) - exact) <= bound + rounding


def test_a_sum_of_cents_is_the_exact_one():
    cents = np.random.default_rng(0).integers(1, 100_000, 100_000) / 100
    assert float(local.pairwise_sum(cents)) == math.fsum(cents) != float(np.cumsum(cents)[-1])


@needs_kernels
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_native_and_portable_are_the_same_bits(dtype, monkeypatch):
    cases = [
        (numbers(size, dtype, size), num_valid, wide)
        for size in (*SIZES[1:], 65_536, 131_072)
        for num_valid in (0, 1, size // 2, size)
        for wide in {np.dtype(dtype), np.dtype(np.float64)}
    ]
    add_up = kernels.reduce._pairwise_sum.sum_of_rows
    native = [add_up(x, jnp.int32(num_valid), wide) for x, num_valid, wide in cases]
    monkeypatch.setattr(kernels.reduce._pairwise_sum, "is_native", lambda: False)
    portable = jax.jit(add_up, static_argnums=2)
    for found, (x, num_valid, wide) in zip(native, cases, strict=True):
        oracles.assert_same_bits(found, portable(x, jnp.int32(num_valid), wide))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_zeros_and_nans_have_no_sign(dtype):
    for x in (
        np.full(3000, -0.0, dtype),
        np.full(3000, -np.nan, dtype),
        -np.resize([np.inf, -np.inf], 3000).astype(dtype),
    ):
        for num_valid in (1, 1024, 2048, 2049, 3000):
            total = np.asarray(local.pairwise_sum(x, num_valid=num_valid))
            assert np.isinf(total) or not np.signbit(total), (x[0], num_valid)


def test_numbers_that_are_none():
    x = np.ones(3000, np.float32)
    x[2500] = np.nan
    assert np.isnan(local.pairwise_sum(x))
    assert local.pairwise_sum(x, num_valid=2500) == 2500
    x[2500:2502] = np.inf, -np.inf
    assert np.isnan(local.pairwise_sum(x))
    assert np.isposinf(local.pairwise_sum(x, num_valid=2501))


def test_a_sum_is_not_rounded_on_the_way():
    assert local.pairwise_sum(np.ones(20_000_000, np.float32)) == 2e7
    large = np.full(4096, 60_000, np.float16)
    assert local.pairwise_sum(large, dtype=np.float32) == 4096 * 60_000
    assert np.isposinf(local.pairwise_sum(large))
    alternating = large * np.resize(np.array([1, -1], np.float16), 4096)
    assert local.pairwise_sum(alternating) == 0


def test_derivatives():
    x = numbers(2100, np.float64)

    def total(x, num_valid=2000):
        return local.pairwise_sum(x, num_valid=num_valid)

    expected = (np.arange(2100) < 2000).astype(float)
    np.testing.assert_array_equal(jax.jit(jax.grad(total))(x), expected)
    x[2050] = np.nan
    np.testing.assert_array_equal(jax.grad(total)(x), expected)
    check_grads(lambda x: total(x, 30) ** 2, (numbers(40, np.float64),), 2, ["fwd", "rev"])
    narrow = jax.grad(lambda x: local.pairwise_sum(x, dtype=np.float64))(np.ones(3, np.float32))
    oracles.assert_same_bits(narrow, np.ones(3, np.float32))


def test_without_x64(x64_off):
    x = np.full(3000, 0.1, np.float32)
    assert local.pairwise_sum(x).dtype == np.float32
    with pytest.raises(TypeError, match="float64 dtype needs JAX's x64 mode"):
        local.pairwise_sum(x, dtype=np.float64)


def test_each_row_of_a_batch_is_its_own():
    x = numbers(5 * 1500, np.float32).reshape(5, 1500)
    num_valid = np.array([1500, 0, 1, 1499, 1024], np.int32)
    found = jax.vmap(lambda x, n: local.pairwise_sum(x, num_valid=n))(x, num_valid)
    for row, valid, total in zip(x, num_valid, found, strict=True):
        oracles.assert_same_bits(total, local.pairwise_sum(row, num_valid=valid))


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("x", "dtype", "error", "message"),
    [
        (np.arange(3), None, TypeError, "x must be floats, got int64[3]. Cast it to one."),
        (np.ones((2, 3)), None, ValueError, "x must be one-dimensional, got float64[2,3]"),
        (np.ones(3), "float32", TypeError, "a float that holds float64, got float32."),
        (np.ones(3), "int64", TypeError, "a float that holds float64, got int64."),
        (np.ones(3), "complex128", TypeError, "a float that holds float64, got complex128."),
        (np.ones(3, np.float16), "bfloat16", TypeError, "that holds float16, got bfloat16."),
    ],
)
def test_bad_arguments(x, dtype, error, message):
    with pytest.raises(error, match="pairwise_sum: ") as raised:
        local.pairwise_sum(x, dtype=dtype)
    assert message in str(raised.value)
