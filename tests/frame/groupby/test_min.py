# SPDX-License-Identifier: Apache-2.0
"""groupby.min."""

import numpy as np
import pandas as pd
from frame_examples import integers, mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_the_least_of_the_groups_is_that_of_the_column():
    frame = mixed_frame()[["k", "i", "x", "t", "d"]]
    least = JaxFrame(frame).groupby("k").min().to_pandas()
    pd.testing.assert_series_equal(least.min(), frame[["i", "x", "t", "d"]].min())


def test_min_count_and_skipna_of_each_type():
    def least(f):
        grouped = f.groupby("k")
        return (
            grouped.min(min_count=7),
            grouped[["s", "t", "d", "c"]].min(skipna=False),
            grouped.x.min(min_count=0),
        )

    assert_parity(least, mixed_frame()[["k", "x", "s", "c", "t", "d"]], ways=["eager"])


def test_narrow_integers_keep_their_dtype():
    frame = pd.DataFrame({"k": np.arange(37) % 6, "u": integers("uint16"), "h": integers("int16")})
    assert_parity(lambda f: f.groupby("k").min(), frame, ways=["jit"])


def test_infinity_is_a_value_and_missing_is_none():
    frame = pd.DataFrame({"k": [1, 1, 2, 3], "x": [np.inf, np.nan, -np.inf, np.nan]})
    for num_rows in (4, 1, 0):
        assert_parity(lambda f: f.groupby("k").x.min(), frame[:num_rows], ways=["eager"])


def test_categories_without_order_have_no_least():
    frame = mixed_frame()[["k", "c", "s"]].assign(c=lambda f: f.c.cat.as_unordered())
    assert "'c'" in assert_same_error(lambda f: f.groupby("k").c.min(), frame)
    assert_same_error(lambda f: f.groupby("k").s.min(numeric_only=True), frame)
    assert_same_error(lambda f: f.groupby("k").min(ddof=0), frame)
