# SPDX-License-Identifier: Apache-2.0
"""groupby.median."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_it_is_the_quantile_of_a_half():
    grouped = JaxFrame(mixed_frame()[["k", "i", "x"]]).groupby("k")
    halves = grouped.quantile(0.5).to_pandas()
    pd.testing.assert_frame_equal(grouped.median().to_pandas(), halves, rtol=1e-15)


def test_even_and_odd_counts_one_value_and_none():
    frame = pd.DataFrame(
        {"k": [1, 1, 1, 2, 2, 3, 4], "x": [9.0, 1, 2, 5, 4, 7, np.nan], "i": range(7)}
    )
    assert_parity(lambda f: f.groupby("k").median(), frame, ways=["jit"])
    for num_rows in (0, 1):
        assert_parity(lambda f: f.groupby("k").median(), frame[:num_rows], ways=["eager"])


def test_skipna_and_other_types():
    def medians(f):
        grouped = f.groupby("k")
        return grouped[["x", "d"]].median(skipna=False), grouped[["b", "f"]].median()

    assert_parity(medians, mixed_frame()[["k", "x", "d", "b", "f"]], ways=["eager"])


def test_strings_have_no_middle():
    frame = mixed_frame()[["k", "s"]]
    assert "'s'" in assert_same_error(lambda f: f.groupby("k").median(), frame)
    assert_same_error(lambda f: f.groupby("k").s.median(numeric_only=True), frame)
