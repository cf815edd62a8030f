# SPDX-License-Identifier: Apache-2.0
"""The frequency of an index of times."""

import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import concat, from_pandas

FRAME = pd.DataFrame({"a": range(6)}, pd.date_range("2000", periods=6))

KEPT = {
    "operators": lambda f: f + 1,
    "head": lambda f: f.head(2),
    "head(0)": lambda f: f.head(0),
    "iloc": lambda f: f.iloc[::2],
    "reversed": lambda f: f.iloc[::-1],
    "loc": lambda f: f.loc["2000-01-02":"2000-01-04"],
    "list": lambda f: f.loc[[f.index[1], f.index[2]]],
    "mask": lambda f: f[f.a > 2],
    "every second": lambda f: f[f.a % 2 == 0],
    "irregular": lambda f: f[f.a % 3 == 0].iloc[[0, 1, 1]],
    "drop at an end": lambda f: f.drop(f.index[0]),
    "drop within": lambda f: f.drop(f.index[2]),
    "sort_values": lambda f: f.sort_values("a", ascending=False),
    "reindex": lambda f: f.reindex(f.index[[0, 2]]),
    "resample": lambda f: f.resample("2D").sum(),
    "months": lambda f: f.resample("ME").a.mean(),
    "asfreq": lambda f: f.asfreq("12h"),
    "rolling": lambda f: f.rolling(2).sum(),
    "shift": lambda f: f.shift(1),
    "zone": lambda f: f.tz_localize("Europe/Berlin"),
    "zone and another": lambda f: f.tz_localize("UTC").tz_convert("Europe/Berlin"),
    "hours of a zone": lambda f: f.asfreq("h").tz_localize("UTC").tz_convert("Europe/Berlin"),
    "hours of clocks": lambda f: f.asfreq("h").tz_localize("Europe/Berlin"),
    "sum of overlapping rows": lambda f: f.head(4) + f.tail(4),
    "sum of rows that follow": lambda f: f.head(3) + f.tail(3),
    "sum of rows apart": lambda f: f.head(2) + f.tail(2),
    "outer join": lambda f: f.head(4).join(f.tail(4).add_prefix("b"), how="outer"),
    "inner join": lambda f: f.head(4).join(f.tail(4).add_prefix("b"), how="inner"),
    "left join": lambda f: f.head(4).join(f.tail(4).add_prefix("b")),
    "combine_first": lambda f: f.head(4).combine_first(f.tail(4)),
    "shift of times": lambda f: f.shift(2, freq="D"),
    "shift of times of a zone": lambda f: f.tz_localize("Europe/Berlin").shift(2, freq="D"),
    "hours of UTC": lambda f: f.asfreq("h").tz_localize("UTC").tz_localize(None),
}


@pytest.mark.parametrize("way", KEPT.values(), ids=KEPT)
def test_it_is_that_of_pandas(way):
    assert way(from_pandas(FRAME)).index.freq == way(FRAME).index.freq


@pytest.mark.parametrize("axis", [0, 1])
def test_labels_that_are_concatenated_keep_theirs(axis):
    for parts in ((FRAME[:3], FRAME[3:]), (FRAME[:2], FRAME[4:])):
        expected = pd.concat(parts, axis=axis).index.freq
        assert concat([from_pandas(part) for part in parts], axis=axis).index.freq == expected


def test_labels_of_two_zones_are_in_utc():
    left, right = (FRAME.tz_localize(zone) for zone in ("Europe/Berlin", "Asia/Tokyo"))
    expected = pd.concat([left, right], axis=1, sort=True)
    assert_same(concat([from_pandas(left), from_pandas(right)], axis=1), expected)
    assert_same(from_pandas(left) + from_pandas(right), left + right)


def test_timedeltas_have_one():
    frame = FRAME.set_axis(pd.timedelta_range("1h", periods=6, freq="90min"))
    assert from_pandas(frame).iloc[1::2].index.freq == frame.iloc[1::2].index.freq


def test_missing_times_have_none():
    assert from_pandas(FRAME).iloc[:1].reindex([pd.NaT, FRAME.index[0]]).index.freq is None


def test_labels_that_are_set():
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0]})
    for labels in (pd.date_range("2024", periods=3, freq="2h", tz="Asia/Tokyo"), FRAME.index[:3]):
        expected = frame.set_index(labels)
        found = from_pandas(frame).set_index(labels).to_pandas()
        pd.testing.assert_frame_equal(found, expected, check_freq=True)


def test_it_is_set_in_place():
    times = pd.date_range("2024", periods=3)
    for index, freq in ((times, None), (pd.DatetimeIndex(times.tolist()), "D"), (times, "24h")):
        series = pd.Series([1.0, 2.0, 3.0], index=index.copy())
        ours = from_pandas(series)
        for each in (series, ours):
            each.index.freq = freq
        assert ours.index.freq == series.index.freq
        pd.testing.assert_series_equal(ours.to_pandas(), series, check_freq=True)
        pd.testing.assert_series_equal((ours + 1).to_pandas(), series + 1, check_freq=True)
        assert ours.iloc[1:].index.freq == series.iloc[1:].index.freq
