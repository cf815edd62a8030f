# SPDX-License-Identifier: Apache-2.0
"""Adjacent equal keys and their numbers, against NumPy."""

import numpy as np
import pytest
from jaxframes.primitives import local


@pytest.mark.parametrize("num_rows", [0, 1, 37])
def test_runs_repeat_to_the_rows(num_rows):
    keys = np.random.default_rng(2).integers(0, 3, num_rows).astype(np.int32)
    runs = local.run_length_encode(keys, capacity=num_rows + 1)
    count = int(runs.num_runs)
    lengths, unique = np.asarray(runs.run_lengths)[:count], np.asarray(runs.unique_keys)[:count]
    np.testing.assert_array_equal(np.repeat(unique, lengths), keys)
    assert not (unique[1:] == unique[:-1]).any()
