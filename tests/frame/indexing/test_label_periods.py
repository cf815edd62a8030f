# SPDX-License-Identifier: Apache-2.0
"""to_period and to_timestamp of row labels."""

import pandas as pd
import pytest
from frame_parity import EVERYWHERE, assert_parity, assert_same_error

DAYS = pd.to_datetime(["2024-01-31", "2024-02-01", "2024-12-31", "2024-02-29"]).rename("day")


def frame(labels):
    return pd.DataFrame({"x": range(len(labels)), "y": 0.5}, index=labels)


@pytest.mark.parametrize("freq", ["M", "Q", "Y", "D"])
def test_periods_of_times(freq):
    def periods(f):
        return f.to_period(freq), f.x.to_period(freq)

    assert_parity(periods, frame(DAYS), ways=EVERYWHERE)
    assert_parity(periods, frame(DAYS[:0]))


def test_periods_on_the_host():
    def periods(f):
        return f.to_period("W"), f.x.to_period("h"), f.to_period("Q-MAR")

    assert_parity(periods, frame(DAYS), ways=["eager", "mesh"])
    for freq in ("D", "ME", "h"):
        labels = pd.date_range("2024-01-01", periods=4, freq=freq)
        assert_parity(lambda f: (f.to_period(), f.x.to_period()), frame(labels), ways=["eager"])


@pytest.mark.parametrize("freq", ["M", "Q", "Y-JUN", "W", "D", "h"])
def test_times_of_periods(freq):
    def times(f):
        return (
            f.to_timestamp(), f.x.to_timestamp(how="end"), f.to_timestamp("D", "end"),
            f.to_timestamp().to_period(freq),
        )  # fmt: skip

    labels = pd.period_range("2024-01-31", periods=5, freq=freq, name="p")
    assert_parity(times, frame(labels), ways=["eager", "mesh"])
    assert_parity(times, frame(labels[[3, 0, 0]]), ways=["eager"])


def test_labels_of_columns():
    def relabelled(f):
        return f.to_period("M", axis=1), f.to_period("Q", axis=1).to_timestamp(axis=1)

    assert_parity(relabelled, frame(DAYS).T.astype(float), ways=["eager"])


def test_a_report_by_month():
    sales = frame(pd.date_range("2024-01-15", periods=60, freq="D"))
    assert_parity(
        lambda f: f.groupby(f.index.to_period("M")).sum().to_timestamp(), sales, ways=["eager"]
    )


def test_wrong_uses():
    for labels in (pd.RangeIndex(4), pd.Index(list("abcd"))):
        assert_same_error(lambda f: f.to_period("M"), frame(labels))
        assert_same_error(lambda f: f.x.to_timestamp(), frame(labels))
    assert_same_error(lambda f: f.to_timestamp(), frame(DAYS))
    assert_same_error(lambda f: f.to_period(), frame(DAYS))


MONTHS = pd.period_range("2023-11", periods=4, freq="M")


def test_periods_beside_the_strings_that_name_them():
    assert_parity(
        lambda s: (
            s == "2024-01", s != "2024-01-15", s > "2024", s >= "2024-01", s == "bogus",
            s.between("2023-12", "2024-01"),
        ),
        pd.Series([*MONTHS, pd.NaT], name="m"),
        ways=["eager", "jit", "mesh"],
    )  # fmt: skip
    assert_same_error(lambda s: s < "bogus", pd.Series(MONTHS))


def test_strings_select_times_and_periods():
    def selected(s):
        first, other = str(s.index[1]), str(s.index[0])
        return (
            s.loc[first], s.loc[[first, other]], s.drop(first), s.drop([first]),
            s.reindex([first, "2031-05"]), s.reindex([first, other], fill_value=0),
        )  # fmt: skip

    days = pd.date_range("2024-01-01", periods=4)
    for labels in (MONTHS, days, days.tz_localize("Europe/Berlin")):
        assert_parity(selected, pd.Series(range(4), labels), ways=["eager", "mesh"])
    by_month = pd.Series(range(4), MONTHS)
    assert_parity(
        lambda s: (s["2024"], s.loc["2023"], s.to_frame("v").loc["2024", "v"]),
        by_month,
        ways=["eager"],
    )
    for wrong in ("2025", ["2025-01"], ["bogus"]):
        assert_same_error(lambda s, key=wrong: s.loc[key], by_month)
