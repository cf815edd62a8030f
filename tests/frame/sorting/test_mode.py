# SPDX-License-Identifier: Apache-2.0
"""mode."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def votes():
    return pd.DataFrame(
        {
            "i": [3, 1, 3, 1, 2],
            "x": [np.nan, 0.5, np.nan, 0.5, np.nan],
            "s": ["b", "a", "c", None, None],
        }
    )


def test_values_that_are_as_frequent_come_in_order():
    assert_parity(
        lambda f: (f.i.mode(), f.x.mode(), f.s.mode(), f.x.mode(dropna=False), f.s.mode(False)),
        votes(),
        ways=["eager"],
    )


def test_columns_of_fewer_modes_are_filled_up_with_missing_values():
    assert_parity(
        lambda f: (f.mode(), f.mode(dropna=False), f.mode(numeric_only=True), f[:1].mode()),
        votes(),
        ways=["eager"],
    )
    assert_parity(lambda f: (f[:0].i.mode(), f[:1].x.mode()), votes(), ways=["eager"])


def test_no_value_occurs_more_often():
    ours = on_device(mixed_frame())
    counts = ours.k.value_counts()
    modes = ours.k.mode()
    assert bool(modes.isin(counts[counts == counts.max()].index.tolist()).all())
    assert modes.tolist() == modes.mode().tolist()


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda f: f.mode(axis=2), frame)
    assert_same_error(lambda f: f.k.mode(numeric_only=True), frame)


def test_modes():
    frame = mixed_frame()
    for label in ("k", "s", "y"):
        assert_parity(lambda s: (s.mode(), s.mode(dropna=False)), frame[label], ways=["eager"])
    assert_parity(lambda f: f.mode(), frame[["k", "s"]], ways=["eager"])


def test_missing_times_and_categories_come_first():
    times = pd.Series(pd.to_datetime(["2021-01-02", "2020-01-01", None]))
    categories = pd.Series(["b", None, "a"], dtype="category")
    spans = times - times[1]
    for values in (times, spans, categories):
        assert_parity(lambda s: s.mode(dropna=False), values, ways=["eager"])
