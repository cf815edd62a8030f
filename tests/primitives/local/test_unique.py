# SPDX-License-Identifier: Apache-2.0
"""Distinct keys, against NumPy."""

import numpy as np
import pytest
from jaxframes.primitives import local


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float32])
def test_keys_and_counts_are_those_of_numpy(dtype):
    keys = np.random.default_rng(3).integers(0, 7, 41).astype(dtype)
    found = local.unique(keys, return_inverse=True, return_counts=True)
    expected, counts = np.unique(keys, return_counts=True)
    assert found.count == len(expected)
    np.testing.assert_array_equal(found.unique_keys[: len(expected)], expected)
    assert found.counts is not None
    np.testing.assert_array_equal(found.counts[: len(expected)], counts)
    np.testing.assert_array_equal(found.unique_keys[found.inverse], keys)
