# SPDX-License-Identifier: Apache-2.0
"""groupby.first."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_columns_may_take_their_values_from_different_rows():
    frame = pd.DataFrame(
        {"k": [2, 2, 1], "x": [np.nan, 3.0, np.nan], "s": pd.array(["a", "b", None], "str")}
    )
    assert_parity(
        lambda f: (f.groupby("k").first(), f.groupby("k").first(skipna=False)), frame, ways=["jit"]
    )
    for num_rows in (0, 1):
        assert_parity(lambda f: f.groupby("k").first(), frame[:num_rows], ways=["eager"])


def test_with_missing_values_it_is_the_row_of_nth_zero():
    frame = mixed_frame()[["k", "x", "s", "t"]]
    grouped = JaxFrame(frame).groupby("k")
    row = grouped.nth(0).to_pandas().set_index("k").sort_index()
    pd.testing.assert_frame_equal(grouped.first(skipna=False).to_pandas(), row)


def test_min_count_is_of_values():
    def first(f):
        return f.groupby("k").first(min_count=7), f.groupby("k").first(numeric_only=True)

    assert_parity(first, mixed_frame()[["k", "x", "s", "t"]], ways=["eager"])


def test_objects_that_stand_for_none_are_passed_over():
    objects = pd.Series([None, [1], np.nan, {}, [2]], dtype=object)
    frame = pd.DataFrame({"k": [1, 1, 2, 1, 2], "o": objects})
    assert_parity(
        lambda f: (f.groupby("k").first(), f.groupby("k").first(skipna=False)),
        frame,
        ways=["eager"],
    )


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda f: f.groupby("k").s.first(numeric_only=True), frame)
    assert_same_error(lambda f: f.groupby("k").first(numeric_only="x"), frame)
    assert_same_error(lambda f: f.groupby("k").first(dropna=True), frame)
