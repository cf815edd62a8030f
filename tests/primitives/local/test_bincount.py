# SPDX-License-Identifier: Apache-2.0
"""`local.bincount` against NumPy."""

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from derivatives import check_derivatives
from jaxframes.primitives import local

NUM_BINS = 7


@pytest.mark.parametrize("num_rows", [0, 1, 33, 257])
def test_counts_and_sums(num_rows):
    rng = np.random.default_rng(num_rows)
    weights = {"one": rng.standard_normal(num_rows), "two": rng.integers(-9, 9, (num_rows, 2))}
    for shape in ((num_rows,), (num_rows, 0), (num_rows, 3)):
        ids = rng.integers(-2, NUM_BINS + 2, shape)
        for num_valid in {None, 0, num_rows // 2}:
            counts = local.bincount(ids, NUM_BINS, num_valid=num_valid)
            expected = oracles.bincount(ids, NUM_BINS, num_valid=num_valid)
            assert counts.dtype == np.int32
            np.testing.assert_array_equal(counts, expected)
            sums = local.bincount(ids, NUM_BINS, weights=weights, num_valid=num_valid)
            for name, one in weights.items():
                expected = oracles.bincount(ids, NUM_BINS, one, num_valid=num_valid)
                assert sums[name].shape == expected.shape
                np.testing.assert_allclose(sums[name], expected, rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "uint32", "int64", "uint64"])
def test_ids_of_any_integer_dtype(dtype):
    ends = np.array([0, np.iinfo(dtype).max, np.iinfo(dtype).min, 5, 5], dtype)
    assert local.bincount(ends[1:], 6).tolist() == [int(ends[2] == 0), 0, 0, 0, 0, 2]


def test_weights_are_differentiable():
    ids = np.array([[0, 2], [1, 2], [7, 0]])
    check_derivatives(
        lambda weights: jnp.vdot(np.arange(6.0), local.bincount(ids, 3, weights=weights)),
        np.array([0.5, 2.0, -1.0]),
    )


IDS = np.zeros((4, 2), np.int32)
ERRORS = {
    "floats": (
        lambda: local.bincount(np.zeros(4, np.float32), 3),
        "bincount: bin_ids must be integers, got float32[4].",
    ),
    "dimensions": (
        lambda: local.bincount(IDS[None], 3),
        "bincount: bin_ids must have a row axis, and may have one for columns, got int32[1,4,2]. "
        "Use jax.vmap for a batch.",
    ),
    "weights": (
        lambda: local.bincount(IDS, 3, weights=np.zeros(3)),
        "bincount: every leaf of weights must have 4 rows along its leading axis, got float64[3].",
    ),
    "nothing": (
        lambda: local.bincount(IDS, 3, weights={}),
        "bincount: weights must hold at least one array, got an empty pytree.",
    ),
    "none": (
        lambda: local.bincount(IDS, 0),
        "bincount: num_bins must be in [1, 2147483647], got 0.",
    ),
}


@pytest.mark.checks_arguments
@pytest.mark.parametrize("name", ERRORS)
def test_refuses(name):
    call, message = ERRORS[name]
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert str(raised.value) == message
