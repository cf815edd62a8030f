# SPDX-License-Identifier: Apache-2.0
"""`local.top_k` against the NumPy oracle."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import kernels, local
from key_distributions import INTEGER_DTYPES, KEY_DTYPES, distributions_for, make_keys

top_k = jax.jit(local.top_k, static_argnames=("k", "largest"))

NUM_ROWS = 1000


def assert_is_top_k(actual, x, k, **settings):
    assert isinstance(actual, local.TopK)
    oracles.assert_same_bits(tuple(actual), oracles.top_k(x, k, **settings))


# Matches the oracle


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
@pytest.mark.parametrize("largest", [True, False])
def test_finds_them_in_every_dtype(dtype, largest):
    for distribution in distributions_for(dtype):
        x = make_keys(distribution, NUM_ROWS, dtype)
        for k in (1, 10, 300):
            assert_is_top_k(top_k(x, k=k, largest=largest), x, k, largest=largest)


@pytest.mark.parametrize("num_valid", [0, 1, 9, 10, 11, 999])
def test_padding_fills_the_end(num_valid):
    x = make_keys("all_max", NUM_ROWS, np.int32)
    x[1::2] = make_keys("uniform", NUM_ROWS // 2, np.int32)
    for largest in (True, False):
        settings = {"largest": largest, "num_valid": num_valid}
        assert_is_top_k(top_k(x, k=10, **settings), x, 10, **settings)


@pytest.mark.usefixtures("x64_off")
@pytest.mark.parametrize("dtype", [d for d in KEY_DTYPES if d.itemsize < 8], ids=str)
def test_finds_them_without_x64(dtype):
    x = make_keys(distributions_for(dtype)[-1], NUM_ROWS, dtype)
    assert_is_top_k(top_k(x, k=10), x, 10)


# Edge sizes


@pytest.mark.parametrize("num_rows", [0, 1, 2, 7, 8, 9, 255, 256, 257])
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_edge_sizes(num_rows, dtype):
    x = make_keys("uniform", num_rows, np.dtype(dtype))
    for k in sorted({0, min(1, num_rows), num_rows // 2, max(num_rows - 1, 0), num_rows}):
        assert_is_top_k(top_k(x, k=k), x, k)


@pytest.mark.parametrize("k", [1, 1000, 10**6])
def test_a_million_rows(k):
    x = make_keys("uniform", 10**6, np.float32)
    assert_is_top_k(top_k(x, k=k), x, k)


# Skewed keys


@pytest.mark.parametrize("distribution", ["sorted", "reversed", "two_valued", "block_duplicated"])
@pytest.mark.parametrize("dtype", ["uint32", "float64"])
def test_skewed_keys(distribution, dtype):
    # A sorted input replaces every candidate, a reversed one none; ties cross any boundary.
    x = make_keys(distribution, 20_000, np.dtype(dtype))
    for k in (100, 5000):
        for largest in (True, False):
            assert_is_top_k(top_k(x, k=k, largest=largest), x, k, largest=largest)


# Implementations agree


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_native_and_portable_agree(dtype, monkeypatch):
    x = make_keys("zipf", NUM_ROWS, dtype)
    as_installed = local.top_k(x, 50, num_valid=900)
    monkeypatch.setattr(kernels.sort._top_k, "is_native", lambda: False)
    oracles.assert_same_bits(as_installed, local.top_k(x, 50, num_valid=900))


@pytest.mark.parametrize("dtype", INTEGER_DTYPES, ids=str)
def test_agrees_with_jax(dtype):
    x = make_keys("zipf", NUM_ROWS, dtype)
    oracles.assert_same_bits(tuple(top_k(x, k=50)), tuple(jax.lax.top_k(x, 50)))


# Transformations: jit is everywhere above


def test_vmap_finds_them_in_each_row_of_the_batch():
    x = make_keys("four_values", 6 * 40, np.int32).reshape(2, 3, 40)
    num_valid = np.array([[40, 0, 7], [39, 1, 25]], np.int32)

    def of_row(x, num_valid):
        return local.top_k(x, 8, num_valid=num_valid)

    actual = jax.jit(jax.vmap(jax.vmap(of_row)))(x, num_valid)
    for place in np.ndindex(2, 3):
        one = local.TopK(actual.values[place], actual.row_ids[place])
        assert_is_top_k(one, x[place], 8, num_valid=num_valid[place])


def test_a_scan_body_finds_them():
    x = make_keys("uniform", 3 * 50, np.float32).reshape(3, 50)

    def step(best, x):
        best = local.top_k(jnp.concatenate([best, x]), 5).values
        return best, best

    best, _ = jax.lax.scan(step, jnp.full(5, -jnp.inf, jnp.float32), x)
    oracles.assert_same_bits(best, oracles.top_k(x.reshape(-1), 5)[0])


def test_a_donated_argument_is_reused_safely():
    x = make_keys("uniform", NUM_ROWS, np.int32)
    donated = jnp.asarray(x.copy())
    actual = jax.jit(lambda x: local.top_k(x, NUM_ROWS), donate_argnums=0)(donated)
    assert_is_top_k(actual, x, NUM_ROWS)
    assert donated.is_deleted()


# Errors word for word; those about keys are in test_key_errors.py

X = np.arange(5, dtype=np.int32)
ERRORS = [
    pytest.param(X, 6, ValueError, "top_k: k must be in [0, 5], got 6.", id="k > rows"),
    pytest.param(X, -1, ValueError, "top_k: k must be in [0, 5], got -1.", id="k < 0"),
    pytest.param(X, 2.0, TypeError, "top_k: k must be a Python integer, got float.", id="float k"),
    pytest.param(
        (X, X),
        2,
        TypeError,
        "top_k: x must be one array, got a tuple of 2. For several columns take the first rows "
        "of radix_argsort.",
        id="tuple",
    ),
]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(("x", "k", "error", "message"), ERRORS)
def test_refuses(x, k, error, message):
    with pytest.raises(error) as raised:
        local.top_k(x, k)
    assert str(raised.value) == message


@pytest.mark.checks_arguments
def test_refuses_a_traced_k():
    with pytest.raises(TypeError) as raised:
        jax.jit(local.top_k)(X, jnp.int32(2))
    assert str(raised.value) == (
        "top_k: k must be a Python integer, because shapes depend on it, got the traced int32[]. "
        "Mark it static (static_argnames in jax.jit)."
    )
