# SPDX-License-Identifier: Apache-2.0
"""`local.factorize` against an oracle that numbers keys with a dictionary."""

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jaxframes.primitives import local
from key_distributions import FLOAT_DTYPES, INTEGER_DTYPES, distributions_for, make_keys
from on_shards import compiled

factorize = compiled(local.factorize, static_argnames=("capacity", "sort", "return_first"))

NUM_ROWS = 300


def assert_is_factorized(keys, return_first=True, **settings):
    settings["return_first"] = return_first
    actual = factorize(keys, **settings)
    assert isinstance(actual, local.Factorized)
    oracles.assert_same_bits(tuple(actual), oracles.factorize(keys, **settings))


# Matches the oracle


@pytest.mark.parametrize("dtype", [np.dtype(bool), *INTEGER_DTYPES, *FLOAT_DTYPES], ids=str)
@pytest.mark.parametrize("sort", [True, False])
def test_numbers_keys_of_any_dtype_and_distribution(dtype, sort):
    for distribution in distributions_for(dtype):
        assert_is_factorized(make_keys(distribution, NUM_ROWS, dtype), sort=sort)


@pytest.mark.parametrize("sort", [True, False])
def test_numbers_rows_of_several_columns(sort):
    # The first two fit one word together; the third makes a second word necessary.
    narrow = (
        make_keys("four_values", NUM_ROWS, np.dtype(np.int16)),
        make_keys("zipf", NUM_ROWS, np.dtype(np.float32)),
    )
    assert_is_factorized(narrow, sort=sort)
    assert_is_factorized(narrow, sort=sort, return_first=False)
    wide = (*narrow, make_keys("two_valued", NUM_ROWS, np.dtype(np.int64)))
    assert_is_factorized(wide, sort=sort, num_valid=NUM_ROWS - 11)


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("num_valid", [0, 1, NUM_ROWS - 1])
def test_padding_has_no_number(sort, num_valid):
    keys = make_keys("zipf", NUM_ROWS, np.dtype(np.int64))
    assert_is_factorized(keys, sort=sort, num_valid=num_valid)


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("capacity", [0, 1, 7, NUM_ROWS + 5])
def test_a_capacity_cuts_the_keys_off_and_not_the_count(sort, capacity):
    keys = make_keys("uniform", NUM_ROWS, np.dtype(np.int32))
    assert_is_factorized(keys, sort=sort, capacity=capacity)


@pytest.mark.parametrize("sort", [True, False])
@pytest.mark.parametrize("num_rows", [0, 1, 2, 3, 63, 64, 65])
def test_edge_sizes(num_rows, sort):
    keys = make_keys("four_values", num_rows, np.dtype(np.float64))
    assert_is_factorized(keys, sort=sort)


@given(
    st.lists(st.sampled_from([0.0, -0.0, np.nan, -np.nan, np.inf, 1.5, -2.0]), max_size=12),
    st.booleans(),
)
def test_zeros_are_one_key_and_nans_another(values, sort):
    keys = np.zeros(12, np.float32)
    keys[: len(values)] = values
    actual = factorize(keys, sort=sort, num_valid=len(values))
    expected = oracles.factorize(keys, sort=sort, num_valid=len(values))
    oracles.assert_same_bits(tuple(actual), expected)


@pytest.mark.usefixtures("x64_off")
def test_without_x64():
    keys = (
        make_keys("four_values", NUM_ROWS, np.dtype(np.int32)),
        make_keys("two_valued", NUM_ROWS, np.dtype(np.float32)),
    )
    assert_is_factorized(keys)
    assert_is_factorized(keys[0], sort=False)


# Laws


def test_group_ids_lead_back_to_the_keys():
    keys = make_keys("zipf", NUM_ROWS, np.dtype(np.int64))
    groups = factorize(keys, sort=False)
    np.testing.assert_array_equal(groups.unique_keys[groups.group_ids], keys)


# Errors, word for word


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("keys", "settings", "error", "message"),
    [
        (
            np.array([1j]),
            {},
            TypeError,
            "factorize: keys must be of one of the dtypes bool, int8, int16, int32, int64, uint8, "
            "uint16, uint32, uint64, float16, bfloat16, float32 and float64, got complex128[1].",
        ),
        (
            (np.arange(3), np.arange(4)),
            {},
            ValueError,
            "factorize: keys must have the same length, got int64[3], int64[4].",
        ),
        (
            np.arange(3),
            {"capacity": -1},
            ValueError,
            "factorize: capacity must be in [0, 2147483647], got -1.",
        ),
        (
            np.arange(3),
            {"capacity": jnp.float32(2)},
            TypeError,
            "factorize: capacity must be a Python integer, got float32[].",
        ),
        (
            np.arange(3),
            {"num_valid": 4},
            ValueError,
            "factorize: num_valid must be in [0, 3], got 4.",
        ),
    ],
)
def test_errors(keys, settings, error, message):
    with pytest.raises(error) as caught:
        local.factorize(keys, **settings)
    assert str(caught.value) == message
