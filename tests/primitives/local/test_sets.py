# SPDX-License-Identifier: Apache-2.0
"""`local.isin` and the sets of keys against dictionaries, and against NumPy."""

import functools

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import local
from key_distributions import KEY_DTYPES, distributions_for, make_keys
from on_shards import compiled, noting

OPS = ("union", "intersection", "difference")
NUM_A, NUM_B = 50, 35


@functools.partial(compiled, static_argnames="capacity")
def look_up_all_ways(a, b, num_a, num_b, capacity):
    """Both flags and every set, compiled as one program."""
    sides = {"num_valid": (num_a, num_b)}
    flags = [local.isin(a, b, invert=invert, **sides) for invert in (False, True)]
    sets = [getattr(local, f"set_{op}")(a, b, capacity=capacity, **sides) for op in OPS]
    return flags, sets


def check(a, b, num_valid=None, capacity=NUM_A + NUM_B + 3):
    valid = num_valid or tuple(len(oracles.columns_of(keys)[0]) for keys in (a, b))
    counts = (jnp.int32(count) for count in valid)
    flags, sets = look_up_all_ways(a, b, *counts, capacity=capacity)
    for invert, actual in zip((False, True), flags, strict=True):
        expected = oracles.isin(a, b, invert=invert, num_valid=valid)
        oracles.assert_same_bits(actual, expected)
    for op, actual in zip(OPS, sets, strict=True):
        assert isinstance(actual, local.KeySet)
        with noting((op, valid, capacity)):
            expected = oracles.set_operation(op, a, b, capacity, num_valid=valid)
            oracles.assert_same_bits(tuple(actual), expected)


def make_sides(distribution, dtype):
    keys = make_keys(distribution, NUM_A + NUM_B, np.dtype(dtype))
    keys = np.random.default_rng(0).permutation(keys)
    return keys[:NUM_A], keys[NUM_A:]


# Matches the oracle


@pytest.mark.parametrize("dtype", KEY_DTYPES, ids=str)
def test_keys_of_any_dtype_and_distribution(dtype):
    for distribution in distributions_for(dtype):
        with noting(distribution):
            check(*make_sides(distribution, dtype))


def test_several_columns():
    sides = [
        make_sides("four_values", np.int16),
        make_sides("signed_zeros", np.float64),
        make_sides("two_valued", np.int64),
    ]
    a, b = zip(*sides, strict=True)
    check(a, b)
    check(a, b, num_valid=(41, 20))


@pytest.mark.parametrize("num_valid", [(0, 0), (0, 35), (50, 0), (1, 1), (49, 34), (20, 35)])
def test_padding_is_not_looked_at(num_valid):
    check(*make_sides("zipf", np.int32), num_valid)


@pytest.mark.parametrize("capacity", [0, 1, 7])
def test_a_capacity_cuts_keys_off_and_not_the_count(capacity):
    check(*make_sides("zipf", np.int64), capacity=capacity)


@pytest.mark.parametrize(("num_a", "num_b"), [(0, 0), (0, 1), (1, 0), (1, 1), (3, 0)])
def test_edge_sizes(num_a, num_b):
    check(np.arange(num_a, dtype=np.float32), np.zeros(num_b, np.float32))


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    check(*make_sides("zipf", np.int32))
    (a, b), (other_a, other_b) = make_sides("four_values", "f4"), make_sides("two_valued", "i4")
    check((a, other_a), (b, other_b))


def test_agrees_with_numpy():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 20_000, 10_001), rng.integers(0, 20_000, 4_095)
    np.testing.assert_array_equal(local.isin(a, b), np.isin(a, b))
    for op, of_numpy in zip(OPS, (np.union1d, np.intersect1d, np.setdiff1d), strict=True):
        found = getattr(local, f"set_{op}")(a, b)
        np.testing.assert_array_equal(found.unique_keys[: found.count], of_numpy(a, b))
    # Every other library but NumPy finds a NaN among NaNs.
    nan = np.array([np.nan, 1.0])
    assert local.isin(nan, nan).tolist() == [True, True]
    assert np.isin(nan, nan).tolist() == [False, True]


# Errors, word for word


@pytest.mark.checks_arguments
def test_errors():
    numbers, floats = np.arange(3), np.arange(4.0)
    calls = {"isin": ("keys", "test_keys")} | {f"set_{op}": ("a", "b") for op in OPS}
    for name, (a, b) in calls.items():
        with pytest.raises(TypeError) as error:
            getattr(local, name)(numbers, floats)
        assert str(error.value) == (
            f"{name}: {a} and {b} must have the same dtype, got int64[3] and float64[4]. "
            "Cast one of them."
        )
        with pytest.raises(ValueError, match=f"^{name}: {a} and {b} must have the same number of"):
            getattr(local, name)((numbers, numbers), numbers)
        with pytest.raises(TypeError) as error:
            getattr(local, name)(numbers, numbers, num_valid=3)
        assert str(error.value) == (f"{name}: num_valid must be a pair, for a and for b, got int.")
