# SPDX-License-Identifier: Apache-2.0
"""`quantile` on every level against NumPy's."""

import functools
from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jax.test_util import check_grads
from jaxframes import primitives
from jaxframes.primitives import collective, local
from jaxframes.primitives.local._quantile_ranks import quantile_positions
from key_distributions import KEY_DTYPES, distributions_for, make_keys
from on_shards import SHARD_COUNTS, into_shards, mesh_of, noting, on_shards, row_counts, valid_rows

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")
Q = np.array([[0.0, 0.1, 0.25, 0.5], [0.731, 0.9, 0.999, 1.0]])


@functools.cache
def finder():
    @jax.jit
    def find(x, q, num_valid):
        return {
            name: local.quantile(x, q, interpolation=name, num_valid=num_valid)
            for name in INTERPOLATIONS
        }

    return find


@functools.cache
def collective_finder(num_shards):
    def find(x, num_valid):
        return {
            name: collective.quantile(
                x, Q, axis_name="rows", interpolation=name, num_valid=num_valid
            )
            for name in INTERPOLATIONS
        }

    return on_shards(find, num_shards)


def assert_is_quantile(actual, x, q, name):
    is_float = oracles.is_float(x.dtype)
    dtype = x.dtype if is_float else np.dtype(float)
    actual = np.asarray(actual)
    assert (actual.dtype, actual.shape) == (dtype, q.shape)
    with np.errstate(all="ignore"):
        x = x.astype(np.float64) if is_float or name in ("linear", "midpoint") else x
        if not len(x) or np.isnan(x.astype(np.float64)).any():
            expected = np.full(q.shape, np.nan)
        else:
            expected = np.quantile(x.astype(int) if x.dtype == bool else x, q, method=name)
            if name in ("linear", "midpoint"):
                # NumPy subtracts infinities. At a rank both ends are the same row.
                low = np.quantile(x.astype(float), q, method="lower")
                high = np.quantile(x.astype(float), q, method="higher")
                expected = oracles.beside_infinities(low, high, expected)
        expected = expected.astype(dtype)
        actual, expected = actual.astype(np.float64), expected.astype(np.float64)
    if name in ("linear", "midpoint"):
        precision = 4 * float(jnp.finfo(dtype).eps)
        size = np.abs(x[np.isfinite(x)]).max(initial=0).astype(np.float64)
        np.testing.assert_allclose(actual, expected, rtol=precision, atol=precision * size)
    else:
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_every_dtype_and_distribution(dtype):
    for distribution in distributions_for(dtype):
        x = make_keys(distribution, 70, dtype)
        for num_valid in (70, 64):
            found = finder()(x, Q, np.int32(num_valid))
            for name in INTERPOLATIONS:
                if distribution == "denormals" and name in ("linear", "midpoint"):
                    continue  # XLA's arithmetic on CPU flushes these to zero
                with noting((distribution, num_valid, name)):
                    assert_is_quantile(found[name], x[:num_valid], Q, name)


@pytest.mark.parametrize("num_valid", [0, 1, 2, 3, 10, 11, 33])
def test_every_number_of_rows(num_valid):
    x = make_keys("uniform", 33, np.float64)
    q = np.arange(41) / 40
    found = finder()(x, q, np.int32(num_valid))
    for name in INTERPOLATIONS:
        with noting(name):
            assert_is_quantile(found[name], x[:num_valid], q, name)


@pytest.mark.parametrize("num_shards", SHARD_COUNTS)
def test_over_shards(num_shards):
    x = into_shards(make_keys("uniform", num_shards * 19, np.float32), num_shards)
    for counted, counts in row_counts(num_shards, 19).items():
        found = collective_finder(num_shards)(x, counts)
        for name in INTERPOLATIONS:
            with noting((counted, name)):
                for shard in np.asarray(found[name]):
                    assert_is_quantile(shard, valid_rows(x, counts), Q, name)


def test_global_calls():
    for num_rows in (0, 1, 7, 65):
        x = make_keys("zipf", num_rows, np.int16)
        for mesh in (None, mesh_of(3), mesh_of(8)):
            for name in ("linear", "nearest"):
                found = primitives.quantile(x, Q, mesh, interpolation=name)
                assert_is_quantile(found, x, Q, name)
    assert primitives.quantile(np.array([1.0, 2.0]), 0.5, mesh_of(3)).shape == ()


def test_a_nan_anywhere_is_the_result():
    x = np.array([1.0, np.nan, 3.0])
    assert np.isnan(local.quantile(x, 0.0))
    assert local.quantile(x, 0.0, num_valid=1) == 1


@pytest.mark.parametrize("num_shards", [None, 1, 3])
def test_beside_infinities(num_shards):
    mesh = None if num_shards is None else mesh_of(num_shards)
    inf = np.inf
    q = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    for x, expected in (
        ([1.0, inf], [1.0, inf, inf, inf, inf]),
        ([-inf, 1.0], [-inf, -inf, -inf, -inf, 1.0]),
        ([inf, inf], [inf] * 5),
        ([-inf, inf], [-inf, np.nan, np.nan, np.nan, inf]),
        ([-inf, 1.0, inf], [-inf, -inf, 1.0, inf, inf]),
    ):
        for dtype in (np.float64, np.float32):
            x = np.array(x, dtype)
            for name in ("linear", "midpoint"):
                with noting((x, name)):
                    found = primitives.quantile(x, q, mesh, interpolation=name)
                    np.testing.assert_array_equal(found, expected)
                    ids = np.zeros(len(x), int)
                    found = primitives.segment_quantile(x, ids, 1, q, mesh, interpolation=name)
                    np.testing.assert_array_equal(found[0], expected)


@pytest.mark.parametrize("num_shards", [None, 3])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_between_the_largest_numbers(dtype, num_shards):
    mesh = None if num_shards is None else mesh_of(num_shards)
    dtype = jnp.dtype(dtype)
    largest = float(jnp.finfo(dtype).max)
    q = np.array([0.0, 0.25, 0.5, 0.75, 1.0])
    ids = np.zeros(2, int)
    for x, name, shares in (
        ([-1, 1], "linear", [-1, -0.5, 0, 0.5, 1]),
        ([-1, 1], "midpoint", [-1, 0, 0, 0, 1]),
        ([1, 1], "linear", [1] * 5),
        ([1, 1], "midpoint", [1] * 5),
    ):
        x, expected = (np.array(share) * largest for share in (x, shares))
        with noting((x, name)):
            of_all = primitives.quantile(x.astype(dtype), q, mesh, interpolation=name)
            of_one = primitives.segment_quantile(
                x.astype(dtype), ids, 1, q, mesh, interpolation=name
            )[0]
            for found in (of_all, of_one):
                precision = float(jnp.finfo(dtype).eps)
                np.testing.assert_allclose(np.asarray(found, float), expected, rtol=precision)
    far = jnp.array([-1.0, 1.0]) * np.finfo(float).max
    for call in (
        lambda x: primitives.quantile(x, 0.25, mesh),
        lambda x: primitives.segment_quantile(x, ids, 1, 0.25, mesh)[0],
    ):
        assert jax.grad(call)(far).tolist() == [0.75, 0.25]


@pytest.mark.parametrize("x64", [False, True])
def test_ranks_of_more_rows_than_a_float32_holds(x64):
    with jax.enable_x64(x64):
        dtype = np.float64 if x64 else np.float32
        q = np.array([0.0, 1e-30, 1e-3, 0.25, 0.5, 0.7310000061988831, 0.999, 1.0], dtype)
        for last in (0, 1, 2**22 - 1, 2**22 + 1, 2**24 + 1, 2**31 - 2, 2**40 + 12345):
            words = np.uint32(last >> 32), np.uint32(last & 0xFFFFFFFF)
            positions = jax.jit(quantile_positions)(*words, q)
            for part, *place in zip(q, *positions, strict=True):
                high, low, fraction = (float(number) for number in place)
                exact = Fraction(float(part)) * last
                found = (int(high) << 32) + int(low) + Fraction(fraction)
                assert 0 <= fraction < 1
                # The rounding error of a float position or fraction.
                is_float32 = not x64 and last <= 2**22
                error = exact * Fraction(1, 2 ** (24 if is_float32 else 52))
                error += 0 if x64 else Fraction(1, 2**22)
                assert abs(found - exact) <= error


def test_derivatives():
    x = np.array([0.3, -1.0, 2.5, 0.9, 7.0])

    @jax.jit
    def weighted(x):
        found = [
            local.quantile(jnp.sin(x), np.array([0.1, 0.55, 1.0]), interpolation=name)
            for name in INTERPOLATIONS
        ]
        return jnp.vdot(jnp.arange(15.0), jnp.concatenate(found) ** 2)

    check_grads(weighted, (x,), order=2, modes=("fwd", "rev"))


def test_equal_rows_share_the_derivative():
    def gradient(rows, q, mesh=None):
        return jax.grad(lambda x: primitives.quantile(x, q, mesh))(jnp.array(rows))

    # The mean of two numbers in either order.
    for mesh in (None, mesh_of(2)):
        np.testing.assert_array_equal(gradient([1.0, 1.0], 0.5, mesh), [0.5, 0.5])
    np.testing.assert_allclose(gradient([2.0, 1.0, 2.0, 9.0], 0.4), [0.8, 0, 0.2, 0])
    assert np.isfinite(gradient([np.inf, np.inf], 0.5)).all()


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    x = make_keys("uniform", 70, np.float32)
    q = np.array([0.0, 0.25, 0.5, 1.0], np.float32)
    assert_is_quantile(local.quantile(x, q), x, q, "linear")
    assert local.quantile(np.arange(4, dtype=np.int32), q).dtype == jnp.float32


@pytest.mark.checks_arguments
def test_refuses():
    x = np.arange(3.0)
    for call, message in (
        (lambda: local.quantile(x, 1.5), "quantile: q must lie in [0, 1], got 1.5."),
        (lambda: local.quantile(x, [0.5, np.nan]), "quantile: q must lie in [0, 1], got nan."),
        (lambda: local.quantile(x, 1j), "quantile: q must be real numbers, got complex128[]."),
        (
            lambda: local.quantile(x, 0.5, interpolation="cubic"),
            "quantile: interpolation must be one of 'linear', 'lower', 'higher', 'midpoint', "
            "'nearest', got 'cubic'.",
        ),
    ):
        with pytest.raises((TypeError, ValueError)) as raised:
            call()
        assert str(raised.value) == message
