# SPDX-License-Identifier: Apache-2.0
"""groupby.resample."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def timed(num_rows=37):
    minutes = np.random.default_rng(0).integers(0, 60 * 24 * 60, num_rows)
    times = pd.to_datetime("2024-01-30") + pd.to_timedelta(minutes, unit="min")
    frame = mixed_frame(num_rows)[["k", "x", "i", "s", "b"]]
    return frame.set_axis(times.as_unit("us"), axis=0).rename_axis("time")


def test_bins_with_and_without_rows():
    frame = timed()[["k", "x", "i"]]
    assert_parity(
        lambda f: (
            f.groupby("k").resample("W").sum(),
            f.groupby("k").resample("W").mean(),
            f.groupby("k").resample("W").i.min(),
            f.groupby("k")[["x"]].resample("W").std(),
            f.groupby("k").i.resample("W").count(),
            f.groupby("k").resample("W").size(),
            f.groupby("k").x.resample("W").size(),
            f.groupby("k").resample("W").nunique(),
            f.groupby("k").resample("W")[["i", "x"]].median(),
        ),
        frame,
        ways=["eager"],
        ulps=64,
    )
    assert_parity(lambda f: f.groupby("k").resample("W").sum(), frame, ways=["mesh"], ulps=8)


@pytest.mark.parametrize("rule", ["D", "ME", "MS", "2h", "QE", "W-WED"])
def test_rules(rule):
    assert_parity(
        lambda f: (
            f.groupby("k").i.resample(rule).sum(),
            f.groupby("k").i.resample(rule, closed="left", label="right").sum(),
            f.groupby("k").i.resample(rule, closed="right", label="left").sum(),
        ),
        timed(),
        ways=["eager"],
    )


@pytest.mark.parametrize("rule", ["7h", "2D", "3D", "2W", "2ME", "2MS", "3QS", "B", "100min"])
@pytest.mark.parametrize("closed", [None, "left", "right"])
def test_bins_that_depend_on_the_first_time_of_a_group(rule, closed):
    assert_parity(
        lambda f: (
            f.groupby("k").resample(rule, closed=closed).i.sum(),
            f.groupby("k").i.resample(rule, closed=closed, label="right").agg(["max", "size"]),
            f.groupby("k")[["x", "s"]].resample(rule, closed=closed, label="left").first(),
            f[:1].groupby("k").resample(rule, closed=closed).i.sum(),
        ),
        timed(),
        ways=["eager"],
    )
    on = {"closed": closed, "on": "time"}
    assert_parity(
        lambda f: f.reset_index().groupby("k").resample(rule, **on).i.sum(),
        timed(),
        ways=["eager", "mesh"],
    )


@pytest.mark.parametrize("rule", ["2D", "7h", "D", "90min"])
@pytest.mark.parametrize("origin", ["start", "end", "end_day", "epoch", pd.Timestamp("2020-01-01")])
def test_origins_of_the_bins_of_a_group(rule, origin):
    assert_parity(
        lambda f: (
            f.groupby("k").i.resample(rule, origin=origin).sum(),
            f.groupby(["k", "b"]).i.resample(rule, origin=origin).count(),
        ),
        timed(),
        ways=["eager"],
    )
    assert_parity(
        lambda f: f.groupby("k").i.resample(rule, offset="1h").sum(), timed(), ways=["eager"]
    )


def test_bins_of_times_of_a_zone_of_timedeltas_and_of_missing_times():
    frame = timed()[["k", "i"]].reset_index()
    zoned = frame.assign(time=frame.time.dt.tz_localize("Europe/Berlin", nonexistent="NaT"))
    gaps = frame.assign(time=frame.time.where(frame.i % 5 > 0), k=frame.k.where(frame.i % 7 > 0))
    for rows in (zoned, gaps):
        assert_parity(
            lambda f: tuple(
                f.groupby("k").resample(rule, on="time").i.sum() for rule in ("2D", "7h", "2MS")
            ),
            rows,
            ways=["eager"],
        )
    spans = frame.assign(time=frame.time - frame.time.min())
    assert_parity(
        lambda f: (
            f.groupby("k").resample("7h", on="time").i.sum(),
            f.set_index("time").groupby("k").resample("2D").i.mean(),
        ),
        spans,
        ways=["eager"],
    )


@pytest.mark.parametrize("rule", ["D", "2D", "2h", "MS", "W", "B", "90min"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kolkata"])
def test_bins_of_the_days_that_clocks_of_a_zone_show(rule, zone):
    times = ["03-29 22:30", "03-30 23:30", "03-31 00:30", "03-31 01:30", "04-02 05:00", "04-03"]
    instants = pd.DatetimeIndex([f"2024-{time}" for time in times], tz="UTC", name="time")
    frame = pd.DataFrame({"k": [1, 1, 2, 2, 3, 3], "i": range(6)}, instants.tz_convert(zone))
    assert_parity(
        lambda f: (
            f.groupby("k").i.resample(rule).sum(),
            f.groupby("k").i.resample(rule, closed="right").sum(),
            f.groupby("k").i.resample(rule, closed="right", label="right").agg(["max", "size"]),
        ),
        frame,
        ways=["eager"],
    )


def test_several_functions():
    assert_parity(
        lambda f: (
            f.groupby("k").resample("W").agg({"i": ["sum", "max"], "x": "count"}),
            f.groupby("k").resample("W").i.agg(["min", "count"]),
            f.groupby("k").resample("W").agg(total=("i", "sum")),
            f.groupby("k").resample("W").x.ohlc(),
            f[["k", "s"]].groupby("k").resample("W").first(),
        ),
        timed(),
        ways=["eager"],
    )


@pytest.mark.parametrize("rule", ["MS", "QS", "W-WED", "ME", "YS"])
def test_groups_that_start_or_end_on_the_day_of_an_edge(rule):
    times = ["2024-01-15", "2024-03-01 05:00", "2024-03-02", "2024-02-28 07:00", "2024-04-01"]
    frame = pd.DataFrame({"k": [0, 1, 1, 2, 3], "i": range(5)})
    frame = frame.set_axis(pd.to_datetime(times, format="ISO8601").rename("time"), axis=0)
    assert_parity(
        lambda f: tuple(
            getattr(f.groupby("k").i.resample(rule, closed=closed), name)()
            for closed in ("left", "right")
            for name in ("sum", "ffill")
        ),
        frame,
        ways=["eager"],
    )


def test_keys_origins_and_columns():
    assert_parity(
        lambda f: (
            f[["s", "i"]].groupby("s", dropna=False).resample("W").sum(),
            f[["s", "i"]].groupby("s", sort=False).resample("W").sum(),
            f.groupby(["k", "b"]).resample("W").i.sum(),
            f.sort_index().groupby("k").resample("W").s.first(),
            f.groupby(f.k % 2).resample("W").i.last(),
            f.groupby("b").i.resample("5h", origin="epoch").count(),
            f.groupby("b").i.resample("12h", offset="1h").count(),
            f.reset_index().groupby("k").resample("W", on="time").i.sum(),
            f[["k", "i"]].reset_index().groupby("k").resample("W", on="time").max(),
            f[:1].groupby("k").resample("D").i.sum(),
        ),
        timed(),
        ways=["eager"],
    )


STARTS = ["D", "ME", "MS", "6h", "QE", "W-WED"]
# Bins that start with the first time of each group.
STARTS_OF_GROUPS = ["2D", "5h", "2ME", "2W"]


@pytest.mark.parametrize("rule", [*STARTS, *STARTS_OF_GROUPS])
@pytest.mark.parametrize("method", ["ffill", "bfill", "nearest", "asfreq"])
def test_rows_at_the_starts_of_bins(rule, method):
    def found(f):
        return (
            getattr(f.groupby("k").resample(rule), method)(),
            getattr(f.groupby("k").i.resample(rule, closed="left"), method)(),
            getattr(f.groupby("k").resample(rule, closed="right", label="right").x, method)(),
        )

    assert_parity(found, on_some_starts(), ways=["eager"])


def on_some_starts():
    """Rows, some at the starts of bins; a group has one row for each time."""
    frame = timed()
    days = frame.index.normalize()
    times = frame.index.where(np.arange(len(frame)) % 3 > 0, days)
    frame = frame.set_axis(times, axis=0).rename_axis("time")
    return frame[~frame.reset_index().duplicated(["k", "time"]).to_numpy()]


@pytest.mark.parametrize("limit", [1, 3, 1000])
def test_limits_of_rows_at_the_starts_of_bins(limit):
    assert_parity(
        lambda f: (
            f.groupby("k").resample("12h").ffill(limit=limit),
            f.groupby("k").i.resample("D").bfill(limit),
            f.groupby("k")[["x", "s"]].resample("12h").nearest(limit=limit),
        ),
        on_some_starts(),
        ways=["eager"],
    )


def test_keys_and_fill_values_of_rows_at_the_starts_of_bins():
    assert_parity(
        lambda f: (
            f.groupby("k").i.resample("D").asfreq(fill_value=7),
            f[["s", "i"]].groupby("s", dropna=False).resample("W").ffill(),
            f.groupby("k", as_index=False).resample("W").bfill(),
            f.groupby("k", group_keys=False)[["x"]].resample("W").ffill(),
            f.groupby(["k", "b"]).resample("W").nearest(),
            f.groupby(f.k % 2).resample("5h", origin="epoch").asfreq(),
            f.groupby("k").head(1).groupby("k").resample("D").ffill(),
        ),
        on_some_starts().drop_duplicates("i").iloc[::2],
        ways=["eager"],
    )
    assert_parity(
        lambda f: (
            f.groupby("k").resample("D").ffill(2),
            f.groupby("k").i.resample("D").asfreq(fill_value=0),
            f.groupby("k").resample("D").x.nearest(),
        ),
        on_some_starts(),
        ways=["mesh"],
        num_devices=4,
    )


def test_rows_of_one_time_and_times_of_a_column():
    twice = pd.concat([timed()] * 2)
    assert_same_error(lambda f: f.groupby("k").resample("D").ffill(), twice)
    assert_same_error(
        lambda f: f.reset_index().groupby("k").resample("D", on="time").bfill(), timed()
    )


def test_no_rows():
    sums = on_device(timed()[:0]).groupby("k").resample("D").i.sum()
    assert sums.shape == (0,)
    assert sums.index.names == ["k", "time"]


def test_wrong_uses():
    frame = timed()
    assert_same_error(lambda f: f.reset_index(drop=True).groupby("k").resample("D").sum(), frame)
    assert_same_error(lambda f: f.groupby("k").resample("none").sum(), frame)
    assert_same_error(lambda f: f.groupby("k").resample("D", on="none").sum(), frame)
    grouped = on_device(frame).groupby("k")
    with pytest.raises(NotImplementedError, match=r"interpolate is not.*asfreq\(\)"):
        grouped.resample("D").interpolate()
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda f: f.groupby("k").resample("D").i.sum())(on_device(frame))


def test_functions_of_the_user():
    times = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-03", "2024-01-03"])
    frame = pd.DataFrame({"k": [5, 4, 5, 5], "x": [1.0, 2.0, 3.0, 4.0]}, index=times)
    assert_parity(
        lambda f: (
            f.groupby("k").resample("D").x.agg(lambda s: float(len(s))),
            f.groupby("k").resample("D").x.agg(["sum", _rows]),
        ),
        frame,
        ways=["eager"],
    )


def _rows(values):
    return len(values)


def test_bins_of_periods_are_refused():
    index = pd.period_range("2024-01", periods=2, freq="M")
    frame = pd.DataFrame({"v": [1, 2]}, index)
    with pytest.raises(NotImplementedError, match=r"bins of period\[M\].* with to_timestamp\(\)"):
        on_device(frame).resample("QE").sum()
