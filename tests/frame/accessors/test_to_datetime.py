# SPDX-License-Identifier: Apache-2.0
"""to_datetime."""

import datetime

import jax
import numpy as np
import pandas as pd
import pytest
from frame_operations import functions_for
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxSeries, to_datetime

DAYS = ["12/31/2020", None, "01/02/2020", "12/31/2020"]
MOMENTS = ["2020-01-01", "2020-02-29T12:30:01.5", None, "1969-12-31 23:59:59"]


def times_of(data, **options):
    return functions_for(data).to_datetime(data, **options)


def test_strings_are_written_as_the_first_is():
    for words in (DAYS, ["01/02/2020", "12/01/2020"], ["2020-01-01 00:00:00.123456789"], [None]):
        assert_parity(times_of, pd.Series(words, dtype="str"), ways=["eager", "mesh"])
    assert_same_error(times_of, pd.Series(["01/02/2020", "13/01/2020"]))


def test_formats():
    for options in (
        {"format": "ISO8601"},
        {"format": "mixed"},
        {"format": "%Y-%m-%d", "errors": "coerce"},
        {"format": "%Y-%m-%d", "exact": False},
    ):
        assert_parity(
            lambda s, o=options: times_of(s, **o), pd.Series(MOMENTS), ways=["eager", "jit"]
        )
    assert_parity(lambda s: times_of(s, format="%m/%d/%Y"), pd.Series(DAYS), ways=["jit"])


def test_strings_that_no_row_has_are_not_read():
    frame = pd.DataFrame({"s": ["bogus", "2020-01-01", "2020-01-02"], "x": [0, 1, 2]})
    assert_parity(lambda f: times_of(f[f.x > 0]["s"]), frame, ways=["eager"])
    kinds = pd.Categorical(["2020-01-01", None], categories=["bogus", "2020-01-01"])
    assert_parity(times_of, pd.Series(kinds), ways=["eager"])


DAY, TIME = datetime.date(2020, 2, 29), datetime.datetime(2021, 3, 4, 5, 6, 7, 89)
UTC = datetime.UTC


@pytest.mark.parametrize(
    "values",
    [
        [DAY, None, datetime.date(1969, 12, 31)],
        [TIME, None, TIME],
        [pd.Timestamp("2020-01-01 00:00:00.000000001"), pd.NaT, DAY],
        [TIME.replace(tzinfo=UTC), None],
        ["2020-01-01", None, "2021-12-31"],
        ["2020-01-01", float("nan"), "bogus"],
        [TIME, "2020-01-01", None],
        [None, None],
        [],
        [datetime.time(1, 2)],
        [True, False],
        [TIME, datetime.datetime(2020, 1, 1, tzinfo=UTC)],
    ],
)  # fmt: skip
def test_objects(values):
    series = pd.Series(values, dtype=object, name="t")
    for options in ({}, {"errors": "coerce"}, {"utc": True}, {"format": "%Y-%m-%d"}):
        try:
            times_of(series, **options)
        except (TypeError, ValueError):
            assert_same_error(lambda s, o=options: times_of(s, **o), series)
        else:
            assert_parity(lambda s, o=options: times_of(s, **o), series, ways=["eager", "mesh"])


def test_dates_of_times_are_times_again():
    frame = pd.DataFrame({"t": pd.to_datetime(["2020-01-01 10:00", None, "1969-12-31 23:59"])})
    assert_parity(lambda f: times_of(f.t.dt.date), frame, ways=["eager", "mesh"])


def test_integers_count_units():
    for dtype in ("int8", "uint32", "int64"):
        assert_parity(
            lambda s: tuple(times_of(s, unit=unit) for unit in ("W", "D", "h", "s", "ms", "ns")),
            pd.Series([0, 7, 100], dtype=dtype, name="n"),
            ways=["eager"],
        )
    assert_parity(times_of, pd.Series([0, -5]), ways=["jit"])


def test_integers_that_do_not_fit():
    for values in ([1, 2**62], [-(2**62), 3], np.array([5, 2**63], np.uint64)):
        series = pd.Series(values)
        assert_same_error(lambda s: times_of(s, unit="s"), series)
        assert_parity(lambda s: times_of(s, unit="s", errors="coerce"), series, ways=["eager"])
        inside = jax.jit(lambda s: to_datetime(s, unit="s"))(on_device(series)).to_pandas()
        assert inside.isna().sum() == 1


def test_datetimes_stay_as_they_are():
    assert_parity(times_of, pd.Series(pd.to_datetime(["2020-01-01", None])), ways=["eager"])


def test_wrong_uses():
    assert_same_error(times_of, pd.Series(["no time"]))
    assert_same_error(times_of, pd.Series([True]))
    assert_same_error(times_of, pd.Series(pd.to_timedelta(["1s"])))
    words = JaxSeries(DAYS)
    with pytest.raises(ValueError, match="errors"):
        to_datetime(words, errors="bogus")
    with pytest.raises(ValueError, match="unit"):
        to_datetime(JaxSeries([1]), unit="bogus")
    for wrong, about in (
        (lambda: to_datetime(words, unit="s"), "unit"),
        (lambda: jax.jit(to_datetime)(words), "format="),
    ):
        with pytest.raises(NotImplementedError, match=about):
            wrong()


@pytest.mark.parametrize("unit", ["D", "s", "ns", None])
@pytest.mark.parametrize("origin", ["1899-12-30", pd.Timestamp("2020-01-01 00:00:00.5"), 5])
def test_numbers_from_an_origin(unit, origin):
    for column in (pd.Series([1, 2, -5]), pd.Series([44000, None, 3], dtype="Int64")):
        assert_parity(
            lambda s: of_either(s, unit=unit, origin=origin, utc=True), column, ways=EVERYWHERE
        )
        assert_parity(
            lambda s: of_either(s, unit=unit, origin=origin).rename("t"), column, ways=["eager"]
        )


def of_either(series, **options):
    """pandas' own function for a series of pandas."""
    convert = to_datetime if isinstance(series, JaxSeries) else pd.to_datetime
    return convert(series, **options)


@pytest.mark.filterwarnings("ignore:to_datetime of floats")
def test_floats_and_days_of_julian_dates_from_an_origin():
    floats, days = pd.Series([1.5, None]), pd.Series([2451545, 2451546])
    options = {"unit": "D", "origin": "1960-01-01"}
    assert_parity(lambda s: of_either(s, **options), floats, ways=["eager"])
    assert_parity(lambda s: of_either(s, unit="D", origin="julian"), days, ways=["eager"])
    for series, origin in (
        (pd.Series(["a"]), "1960-01-01"), (days, "none"), (days, "julian"),
        (pd.Series(pd.to_datetime(["2020-01-01"])), "1960-01-01"),
    ):  # fmt: skip
        assert_same_error(lambda s, origin=origin: of_either(s, origin=origin), series)
    listed = to_datetime([1, 2], **options)
    pd.testing.assert_index_equal(listed, pd.to_datetime([1, 2], **options))


@pytest.mark.filterwarnings("ignore:Parsing integer or float values")
def test_integers_with_a_format():
    days = pd.Series([20240101, 20240131, 20240101])
    assert_parity(lambda s: of_either(s, format="%Y%m%d"), days, ways=["eager", "mesh"])
    gaps = pd.Series([20240101, None, 20240132], dtype="Int64")
    assert_parity(lambda s: of_either(s, format="%Y%m%d", errors="coerce"), gaps, ways=["eager"])
    assert_same_error(lambda s: of_either(s, format="%Y-%m"), days)
    with pytest.raises(NotImplementedError, match="inside jit the values"):
        jax.jit(lambda s: to_datetime(s, format="%Y%m%d"))(on_device(days))


def test_values_of_the_host():
    for given, options in (
        (DAYS, {}),
        (tuple(DAYS), {}),
        (np.array(DAYS, object), {}),
        (pd.Index(DAYS), {}),
        (pd.Series(DAYS, range(5, 5 + len(DAYS)), name="day"), {}),
        (["31.01.2013", "no time"], {"format": "%d.%m.%Y", "errors": "coerce"}),
        ([1, 2], {"unit": "s"}),
        (np.array([1.5, np.nan]), {"unit": "s"}),
        (pd.DataFrame({"year": [2020, 2021], "month": [1, 2], "day": [3, 4]}), {}),
        (np.array(["2020-01-01", "NaT"], "M8[ns]"), {}),
    ):
        made, expected = to_datetime(given, **options), pd.to_datetime(given, **options)
        if isinstance(expected, pd.Series):
            assert isinstance(made, JaxSeries)
            assert_same(made, expected)
        else:
            pd.testing.assert_index_equal(made, expected)
    for given in ("2013-01-31", 5, pd.Timestamp("2013-01-31")):
        assert to_datetime(given) == pd.to_datetime(given)
    assert to_datetime(None) is pd.to_datetime(None)
    assert_same(to_datetime(jax.numpy.arange(3)), pd.to_datetime(pd.Series(np.arange(3))))
    for wrong in (["no time"], object()):
        with pytest.raises((ValueError, TypeError)) as expected:
            pd.to_datetime(wrong)
        with pytest.raises(expected.type):
            to_datetime(wrong)


@pytest.mark.filterwarnings("ignore:to_datetime of columns")
def test_columns_of_years_months_and_days():
    parts = pd.DataFrame({"year": [2024, 2023], "month": [2, 3], "day": [29, 1], "hour": [5, 6]})
    assert_same(to_datetime(on_device(parts)), pd.to_datetime(parts))
    wrong = parts.assign(day=31)
    assert_same(
        to_datetime(on_device(wrong), errors="coerce"), pd.to_datetime(wrong, errors="coerce")
    )
    with pytest.raises(ValueError, match="at least that"):
        to_datetime(on_device(parts[["year"]]))
    with pytest.raises(NotImplementedError, match="Combine them as texts"):
        jax.jit(to_datetime)(on_device(parts))


def test_spans_of_time_have_no_unit():
    spans = on_device(pd.Series(pd.to_timedelta([90], unit="ns")))
    with pytest.raises(NotImplementedError, match="unit is for integers, got times"):
        to_datetime(spans, unit="s")
    with pytest.raises(TypeError, match="is not convertible to datetime"):
        to_datetime(spans)


@pytest.mark.filterwarnings("ignore:to_datetime of floats:pandas.errors.PerformanceWarning")
@pytest.mark.parametrize("values", [[1.5, None], [1.0, 2.0], [None, None]])
@pytest.mark.parametrize("dtype", ["float64", "Float64"])
def test_floats(values, dtype):
    floats = pd.Series(values, index=[5, 6], name="q", dtype=dtype)
    for unit in ("D", "s"):
        assert_same(to_datetime(JaxSeries(floats), unit=unit), pd.to_datetime(floats, unit=unit))
    with pytest.raises(NotImplementedError, match="to_datetime of floats needs rows on the host"):
        jax.jit(to_datetime)(JaxSeries(floats))
