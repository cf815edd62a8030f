# SPDX-License-Identifier: Apache-2.0
"""dropna."""

import numpy as np
import pandas as pd
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["x", "s", "t", "k"]]


def test_rows_that_are_left_have_no_holes():
    left = on_device(FRAME).dropna()
    assert not left.to_pandas().isna().any(axis=None)
    assert_same(left.dropna(), FRAME.dropna())


def test_thresholds_count_the_values_of_a_row():
    def dropped(f):
        return tuple(f.dropna(thresh=thresh) for thresh in (0, 3, 4, 5))

    assert_parity(dropped, FRAME, ways=["eager"])
    assert_parity(lambda f: f.dropna(thresh=2, subset=["x", "s", "t"]), FRAME, ways=["jit"])


def test_subsets_are_of_columns_or_of_rows():
    def dropped(f):
        return (
            f.dropna(subset="x"), f.dropna(subset=["x", "t"], how="all"), f.dropna(subset=[]),
            f.dropna(subset=["k"], ignore_index=True), f.dropna(axis="columns", how="any"),
        )  # fmt: skip

    assert_parity(dropped, FRAME, ways=["eager"])


def test_series_keep_their_labels_unless_told_otherwise():
    series = floats().set_axis(np.arange(37) * 10)
    assert_parity(lambda s: (s.dropna(), s.dropna(ignore_index=True)), series, ways=["eager"])


def test_rows_without_values_and_few_rows():
    none = pd.DataFrame({"x": [np.nan, np.nan], "y": [np.nan, 1.0]})
    for frame in (none, none[:1], none[:0], none[["x"]]):
        assert_parity(lambda f: (f.dropna(), f.dropna(how="all")), frame, ways=["eager"])


def test_wrong_arguments():
    assert_same_error(lambda f: f.dropna(how=None), FRAME)
    assert_same_error(lambda f: f.dropna(axis=(0, 1)), FRAME)
    assert_same_error(lambda f: f.dropna(subset=["x", "q"], how="all"), FRAME)
    assert_same_error(lambda s: s.dropna(axis=1), FRAME["x"])


def test_columns_of_a_frame_without_rows_or_columns():
    assert_parity(
        lambda f: (
            f[:0].dropna(axis=1, how="all"),
            f[:0].dropna(axis=1),
            f[[]].reset_index(drop=True).dropna(axis=1),
        ),
        FRAME,
        ways=["eager"],
    )
