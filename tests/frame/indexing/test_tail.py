# SPDX-License-Identifier: Apache-2.0
"""tail."""

import numpy as np
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame()[["k", "s"]]


def test_it_is_head_of_the_rows_in_reverse():
    def ends(f):
        return f.tail(4), f[::-1].head(4)[::-1], f.tail(0), f.tail(37), f.tail(99), f.tail(-99)

    assert_parity(ends, FRAME, ways=["eager"])


def test_it_counts_from_the_last_row_that_counts():
    # Inside jit the capacity exceeds the number of rows.
    assert_parity(lambda f: (f[f.k > 1].tail(3), f.head(9).tail(2), f.tail(-30)), FRAME,
                  ways=["jit"])  # fmt: skip


def test_few_rows_and_labels():
    frame = FRAME.set_axis(np.arange(37)[::-1] * 2)
    for num_rows in (0, 1, 37):
        assert_parity(lambda f: (f.tail(1), f.s.tail(-1)), frame[:num_rows], ways=["eager"])


@pytest.mark.checks_arguments
def test_n_must_be_an_integer():
    assert_same_error(lambda f: f.tail("a"), FRAME)
    assert_same_error(lambda s: s.tail(None), FRAME["k"])
