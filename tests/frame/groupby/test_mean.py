# SPDX-License-Identifier: Apache-2.0
"""groupby.mean."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def quarters():
    # The sums are exact in every order, so each mean is rounded once.
    frame = mixed_frame()
    return frame.assign(x=(frame.i / 4).where(frame.x.notna()))


def test_means_weighted_with_counts_make_up_the_sum():
    frame = quarters()[["k", "x"]].assign(k=lambda f: f.k % 2)
    frame = pd.concat([frame] * 2)[:64]
    frame["k"] = np.arange(64) % 4
    grouped = JaxFrame(frame.fillna(0.5)).groupby("k").x
    # 16 rows of a group divide exactly.
    assert (grouped.mean() * 16).tolist() == grouped.sum().tolist()


def test_integers_and_bools_have_means_of_float64():
    def means(f):
        grouped = f.groupby("k")
        return grouped[["i", "x", "b"]].mean(), grouped.i.mean(), grouped.b.mean(skipna=False)

    assert_parity(means, quarters(), ways=["jit"])
    small = pd.DataFrame({"k": [1, 1, 2], "u": np.array([255, 254, 0], np.uint8)})
    assert JaxFrame(small).groupby("k").u.mean().tolist() == [254.5, 0.0]


def test_one_missing_value_or_opposite_infinities():
    frame = pd.DataFrame(
        {"k": [1, 1, 2, 2, 3, 3], "x": [np.inf, -np.inf, np.nan, 2.0, np.nan, np.nan]}
    )
    assert_parity(
        lambda f: (f.groupby("k").mean(), f.groupby("k").mean(skipna=False)), frame, ways=["eager"]
    )
    for num_rows in (0, 1):
        assert_parity(lambda f: f.groupby("k").mean(), frame[:num_rows], ways=["eager"])


def test_numeric_only_leaves_columns_out():
    frame = quarters()[["s", "c", "x"]]
    assert_parity(lambda f: f.groupby("s").mean(numeric_only=True), frame, ways=["eager"])
    frame = quarters()[["k", "s", "x"]]
    assert "'s'" in assert_same_error(lambda f: f.groupby("k").mean(), frame)
    assert_same_error(lambda f: f.groupby("k").s.mean(numeric_only=True), frame)
    assert_same_error(lambda f: f.groupby("k").mean(numeric_only="x"), frame)
