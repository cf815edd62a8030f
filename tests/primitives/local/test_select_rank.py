# SPDX-License-Identifier: Apache-2.0
"""Order statistics of one device's rows, against NumPy."""

import numpy as np
from jaxframes.primitives import local


def test_ranks_are_positions_of_the_sorted_rows():
    keys = np.random.default_rng(4).normal(size=33).astype(np.float32)
    ranks = np.array([0, 5, 32], np.int32)
    np.testing.assert_array_equal(local.select_rank(keys, ranks), np.sort(keys)[ranks])
