# SPDX-License-Identifier: Apache-2.0
"""groupby.tail."""

import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_it_is_the_head_of_the_rows_in_reverse():
    frame = mixed_frame()[["k", "i"]]
    head = JaxFrame(frame[::-1]).groupby("k").head(2).to_pandas()[::-1]
    pd.testing.assert_frame_equal(JaxFrame(frame).groupby("k").tail(2).to_pandas(), head)


def test_numbers_beyond_the_groups_and_the_default_of_five():
    def tails(f):
        grouped = f.groupby("s", sort=False)
        return grouped.tail(), grouped.tail(-100), grouped.tail(100), grouped[["x"]].tail(0)

    frame = mixed_frame()[["s", "x"]]
    for num_rows in (37, 1, 0):
        assert_parity(tails, frame[:num_rows], ways=["eager"])


def test_categories_without_rows_give_none():
    frame = mixed_frame()[["c", "x"]]
    assert_parity(lambda f: f.groupby("c", observed=False).tail(1), frame, ways=["jit"])


def test_a_number_is_wanted():
    assert_same_error(lambda f: f.groupby("k").tail("a"), mixed_frame()[["k", "x"]])
