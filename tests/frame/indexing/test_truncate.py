# SPDX-License-Identifier: Apache-2.0
"""truncate and reorder_levels."""

import pandas as pd
import pytest
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


@pytest.mark.filterwarnings("ignore:.*quarterly string:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:.*quarterly string:FutureWarning")
def test_strings_among_periods_are_single_times():
    quarters = FRAME[:8].set_axis(pd.period_range("2000Q1", periods=8, freq="Q-FEB"), axis=0)
    hours = FRAME[:8].set_axis(pd.period_range("2000-01-01", periods=8, freq="h"), axis=0)
    assert_parity(
        lambda q, h: (
            q.truncate("2000Q1", "2000Q3"),
            q[::-1].truncate("2000Q1", "2000Q3"),
            q.truncate(pd.Timestamp("2000-05-01"), "2000-11"),
            h.truncate("2000-01-01", "2000-01-01"),
            h.truncate("2000-01-01 03:30"),
        ),
        quarters,
        hours,
        ways=["eager"],
    )
    assert_same_error(lambda h: h.truncate("2000-01-01", "1999"), hours)


def test_strings_among_objects_that_are_times():
    times = pd.Index([pd.Timestamp(f"202{n}").to_pydatetime() for n in range(3)], dtype=object)
    dated = FRAME[:3].set_axis(times, axis=0)
    assert_parity(lambda f: f.truncate("2021"), dated, ways=["eager"])
