# SPDX-License-Identifier: Apache-2.0
"""Runs of equal keys among the valid rows, sorted or not, against NumPy."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.local._runs import find_runs

KEYS = np.random.default_rng(5).integers(0, 4, 23).astype(np.int32)


def expected_runs(keys):
    """The key and the rows of each run."""
    return [(key, len(list(rows))) for key, rows in itertools.groupby(keys.tolist())]


@pytest.mark.parametrize("num_valid", [0, 1, 17, 23])
@pytest.mark.parametrize("is_sorted", [False, True])
def test_runs_are_those_of_the_valid_rows(num_valid, is_sorted):
    valid = KEYS[:num_valid]
    order = np.arange(num_valid) if is_sorted else np.argsort(valid, kind="stable")
    expected = expected_runs(valid[order])
    runs = find_runs((jnp.asarray(KEYS),), jnp.int32(num_valid), is_sorted)
    segment_ids = np.repeat(np.arange(len(expected)), [length for _, length in expected])
    np.testing.assert_array_equal(np.asarray(runs.segment_ids)[:num_valid], segment_ids)
    assert (np.asarray(runs.segment_ids)[num_valid:] == -1).all()
    assert int(runs.is_head.sum()) == len(expected)
    # One run fewer than there are, all of them, and room for more.
    for capacity in (max(len(expected) - 1, 0), len(expected), len(expected) + 2):
        padded = [*expected, (0, 0), (0, 0)][:capacity]
        (firsts,), num_runs = runs.first_rows((jnp.asarray(KEYS),), capacity)
        assert firsts.tolist() == [key for key, _ in padded]
        assert runs.lengths(capacity).tolist() == [length for _, length in padded]
        assert num_runs == len(expected)


def test_values_of_sorted_rows_return_to_their_rows():
    runs = find_runs((jnp.asarray(KEYS),), jnp.int32(20), False)
    back = np.asarray(runs.of_rows(runs.segment_ids))
    _, codes = np.unique(KEYS[:20], return_inverse=True)
    np.testing.assert_array_equal(back[:20], codes)
