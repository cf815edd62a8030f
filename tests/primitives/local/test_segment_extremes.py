# SPDX-License-Identifier: Apache-2.0
"""Words in the order of numbers, and the first and last row of each segment, against NumPy."""

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._segment_extremes import (
    INT32_MAX,
    end_rows,
    extreme_words,
    rows_of_words,
)


@pytest.mark.parametrize("is_last", [False, True])
def test_ends_are_those_of_numpy(is_last):
    ids = np.random.default_rng(9).integers(0, 4, 25).astype(np.int32)
    rows = [np.flatnonzero(ids == one) for one in range(6)]
    none = -1 if is_last else INT32_MAX
    expected = [own[-1 if is_last else 0] if len(own) else none for own in rows]
    np.testing.assert_array_equal(end_rows(jnp.asarray(ids), 6, is_last), expected)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("is_max", [False, True])
def test_words_of_floats_are_in_their_order_and_nan_wins(dtype, is_max):
    rows = np.array([3, -0.0, np.inf, -2.5, -np.inf, 0.0, 1e-7, -np.nan, np.nan], dtype)
    words = np.asarray(extreme_words(jnp.asarray(rows), is_max))
    numbers = np.argsort(words[:-2], kind="stable")
    np.testing.assert_array_equal(rows[numbers], np.sort(rows[:-2]))
    best, loser = (max, words[:-2].max()) if is_max else (min, words[:-2].min())
    assert words[-1] == words[-2] == best(words[-1], loser) != loser
    np.testing.assert_array_equal(rows_of_words(jnp.asarray(words), dtype, is_max), rows)
