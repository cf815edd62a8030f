# SPDX-License-Identifier: Apache-2.0
"""count."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_every_kind_of_missing_value_is_left_out():
    frame = pd.DataFrame(
        {
            "x": [np.nan, np.inf, 0.0],
            "s": ["", None, "b"],
            "c": pd.Categorical(["u", None, None]),
            "t": pd.to_datetime([None, None, "2020-01-01"]),
            "o": pd.Series([[1], None, np.nan], dtype=object),
        }
    )
    assert_parity(
        lambda f: (f.count(), f.count(axis=1), f.count(axis="columns", numeric_only=True)), frame
    )
    assert_parity(lambda f: (f.s.count(), f.c[1:].count(), f[:0].count()), frame, ways=["eager"])


def test_with_the_missing_ones_makes_up_all_rows():
    ours = on_device(mixed_frame())
    present, missing = ours.count(), ours.isna().sum()
    assert (present + missing).tolist() == [len(ours)] * ours.shape[1]
    assert ours.count(axis=1).sum() == present.sum()
    assert ours.dropna().count().tolist() == [len(ours.dropna())] * ours.shape[1]


def test_numbers_only_are_counted_beside_others():
    assert_parity(lambda f: f.count(numeric_only=True), mixed_frame(), ways=["eager"])
    assert_parity(lambda f: f.count(numeric_only=True), mixed_frame()[["s"]], ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda f: f.count(axis=2), frame)
    assert_same_error(lambda f: f.count(skipna=True), frame)
    assert_same_error(lambda f: f.k.count(0), frame)
