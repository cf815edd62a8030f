# SPDX-License-Identifier: Apache-2.0
"""`local.segment_softmax` and `local.segment_normalize` against NumPy."""

import jax
import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from derivatives import check_derivatives
from jaxframes.primitives import local

NUM_SEGMENTS = 5


def rows_of(num_rows, dtype=np.float64, columns=()):
    rng = np.random.default_rng(num_rows)
    x = 20 * rng.standard_normal((num_rows, *columns))
    return x.astype(dtype), rng.integers(-1, NUM_SEGMENTS + 1, num_rows).astype(np.int32)


def check(x, ids, num_valid, tolerance):
    softmax = local.segment_softmax(x, ids, NUM_SEGMENTS, num_valid=num_valid)
    normal = local.segment_normalize(x, ids, NUM_SEGMENTS, epsilon=0.5, num_valid=num_valid)
    assert softmax.shape == normal.shape == x.shape
    expected = oracles.segment_softmax(x, ids, NUM_SEGMENTS, num_valid=num_valid)
    np.testing.assert_allclose(softmax.astype(float), expected, tolerance, tolerance)
    expected = oracles.segment_normalize(x, ids, NUM_SEGMENTS, 0.5, num_valid=num_valid)
    np.testing.assert_allclose(normal.astype(float), expected, tolerance, tolerance)
    return softmax, normal


@pytest.mark.parametrize("num_rows", [0, 1, 2, 31, 33, 257])
def test_matches_numpy(num_rows):
    for columns in ((), (3,)):
        x, ids = rows_of(num_rows, columns=columns)
        for num_valid in {None, 0, num_rows // 2}:
            check(x, ids, num_valid, 1e-12)


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [("float32", 1e-5), ("float16", 1e-2), (jnp.bfloat16, 1e-1), ("int8", 1e-9), ("bool", 1e-9)],
)
def test_dtypes(dtype, tolerance):
    x, ids = rows_of(64, dtype)
    results = check(x, ids, None, tolerance)
    is_float = jnp.issubdtype(x.dtype, jnp.floating)
    assert {one.dtype for one in results} == {x.dtype if is_float else np.dtype(np.float64)}


def test_nothing_overflows_and_masked_segments_are_zeros():
    x = np.array([1e30, 1e30, -np.inf, -np.inf, -np.inf, 3.0, np.nan, 1.0], np.float32)
    ids = np.array([0, 0, 1, 1, 2, 2, 3, 3])
    softmax = local.segment_softmax(x, ids, 4)
    np.testing.assert_array_equal(softmax, [0.5, 0.5, 0, 0, 0, 1, np.nan, np.nan])
    gradient = jax.grad(lambda x: local.segment_softmax(x, ids, 4)[0])(x)
    np.testing.assert_array_equal(gradient[:6], [0.25, -0.25, 0, 0, 0, 0])


def test_rows_of_no_segment_stay_out_of_derivatives():
    # Their exponentials would overflow.
    x, ids = np.array([1.0, 2.0, 1e5, 5.0]), np.array([0, 0, 7, -1])
    gradient = jax.grad(lambda x: local.segment_softmax(x, ids, 2)[0])(x)
    assert np.isfinite(gradient).all()
    assert gradient[2:].tolist() == [0, 0]
    assert jax.grad(lambda x: local.segment_logsumexp(x, ids, 2)[0])(x)[2:].tolist() == [0, 0]


@pytest.mark.parametrize("name", ["softmax", "normalize"])
def test_derivatives(name):
    ids, weights = np.array([0, 2, 0, 2, 7, 2, -1, 0]), np.arange(1.0, 9.0)
    x = np.array([1.5, 0.4, 0.0, 0.3, 5.0, 0.1, 7.0, 1.0])
    scale = getattr(local, f"segment_{name}")
    check_derivatives(lambda x: jnp.vdot(weights, scale(jnp.sin(x), ids, 3, num_valid=7)), x)


def test_the_derivative_of_logsumexp_is_softmax():
    x, ids = rows_of(20)
    gradient = jax.grad(lambda x: local.segment_logsumexp(x, ids, NUM_SEGMENTS, fill_value=0).sum())
    np.testing.assert_allclose(
        gradient(x), oracles.segment_softmax(x, ids, NUM_SEGMENTS), 1e-12, 1e-12
    )


X, IDS = np.arange(5, dtype=np.float32), np.arange(5, dtype=np.int32)
ERRORS = {
    "length": (
        lambda: local.segment_softmax(X, IDS[:4], 5),
        "segment_softmax: every leaf of x must have 4 rows along its leading axis, got float32[5].",
    ),
    "complex": (
        lambda: local.segment_normalize(X + 1j, IDS, 5),
        "segment_normalize: x must be real, got complex64[5]. Scale its real and imaginary parts.",
    ),
    "nothing": (
        lambda: local.segment_softmax(None, IDS, 5),
        "segment_softmax: x must hold an array for 'mean', got NoneType.",
    ),
    "zero": (
        lambda: local.segment_normalize(X, IDS, 5, epsilon=0),
        "segment_normalize: epsilon must be positive, got 0.",
    ),
    "not a number": (
        lambda: local.segment_normalize(X, IDS, 5, epsilon=float("nan")),
        "segment_normalize: epsilon must be positive, got nan.",
    ),
    "many": (
        lambda: local.segment_normalize(X, IDS, 5, epsilon=X),
        "segment_normalize: epsilon must be one real number, got float32[5].",
    ),
}


@pytest.mark.checks_arguments
@pytest.mark.parametrize("name", ERRORS)
def test_refuses(name):
    call, message = ERRORS[name]
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert str(raised.value) == message
