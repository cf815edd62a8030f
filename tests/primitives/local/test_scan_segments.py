# SPDX-License-Identifier: Apache-2.0
"""The checked arguments of scans: where segments restart, and initial values."""

import re

import jax.numpy as jnp
import numpy as np
import pytest
from jaxframes.primitives.contract._scan_operators import Scan
from jaxframes.primitives.local._scan_segments import (
    as_scan,
    as_segments,
    put_initial_first,
    scan_segments,
)

IDS = np.array([4, 4, 1, 1, 1, 9], np.int32)
HEADS = np.array([True, False, True, False, False, True])


def test_both_encodings_restart_at_the_same_rows():
    by_ids, by_heads = (as_segments(*e, 6, "scan") for e in ((None, IDS), (HEADS, None)))
    for reverse, expected in ((False, HEADS), (True, np.roll(HEADS, -1))):
        np.testing.assert_array_equal(by_heads.heads_inside(reverse), expected)
        # The first row of a scan is no restart, whatever it says.
        inside = slice(None, -1) if reverse else slice(1, None)
        of_ids = np.asarray(by_ids.heads_inside(reverse))
        np.testing.assert_array_equal(of_ids[inside], expected[inside])


@pytest.mark.parametrize("reverse", [False, True])
def test_initial_values_start_each_segment(reverse):
    rows, scan = np.array([1, 2, 3, 4, 5, 6], np.int64), Scan("add", reverse, True)
    arguments = as_scan(jnp.asarray(rows), scan, 100, 5, "scan")
    found = scan_segments(arguments, as_segments(HEADS, None, 6, "scan"))
    expected = np.zeros(6, np.int64)
    for segment in ([0, 1], [2, 3, 4]):
        own = segment[::-1] if reverse else segment
        expected[own] = 100 + np.cumsum([0, *rows[own][:-1]])
    np.testing.assert_array_equal(found, expected)


def test_padding_gets_no_initial_value():
    scan = Scan("max", False, True)
    found = put_initial_first(jnp.int32(3), jnp.array([1, 5, 0], jnp.int32), jnp.int32(2), scan)
    assert found.tolist() == [3, 5, 0]


@pytest.mark.checks_arguments
@pytest.mark.parametrize(
    ("encoding", "error", "message"),
    [
        ((None, None), ValueError, "given by head_flags or by segment_ids, got neither."),
        ((HEADS, IDS), ValueError, "given by head_flags or by segment_ids, got both."),
        ((IDS, None), TypeError, "head_flags must be bool, got int32[6]. Pass segment_ids"),
        ((None, HEADS), TypeError, "segment_ids must be integers, got bool[6]."),
        ((None, IDS[:5]), ValueError, "segment_ids must have one entry for each of the 6 rows"),
    ],
)
def test_errors(encoding, error, message):
    with pytest.raises(error, match=re.escape(message)):
        as_segments(*encoding, 6, "scan")
