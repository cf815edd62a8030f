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


@pytest.mark.parametrize("num_valid", [0, 9, 30])
def test_padding_is_in_no_run(num_valid):
    keys = np.repeat(np.int32([7, 2, 5]), 10)
    runs = local.run_length_encode(keys, capacity=4, num_valid=num_valid)
    lengths = [min(10, max(num_valid - start, 0)) for start in (0, 10, 20)]
    assert runs.run_lengths.tolist() == [*lengths, 0]
    assert runs.unique_keys.tolist() == [
        key * (n > 0) for key, n in zip((7, 2, 5, 0), [*lengths, 0], strict=True)
    ]
    assert runs.num_runs == sum(length > 0 for length in lengths)
