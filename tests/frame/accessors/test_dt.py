# SPDX-License-Identifier: Apache-2.0
"""The accessor of datetimes and timedeltas."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import DatetimeMethods, TimedeltaMethods

PARTS = (
    "year", "month", "day", "hour", "minute", "second", "microsecond", "nanosecond", "quarter",
    "day_of_week", "day_of_year", "days_in_month", "is_month_start", "is_month_end",
    "is_quarter_start", "is_quarter_end", "is_year_start", "is_year_end", "is_leap_year",
)  # fmt: skip
# Methods with arguments or with tests of their own.
OTHERS = {
    "as_unit", "ceil", "day_name", "floor", "isocalendar", "month_name", "normalize", "round",
    "strftime", "total_seconds", "tz", "tz_convert", "tz_localize", "unit", "date", "time",
    "timetz", "to_period", "to_pydatetime", "to_pytimedelta",
}  # fmt: skip
OTHER_NAMES = {
    "dayofweek": "day_of_week", "weekday": "day_of_week", "dayofyear": "day_of_year",
    "daysinmonth": "days_in_month",
}  # fmt: skip
SPANS = ("days", "seconds", "microseconds", "nanoseconds", "components")


def times(unit, missing=True):
    """Leap days, ends of years and quarters, the last moment before 1970, far dates."""
    days = [
        "1969-12-31T23:59:59.999999999", "1970-01-01", "2000-02-29T12:30:15.123456789",
        "1900-02-28", "1900-03-01", "2100-12-31", "1999-09-30", "2024-02-29", "1680-04-01",
    ]  # fmt: skip
    some = np.array(days, "M8[ns]").astype(f"M8[{unit}]").view(np.int64)
    most = np.iinfo(np.int64).max // {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}[unit]
    drawn = np.random.default_rng(0).integers(-most, most, 37 - len(some))
    values = np.concatenate([some, drawn]).view(f"M8[{unit}]")
    values[30:33] = "NaT" if missing else values[0]
    return pd.Series(values, name="t")


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_parts_match_pandas(unit):
    def parts(s):
        return tuple(getattr(s.dt, part) for part in PARTS)

    assert_parity(parts, times(unit), ways=["eager"])
    spans = times(unit).astype(np.int64).to_numpy().copy().view(f"m8[{unit}]")
    spans[30:33] = "NaT"
    assert_parity(
        lambda s: (*(getattr(s.dt, part) for part in SPANS), s.dt.total_seconds()),
        pd.Series(spans),
        ways=["eager"],
    )


@pytest.mark.parametrize("methods", [DatetimeMethods, TimedeltaMethods])
def test_every_part_is_among_them(methods):
    public = {name for name in dir(methods) if not name.startswith("_")}
    assert public <= {*PARTS, *SPANS, *OTHERS, *OTHER_NAMES}


@pytest.mark.parametrize("name", OTHER_NAMES)
def test_other_names_are_the_same_parts(name):
    # pandas warns about some of them.
    ours = on_device(times("us"))
    assert_same(getattr(ours.dt, name), getattr(times("us").dt, OTHER_NAMES[name]))


def test_rounding_and_names():
    def rounded(s):
        return (
            s.dt.floor("h"), s.dt.ceil("D"), s.dt.round("15min"), s.dt.round("2ms"),
            s.dt.floor("ns"), s.dt.normalize(), s.dt.day_name(), s.dt.month_name(),
        )  # fmt: skip

    assert_parity(rounded, times("us"), ways=["eager", "jit"])
    assert_parity(lambda s: (s.dt.floor("D"), s.dt.round("s")), mixed_frame()["d"], ways=["eager"])
    halves = pd.Series(np.array([0, 1, 2, 3, 5, 6, 7, -1, -2, -3], "M8[s]"))
    assert_parity(lambda s: (s.dt.round("2s"), s.dt.round("3s"), s.dt.ceil("2s")), halves)


def test_multiples_that_64_bits_do_not_hold():
    ends = pd.Series([pd.Timestamp.max, pd.NaT, pd.Timestamp(0)]).astype("M8[ns]")
    starts = pd.Series([pd.Timestamp.min, pd.Timestamp(0)]).astype("M8[ns]")
    assert_same_error(lambda s: s.dt.ceil("D"), ends)
    assert_same_error(lambda s: s.dt.round("D"), ends)
    assert_same_error(lambda s: s.dt.floor("h"), starts)
    assert_parity(lambda s: s.dt.floor("h"), ends)
    got = jax.jit(lambda s: s.dt.ceil("D"))(on_device(ends)).to_pandas()
    assert got.isna().tolist() == [True, True, False]


def test_in_jit_and_on_a_mesh():
    def some(s):
        return s.dt.year, s.dt.day_name(), s.dt.is_leap_year, s.dt.as_unit("ms"), s.dt.floor("D")

    assert_parity(some, times("us"), ways=EVERYWHERE)
    assert_parity(some, times("us", missing=False), ways=["eager", "jit"])


def test_units_and_strings():
    assert_parity(
        lambda s: (s.dt.as_unit("s"), s.dt.as_unit("us"), s.dt.strftime("%Y-%m-%d %a")),
        times("us"),
        ways=["eager"],
    )
    assert_parity(lambda s: (s.dt.unit, s.dt.tz), times("us"), ways=["eager"])
    assert_parity(lambda s: (s.dt.as_unit("ns"), s.dt.unit), mixed_frame()["d"], ways=["eager"])


def test_timedeltas_of_python_are_an_array():
    for values in (["1h", None, "-3us"], [None], []):
        spans = pd.Series(pd.to_timedelta(values), name="d")
        with pytest.warns(DeprecationWarning, match="will return a Series"):
            expected = spans.dt.to_pytimedelta()
        for given in (spans, spans.astype("duration[us][pyarrow]"), spans.astype("category")):
            found = on_device(given).dt.to_pytimedelta()
            assert type(found) is type(expected) is np.ndarray
            assert found.dtype == object
            assert found.tolist() == expected.tolist()


def test_few_rows_and_all_missing():
    for series in (times("us")[:0], times("us")[30:33], times("us")[:1]):
        assert_parity(
            lambda s: (s.dt.year, s.dt.day_name(), s.dt.floor("D")), series, ways=["eager"]
        )


def test_categories_that_are_times():
    days = pd.Series(["2020-02-29 12:30", None, "1969-12-31 00:00", "2020-02-29 12:30"], name="t")
    for unit in ("s", "ns"):
        times = pd.to_datetime(days).astype(f"M8[{unit}]")
        assert_parity(
            lambda s: (s.dt.year, s.dt.is_leap_year, s.dt.floor("D"), s.dt.day_name()),
            times.astype("category"),
            ways=["eager", "jit"],
        )
        spans = (times - times.min()).astype("category")
        assert_parity(lambda s: (s.dt.days, s.dt.total_seconds()), spans, ways=["eager", "jit"])
    assert_same_error(lambda s: s.dt, pd.Series(["a"], dtype="category", name="c"))


def test_years_past_32_bits():
    last, first = (np.datetime64(year, "s") for year in ("2147483648-01-01", "-2147483648-01-01"))
    held = pd.Series(np.array([last - np.timedelta64(1, "s"), first, "NaT"], "M8[s]"))
    assert_parity(lambda s: s.dt.year, held)
    for time in (last, first - np.timedelta64(1, "s"), np.datetime64(2**62, "s")):
        past = pd.Series(np.array([time, "2020-01-01"], "M8[s]"))
        assert_same_error(lambda s: s.dt.year, past)
        assert jax.jit(lambda s: s.dt.year)(on_device(past)).tolist()[1] == 2020
        assert np.isnan(jax.jit(lambda s: s.dt.year)(on_device(past)).tolist()[0])
    assert_same_error(lambda s: s.dt.isocalendar(), pd.Series(np.array([2**62], "M8[s]")))


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    for label in ("i", "x", "b", "s"):
        assert repr(label) in assert_same_error(lambda f, c=label: f[c].dt, frame)
    assert_same_error(lambda f: f.d.dt.year, frame)
    assert_same_error(lambda f: f.t.dt.total_seconds(), frame)
    assert_same_error(lambda f: f.t.dt.floor("ME"), frame)
    assert_same_error(lambda f: f.t.dt.floor("bogus"), frame)
    assert_same_error(lambda f: f.t.dt.as_unit("x"), frame)
    late = pd.Series(np.array(["3000-01-01"], "M8[s]"))
    assert_same_error(lambda s: s.dt.as_unit("ns"), late)
    assert_same_error(lambda f: f.t.dt.to_period(), frame)
    with pytest.raises(NotImplementedError, match="not known inside jit"):
        jax.jit(lambda f: f.t.dt.strftime("%H:%M"))(on_device(frame))


def test_isocalendar():
    days = pd.Series(pd.date_range("1899-12-25", periods=2200, freq="29D"), name="t")
    ends = pd.Series(pd.to_datetime(["2020-12-31", "2021-01-03", "2021-01-04", "1969-12-29"]))

    def parts(s):
        return s.dt.isocalendar()

    assert_parity(parts, days, ways=["eager", "jit"])
    assert_parity(parts, ends, ways=["eager", "mesh"])
    assert_parity(parts, pd.Series(pd.to_datetime(["2020-12-31", None])), ways=["eager", "jit"])


def test_days_that_begin_before_the_range():
    ends = ["1677-09-21T00:12:43.145224193", "2262-04-11T23:47:16.854775807", "NaT"]
    times = pd.Series(np.array(ends, "M8[ns]"))
    assert_parity(
        lambda s: (
            s.dt.strftime("%Y-%m-%d"), s.dt.strftime("%G-%V-%u"), s.dt.strftime("%j"), s.dt.date,
            s.dt.to_period("W"), s.dt.to_period("Q"),
        ),
        times,
        ways=["eager"],
    )  # fmt: skip


def test_times_of_arrow_have_the_rules_and_dtypes_of_arrow():
    texts = ["1969-12-31 22:30:00", "2020-02-29 01:30:00", None, "2020-01-01 02:30:00"]
    moments = pd.Series(pd.to_datetime(texts))
    for dtype in ("timestamp[s]", "timestamp[us]"):
        assert_parity(
            lambda s: (
                s.dt.round("h"),
                s.dt.floor("h"),
                s.dt.ceil("2D"),
                s.dt.time,
                s.dt.strftime("%d.%m.%Y"),
                s.dt.strftime("%H:%M"),
            ),
            moments.astype(f"{dtype}[pyarrow]"),
            ways=["eager"],
        )
    assert_parity(
        lambda s: (s.dt.round("2D"), s.dt.floor("D"), s.dt.ceil("2D"), s.dt.normalize()),
        moments.astype("date32[pyarrow]"),
        ways=["eager"],
    )
    halves = pd.Series([5400, 9000, -5400, None]).astype("duration[s][pyarrow]")
    assert_parity(lambda s: s.dt.round("h"), halves, ways=["eager"])
