# SPDX-License-Identifier: Apache-2.0
"""`local.repeat_rows` against NumPy."""

import jax.numpy as jnp
import numpy as np
import oracles
import pytest
from jaxframes.primitives import local
from jaxframes.primitives.contract._platform import traced_for


@pytest.mark.parametrize("num_rows", [0, 1, 31, 33])
@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.uint32, np.int64])
def test_matches_the_oracle(num_rows, dtype):
    rng = np.random.default_rng(num_rows)
    for most in (1, 2, 9):
        repeats = rng.integers(0, most, num_rows).astype(dtype)
        for capacity in (0, 1, int(repeats.sum()), 300):
            for valid in (None, num_rows // 2):
                actual = local.repeat_rows(repeats, capacity=capacity, num_valid=valid)
                expected = oracles.repeat_rows(repeats, capacity, valid)
                oracles.assert_same_bits(tuple(actual), expected)


def test_shifts_repeat_rows_on_tpu():
    repeats = np.random.default_rng(1).integers(0, 4, 60).astype(np.int32)
    for capacity, valid in ((0, None), (1, None), (90, 33), (300, None)):
        with traced_for("tpu"):
            actual = local.repeat_rows(repeats, capacity=capacity, num_valid=valid)
        oracles.assert_same_bits(tuple(actual), oracles.repeat_rows(repeats, capacity, valid))
    with traced_for("tpu"):
        assert int(local.repeat_rows(np.full(4, 2**30), capacity=2).count) == 2**31 - 1


def test_negative_numbers_count_as_zero():
    repeats = np.array([2, -3, 1], np.int32)
    actual = local.repeat_rows(repeats, capacity=4)
    oracles.assert_same_bits(tuple(actual), oracles.repeat_rows(repeats, 4))
    # In 32 bits this one is 7.
    actual = local.repeat_rows(np.array([2, 7 - 2**32, 1]), capacity=4)
    oracles.assert_same_bits(tuple(actual), oracles.repeat_rows(repeats, 4))


def test_a_count_past_2_31_saturates():
    assert int(local.repeat_rows(np.full(4, 2**30), capacity=2).count) == 2**31 - 1
    assert int(local.repeat_rows(np.array([2**40, 1]), capacity=2).count) == 2**31 - 1


def test_names_what_is_wrong():
    with pytest.raises(TypeError, match="repeat_rows: repeats must be integers, got float64"):
        local.repeat_rows(jnp.zeros(3), capacity=2)
    with pytest.raises(ValueError, match="repeat_rows: repeats must be one-dimensional"):
        local.repeat_rows(np.zeros((3, 2), np.int32), capacity=2)
    with pytest.raises(ValueError, match="repeat_rows: capacity"):
        local.repeat_rows(np.zeros(3, np.int32), capacity=-1)
