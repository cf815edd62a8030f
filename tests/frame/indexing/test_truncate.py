# SPDX-License-Identifier: Apache-2.0
"""truncate and reorder_levels."""

import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error

FRAME = mixed_frame()[["k", "x", "b"]]


def test_rows_between_two_labels():
    assert_parity(
        lambda f: (
            f.truncate(3, 7),
            f.x.truncate(after=2),
            f[::-1].truncate(3, 7),
            f.truncate(),
            f[:0].truncate(1),
        ),
        FRAME,
        ways=["eager"],
    )


def test_strings_are_single_times():
    for unit in ("s", "ns"):
        days = pd.DatetimeIndex(["2020-01-01", "2020-01-20", "2020-02-01"], dtype=f"M8[{unit}]")
        dated = FRAME[:3].set_axis(days, axis=0)
        assert_parity(
            lambda f: (
                f.truncate(after="2020-01"),
                f.truncate("2020-01-20"),
                f[::-1].truncate("2020-02"),
            ),
            dated,
            ways=["eager"],
        )
    far = FRAME[:2].set_axis(pd.DatetimeIndex(["2020", "9999-12-31"], dtype="M8[s]"), axis=0)
    assert_parity(lambda f: f.truncate("9999-12-31"), far, ways=["eager"])


def test_levels():
    assert_parity(
        lambda f: (
            f.set_index(["k", "b"]).reorder_levels(["b", "k"]),
            f.set_index(["k", "b"]).x.reorder_levels([1, 0]),
            f.groupby("k").agg({"x": ["count", "max"]}).reorder_levels([1, 0], axis=1),
        ),
        FRAME,
        ways=["eager"],
    )


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda f: f.truncate(7, 3), FRAME)
    assert_same_error(lambda f: f.set_index("k").truncate(1, 2), FRAME)
    assert_same_error(lambda f: f.set_index(["k", "b"]).reorder_levels(["b"]), FRAME)


def test_one_label_in_all_rows():
    series = pd.Series(range(3), pd.DatetimeIndex(["2021-06-30"] * 3).as_unit("us"))
    assert_parity(
        lambda s: (s.truncate("2021-06-28", "2021-07-01"), s.truncate(after="2021-06-29")),
        series,
        ways=["eager"],
    )
