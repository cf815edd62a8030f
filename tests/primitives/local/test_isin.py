# SPDX-License-Identifier: Apache-2.0
"""Rows whose key is among others, against NumPy."""

import numpy as np
import pytest
from jaxframes.primitives import local


@pytest.mark.parametrize("dtype", [np.int8, np.uint32, np.float32])
def test_members_are_those_of_numpy(dtype):
    rng = np.random.default_rng(1)
    keys, others = (rng.integers(0, 9, size).astype(dtype) for size in (40, 5))
    np.testing.assert_array_equal(local.isin(keys, others), np.isin(keys, others))
    found = local.isin(keys, others, invert=True)
    np.testing.assert_array_equal(found, np.isin(keys, others, invert=True))


def test_only_valid_rows_count():
    keys = np.array([1, 2, 3, 4], np.int32)
    found = local.isin(keys, keys, num_valid=(4, 2))
    np.testing.assert_array_equal(found, [True, True, False, False])
