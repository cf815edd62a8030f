# SPDX-License-Identifier: Apache-2.0
"""Times with a time zone, around changes of clock."""

import datetime
import functools
import io
import zoneinfo

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from hypothesis import given
from hypothesis import strategies as st
from jaxframes.frame import (
    JaxFrame,
    JaxSeries,
    concat,
    from_arrow,
    merge,
    read_csv,
    read_parquet,
    scan_parquet,
    to_datetime,
)
from jaxframes.frame.table._zones import zone_label, zone_table

ZONES = ("Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC",
         "UTC+02:00")  # fmt: skip
PARTS = ("year", "month", "day", "hour", "minute", "second", "microsecond", "day_of_week",
         "day_of_year", "is_month_start")  # fmt: skip
# The hour after which clocks of no zone here have a gap or a repetition of other than whole hours
# or halves lies in 1945.
FIRST = int(np.datetime64("1946-01-01", "s").astype(np.int64))
LAST = int(np.datetime64("2240-01-01", "s").astype(np.int64))


@functools.cache
def changes_of(zone):
    """The changes of clock of a zone; those of Berlin if it has none since 1946."""
    changes = zone_table(zone).changes
    recent = changes[(changes > FIRST) & (changes < LAST)]
    return recent if len(recent) else changes_of("Europe/Berlin")


def seconds_near_changes(zone, draw):
    """Seconds of the clocks of UTC, most of them within hours of a change of clock."""
    places = st.integers(0, len(changes_of(zone)) - 1)
    near = st.builds(
        lambda at, quarters, second: int(changes_of(zone)[at]) + 900 * quarters + second,
        places,
        st.integers(-12, 12),
        st.sampled_from([0, 0, 1, -1]),
    )
    any_time = st.integers(FIRST, LAST)
    return draw(st.lists(st.one_of(near, near, any_time, st.none()), min_size=1, max_size=9))


@st.composite
def zoned(draw, zones=ZONES):
    """A series of instants of a zone."""
    zone, unit = draw(st.sampled_from(zones)), draw(st.sampled_from(["s", "ms", "us", "ns"]))
    seconds = pd.Series(seconds_near_changes(zone, draw), dtype="Int64")
    times = pd.to_datetime(seconds, unit="s").dt.as_unit(unit)
    return times.dt.tz_localize("UTC").dt.tz_convert(zone).rename("t")


def walls_of(draw, zone):
    """A series of what clocks of a zone show, or skip."""
    seconds = pd.Series(seconds_near_changes(zone, draw), dtype="Int64")
    times = pd.to_datetime(seconds, unit="s").dt.as_unit("us").dt.tz_localize("UTC")
    shown = times.dt.tz_convert(zone).dt.tz_localize(None)
    return shown + pd.Timedelta(minutes=draw(st.sampled_from([0, 30, 60])))


@given(series=zoned())
def test_parts_are_those_that_clocks_show(series):
    def parts(s):
        return (*(getattr(s.dt, part) for part in PARTS), s.dt.day_name(), s.dt.tz_localize(None))

    assert_parity(parts, series, ways=["eager"])


@pytest.mark.parametrize("zone", ZONES)
def test_every_way_is_the_same(zone):
    seconds = changes_of(zone)[-9:, None] + np.array([-3601, -1800, 0, 1800])
    times = pd.Series(seconds.ravel().view("M8[s]")).astype("M8[us]").dt.tz_localize("UTC")
    frame = pd.DataFrame({"t": times.dt.tz_convert(zone), "x": np.arange(len(times)) / 2})
    frame.loc[3, "t"] = pd.NaT
    assert_parity(
        lambda f: f.assign(
            h=f.t.dt.hour, d=f.t.dt.floor("D"), u=f.t.dt.tz_convert("Asia/Tokyo"), m=f.t.dt.minute
        ),
        frame,
        ways=EVERYWHERE,
    )
    assert_parity(lambda f: f.sort_values("t", kind="stable"), frame, ways=EVERYWHERE)
    assert_parity(lambda f: f.groupby("t").x.sum(), frame, ways=["eager", "mesh"])
    assert_parity(lambda f: f.groupby(f.t.dt.hour).t.max(), frame, ways=["eager", "mesh"])
    assert_parity(
        lambda f: f.t.dt.tz_localize(None).dt.tz_localize(
            zone, ambiguous="NaT", nonexistent="shift_forward"
        ),
        frame,
        ways=EVERYWHERE,
    )


@given(data=st.data())
def test_localized_times(data):
    zone = data.draw(st.sampled_from(ZONES))
    walls = walls_of(data.draw, zone)
    ambiguous = data.draw(st.sampled_from(["NaT", True, False, "flags", "raise"]))
    if ambiguous == "flags":
        flags = st.lists(st.booleans(), min_size=len(walls), max_size=len(walls))
        ambiguous = np.array(data.draw(flags))
    hour = pd.Timedelta(hours=1)
    nonexistent = data.draw(
        st.sampled_from(["NaT", "shift_forward", "shift_backward", hour, "raise"])
    )

    def localized(s):
        return s.dt.tz_localize(zone, ambiguous=ambiguous, nonexistent=nonexistent)

    try:
        expected = localized(walls)
    except ValueError:
        assert_same_error(localized, walls)
    else:
        assert_same(localized(on_device(walls)), expected)


def test_a_timedelta_moves_times_that_clocks_skip():
    walls = pd.Series(pd.to_datetime(["2024-03-31 02:10:05", "2024-03-31 03:00:00"]))

    def moved(by):
        return lambda s: s.dt.tz_localize("Europe/Berlin", nonexistent=pd.Timedelta(by))

    for by in ("1h", "90min", "-20min"):
        assert_parity(moved(by), walls)
    assert "relocalize" in assert_same_error(moved("10min"), walls)
    # pandas takes the offset of summer, so that it moves by three hours.
    earlier = moved("-2h")(on_device(walls)).to_pandas()
    assert str(earlier[0]) == "2024-03-31 00:10:05+01:00"


def test_inside_jit_what_would_raise_is_missing():
    walls = pd.Series(pd.to_datetime(["2024-10-27 02:30", "2024-03-31 02:30", "2024-07-01 00:00"]))
    got = jax.jit(lambda s: s.dt.tz_localize("Europe/Berlin"))(on_device(walls)).to_pandas()
    assert got.isna().tolist() == [True, True, False]
    with pytest.raises(NotImplementedError, match="infer"):
        jax.jit(lambda s: s.dt.tz_localize("Europe/Berlin", ambiguous="infer"))(on_device(walls))


def test_the_order_of_rows_tells_repeated_times():
    day = pd.date_range("2024-10-27", periods=12, freq="30min", tz="Europe/Berlin")
    walls = pd.Series(day.tz_localize(None))

    def localized(s):
        return s.dt.tz_localize("Europe/Berlin", ambiguous="infer")

    assert_parity(localized, walls, ways=["eager", "mesh"])
    assert_same_error(localized, walls[:6])


@given(series=zoned(), freq=st.sampled_from(["D", "h", "2h", "15min", "90min"]))
def test_rounding_is_on_clocks(series, freq):
    for how in ("floor", "ceil", "round"):

        def rounded(s, how=how):
            return getattr(s.dt, how)(freq, ambiguous="NaT", nonexistent="shift_forward")

        assert_parity(rounded, series, ways=["eager"])
    assert_parity(lambda s: s.dt.strftime("%Y-%m-%d %H:%M %Z%z"), series, ways=["eager"])


@given(
    series=zoned(),
    offset=st.sampled_from(
        [pd.Timedelta("1D"), pd.offsets.Day(1), pd.DateOffset(months=1), pd.offsets.Hour(26)]
    ),
)
def test_offsets_cross_changes(series, offset):
    try:
        _ = series + offset
    except ValueError:
        return
    assert_parity(lambda s: s + offset, series, ways=["eager"])
    assert_parity(lambda s: (s + pd.Timedelta("1D")) - s, series, ways=["eager"])


@given(left=zoned(), right=zoned())
def test_instants_compare_whatever_their_zones(left, right):
    size = min(len(left), len(right))
    left, right = left[:size], right[:size]

    def compared(a, b):
        return a == b, a != b, a < b, a <= b, a > b, a >= b, a - b, a.where(a > b, b)

    assert_parity(compared, left, right, ways=["eager"])


def test_times_with_and_without_a_zone():
    zoned_times = pd.Series(pd.to_datetime(["2024-07-01", None])).dt.tz_localize("Europe/Berlin")
    plain = zoned_times.dt.tz_localize(None)
    for one, other in ((zoned_times, plain), (plain, zoned_times)):
        both = pd.DataFrame({"a": one, "b": other})
        assert_parity(lambda f: f.assign(e=f.a == f.b, n=f.a != f.b), both)
        assert_same_error(lambda a, b: a < b, one, other)
        message = assert_same_error(lambda a, b: a - b, one, other)
        assert message == "Cannot subtract tz-naive and tz-aware datetime-like objects"
    for scalar in (pd.Timestamp("2024-06-30 22:00"), "2024-07-01", "2024-06-30T22:00Z"):
        assert_parity(lambda s, v=scalar: s == v, zoned_times)
    assert_parity(lambda s: s < "2024-07-02", zoned_times)
    assert_same_error(lambda s: s < pd.Timestamp("2024"), zoned_times)
    # Clocks show it twice.
    assert_same_error(lambda s: s < "2024-10-27 02:30", zoned_times)
    assert_same_error(lambda s: s.dt.tz_localize("UTC"), zoned_times)
    assert_same_error(lambda s: s.dt.tz_convert("UTC"), plain)
    assert_same_error(lambda s: s.astype("M8[us]"), zoned_times)
    assert_same_error(lambda s: s.astype("datetime64[us, UTC]"), plain)
    assert_parity(lambda s: s.astype("datetime64[ns, Asia/Tokyo]"), zoned_times)
    assert_same_error(lambda a, b: a.to_frame("t").merge(b.to_frame("t")), zoned_times, plain)


@pytest.mark.parametrize("how", ["inner", "left", "right", "outer"])
def test_keys_of_two_zones_are_instants(how):
    times = pd.Series(pd.to_datetime(["2024-10-27 00:30", "2024-10-27 01:30", "2024-07-01 00:00"]))
    times = times.dt.tz_localize("UTC")
    left = pd.DataFrame({"t": times.dt.tz_convert("Europe/Berlin"), "x": [1, 2, 3]})
    right = pd.DataFrame({"t": times.dt.tz_convert("America/New_York")[:2], "y": [4, 5]})
    assert_parity(lambda a, b: a.merge(b, on="t", how=how), left, right, ways=["eager", "mesh"])


def test_concat_keeps_one_zone():
    times = pd.Series(pd.date_range("2024-10-26", periods=3, freq="D", tz="Europe/Berlin"))
    nanoseconds = on_device(times.dt.as_unit("ns"))
    expected = pd.concat([times, times.dt.as_unit("ns")])
    assert_same(concat([on_device(times), nanoseconds]), expected)


def test_reductions_have_the_zone():
    times = pd.date_range("2024-10-26", periods=9, freq="7h", tz="Europe/Berlin")
    frame = pd.DataFrame({"k": list("aabbccaab"), "t": times})
    assert_parity(
        lambda f: (f.t.min(), f.t.mean(), f.t.quantile(0.3), f.t.std(), f.t.median()),
        frame,
        ways=["eager"],
    )
    assert_parity(lambda f: f.groupby("k").t.agg(["min", "max", "first", "count"]), frame)
    assert_parity(lambda f: f.t.describe(), frame, ways=["eager"])


@pytest.mark.parametrize("rule", ["D", "6h", "ME", "W", "YE"])
@pytest.mark.parametrize("zone", ["Europe/Berlin", "Australia/Lord_Howe"])
def test_resample_across_changes(rule, zone):
    index = pd.date_range("2024-03-25", periods=40, freq="11h", tz=zone)
    frame = pd.DataFrame({"x": np.arange(40.0)}, index=index)
    assert_parity(lambda f: f.x.resample(rule).sum(), frame, ways=["eager"])


def test_labels_with_a_zone():
    index = pd.date_range("2024-10-26 18:00", periods=12, freq="h", tz="Europe/Berlin")
    frame = pd.DataFrame({"x": np.arange(12)}, index=index)
    assert_parity(lambda f: f.tz_convert("UTC"), frame, ways=EVERYWHERE)
    assert_parity(lambda f: f.tz_localize(None), frame)
    assert_parity(lambda f: f.x.tz_convert("Asia/Kolkata").between_time("02:00", "05:00"), frame)
    assert_parity(lambda f: f.loc["2024-10-27 01:00":], frame, ways=["eager"])
    assert_parity(lambda f: f.index, frame, ways=["eager"])
    assert_same_error(lambda f: f.reset_index().tz_convert("UTC"), frame)


@given(series=zoned())
def test_arrow_and_pandas_both_ways(series):
    table = pa.Table.from_pandas(series.to_frame())
    ours = JaxFrame(series.to_frame())
    assert ours.to_arrow().equals(table)
    assert_same(from_arrow(table), series.to_frame())


def test_files(tmp_path):
    times = pd.Series(pd.date_range("2024-10-26", periods=50, freq="h", tz="Europe/Berlin"))
    frame = pd.DataFrame({"t": times, "x": np.arange(50)})
    frame.to_parquet(tmp_path / "a.parquet")
    assert_same(read_parquet(tmp_path / "a.parquet"), frame)
    plan = scan_parquet(tmp_path / "a.parquet")
    assert str(plan.schema["t"]) == "datetime64[us, Europe/Berlin]"
    later = plan[plan.t > pd.Timestamp("2024-10-27 00:30", tz="UTC")]
    answer = later.assign(h=later.t.dt.hour).collect(batch_rows=7)
    expected = frame[frame.t > pd.Timestamp("2024-10-27 00:30", tz="UTC")]
    assert_same(answer, expected.assign(h=expected.t.dt.hour))
    texts = read_csv(io.StringIO(on_device(frame).to_csv(index=False)))
    assert_same(texts.t.dt.as_unit("us"), frame.t.dt.tz_convert("UTC"))


def test_parsed_texts():
    texts = pd.Series(["2024-01-01T00:00:00+01:00", None, "2024-03-01T12:00:00+01:00"])
    mixed = pd.Series(["2024-01-01T00:00:00+01:00", "2024-07-01T00:00:00+02:00"])

    def parsed(s, **options):
        return (to_datetime if isinstance(s, JaxSeries) else pd.to_datetime)(s, **options)

    assert_parity(parsed, texts, ways=["eager"])
    assert_parity(lambda s: parsed(s, utc=True), mixed, ways=["eager"])
    assert_parity(lambda s: parsed(s, utc=True), texts.str[:19], ways=["eager"])
    assert_same_error(parsed, mixed)
    assert_parity(lambda s: parsed(s, unit="s", utc=True), pd.Series([0, 10**9]))


def test_scalars_with_a_zone():
    times = pd.Series(pd.date_range("2024-10-26", periods=5, freq="12h", tz="Europe/Berlin"))
    moment = pd.Timestamp("2024-10-27", tz="America/New_York")
    assert_parity(lambda s: (s - moment, moment - s, s > moment, s.fillna(moment)), times)
    assert_parity(lambda s: s.to_frame("t").assign(u=moment), times, ways=["eager"])
    assert_parity(lambda s: s.isin([moment, s.iloc[0]]), times, ways=["eager"])


def test_zones_without_a_name_are_refused():
    assert zone_label(datetime.timezone(datetime.timedelta(hours=-5), "EST")) == "UTC-05:00"
    assert zone_label(zoneinfo.ZoneInfo("Asia/Kolkata")) == "Asia/Kolkata"
    with pytest.raises(NotImplementedError, match="name of the IANA data base"):
        zone_label("dateutil/Europe/Berlin")
    with pytest.raises(zoneinfo.ZoneInfoNotFoundError):
        zone_label("Europe/Nowhere")


@pytest.mark.parametrize("zone", ["Europe/Berlin", "Africa/Casablanca", "America/Sao_Paulo"])
def test_offsets_of_far_years(zone):
    moments = np.random.default_rng(0).integers(-6 * 10**9, 2 * 10**11, 200).view("M8[s]")
    series = pd.Series(moments).dt.tz_localize("UTC").dt.tz_convert(zone)
    assert_parity(lambda s: s.dt.tz_localize(None), series)


def test_merge_of_a_plan_matches_instants():
    times = pd.date_range("2024-10-27", periods=4, freq="h", tz="Europe/Berlin")
    left = JaxFrame({"t": times, "x": np.arange(4)}).lazy()
    right = JaxFrame({"t": times.tz_convert("UTC"), "y": np.arange(4)}).lazy()
    assert len(merge(left, right, on="t").collect()) == 4


@pytest.mark.parametrize(("unit", "zone"), [("ns", "America/New_York"), ("ns", "Etc/GMT+5")])
def test_instants_past_the_range(unit, zone):
    last = np.array([np.iinfo(np.int64).max - 10**9, 0]).view(f"M8[{unit}]")
    times = pd.Series(last)
    assert_same_error(lambda s: s.dt.tz_localize(zone), times)
    assert_same_error(lambda s: s.to_frame("t").set_index("t").tz_localize(zone), times)
    inside = jax.jit(lambda s: s.dt.tz_localize(zone))(on_device(times))
    assert inside.isna().tolist() == [True, False]
