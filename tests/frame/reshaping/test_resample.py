# SPDX-License-Identifier: Apache-2.0
"""resample."""

import copy

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import Bound, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxSeries


def timed(num_rows=37):
    minutes = np.sort(np.random.default_rng(0).integers(0, 100 * 24 * 60, num_rows))
    times = pd.to_datetime("2024-01-30") + pd.to_timedelta(minutes, unit="min")
    frame = mixed_frame(num_rows)[["k", "x", "f", "s", "b"]]
    return frame.set_axis(times.as_unit("us"), axis=0).rename_axis("time")


def test_bins_with_and_without_rows():
    assert_parity(
        lambda f: (
            f.k.resample("D").sum(),
            f.k.resample("D").min(),
            f[["k", "x"]].resample("D").mean(),
            f.resample("D").count(),
            f.resample("D").size(),
        ),
        timed(),
        ways=["eager"],
        ulps=64,
    )
    assert_parity(lambda f: f.k.resample("D").sum(), timed(), ways=["mesh"])


def test_ohlc_of_each_column():
    frame = timed()[["k", "x"]].rename_axis(columns="of")
    assert_parity(
        lambda f: (f.resample("W").ohlc(), f[["x"]].resample("W").ohlc(), f.k.resample("W").ohlc()),
        frame,
        ways=["eager"],
    )


@pytest.mark.parametrize("rule", ["ME", "MS", "W", "2h", "QE", "36h", "YE", "W-WED"])
def test_rules(rule):
    assert_parity(
        lambda f: (
            f.k.resample(rule).sum(),
            f.k.resample(rule, closed="left", label="left").max(),
            f.k.resample(rule, closed="right", label="right").size(),
        ),
        timed(),
        ways=["eager"],
    )


def test_several_functions():
    assert_parity(
        lambda f: (
            f.resample("W").agg({"k": ["sum", "max"], "x": "count"}),
            f.resample("W").k.agg(["min", "count"]),
            f.k.resample("W").ohlc(),
            f[["k", "s"]].resample("W").first(),
            f.resample("W")[["k", "x"]].max(),
        ),
        timed(),
        ways=["eager"],
    )


def test_origins_columns_and_few_rows():
    assert_parity(
        lambda f: (
            f.k.resample("5h", origin="epoch").sum(),
            f.k.resample("5h", offset="3h").sum(),
            f.k.resample("5h", origin="end").sum(),
            f.reset_index().resample("W", on="time")[["k"]].sum(),
            f.set_index("s", append=True).k.resample("W", level=0).sum(),
            f.k[:0].resample("D").sum(),
            f.x[:1].resample("D").max(),
        ),
        timed(),
        ways=["eager"],
    )


@pytest.mark.parametrize("rule", ["D", "6h", "W", "ME", "MS"])
@pytest.mark.parametrize("method", ["ffill", "bfill", "nearest", "asfreq"])
def test_rows_at_the_starts_of_bins(rule, method):
    assert_parity(
        lambda f: (
            getattr(f.resample(rule), method)(),
            getattr(f.k.resample(rule, closed="right"), method)(),
            getattr(f[:1].x.resample(rule), method)(),
            getattr(f[:0].resample(rule), method)(),
        ),
        timed(),
        ways=["eager"],
    )


def test_limits_and_fill_values_of_rows_at_the_starts_of_bins():
    assert_parity(
        lambda f: (
            f.resample("6h").ffill(limit=2),
            f.k.resample("6h").bfill(1),
            f.k.resample("D").asfreq(fill_value=7),
        ),
        timed(),
        ways=["eager", "mesh"],
    )


@pytest.mark.parametrize("rule", ["D", "7h", "W", "ME"])
def test_lines_between_rows(rule):
    assert_parity(
        lambda f: (
            f.resample(rule).interpolate(),
            f.k.resample(rule).interpolate(limit=2, limit_direction="both"),
            f.x.resample(rule, closed="right").interpolate(limit_area="inside"),
            f[:1].k.resample(rule).interpolate(),
            f[:0].k.resample(rule).interpolate(),
        ),
        timed()[["k", "x", "f"]],
        ways=["eager", "mesh"],
        ulps=Bound(8, 1.0),
    )


def test_wrong_lines_between_rows_are_pandas_errors():
    frame = timed()
    assert_same_error(lambda f: f.s.resample("D").interpolate(), frame)
    assert_same_error(lambda f: f.resample("D").k.interpolate(), frame)
    assert_same_error(lambda f: f.k.resample("D").interpolate(limit=-1), frame)
    assert_same_error(
        lambda f: f.reset_index().resample("D", on="time").interpolate(), frame[["k"]]
    )


def test_selected_columns_are_filled_within_bins():
    assert_parity(
        lambda f: (
            f.resample("10D")[["x", "k"]].ffill(),
            f.resample("10D").x.bfill(limit=1),
            f.reset_index().resample("10D", on="time").x.ffill(),
        ),
        timed(),
        ways=["eager", "mesh"],
    )
    assert_same_error(lambda f: f.resample("D").x.nearest(), timed())
    assert_same_error(lambda f: f.resample("D")[["x"]].asfreq(), timed())


@pytest.mark.parametrize("freq", ["D", "6h", "ME"])
def test_rows_at_regular_times(freq):
    assert_parity(
        lambda f: (
            f.asfreq(freq),
            f.k.asfreq(freq, fill_value=3),
            f.asfreq(freq, method="ffill", normalize=True),
            f[:1].asfreq(freq),
        ),
        timed(),
        ways=["eager"],
    )


def test_rows_in_no_order():
    frame = timed().sample(frac=1, random_state=0)
    assert_parity(
        lambda f: (
            f[["k", "s"]].resample("W").first(),
            f.resample("W").k.last(),
            f.resample("10D").ffill(),
            f.reset_index().resample("10D", on="time").x.ffill(),
            f.reset_index().resample("W", on="time").s.first(),
        ),
        frame,
        ways=["eager", "mesh"],
    )


def test_missing_times_belong_to_no_bin():
    frame = mixed_frame()[["k", "t"]]
    assert_parity(lambda f: f.resample("YE", on="t").k.sum(), frame, ways=["eager"])
    for times in (["2024-01-01", None, "2024-01-03"], [None], [None, "2024-01-02"]):
        index = pd.DatetimeIndex(times, tz="America/New_York").as_unit("s")
        series = pd.Series(range(len(times)), index, name="x")
        assert_parity(lambda s: s.resample("D").sum(), series, ways=["eager"])


@pytest.mark.parametrize("options", [{}, {"closed": "right"}, {"label": "right"}], ids=str)
@pytest.mark.parametrize("rule", ["7min", "6h", "W"])
def test_bins_of_one_length_around_the_first_and_the_last_time(rule, options):
    days = ["1969-12-31 23:53", "1970-01-01 00:00", "1970-01-04 00:00", "1970-01-05 00:00"]
    times = pd.to_datetime(days)
    for index in (times, times[::-1], times[:1]):
        series = pd.Series(range(len(index)), index, name="x")
        assert_parity(lambda s: s.resample(rule, **options).sum(), series, ways=["eager"])


def test_wrong_uses():
    frame = timed()
    assert_same_error(lambda f: f.reset_index(drop=True).resample("D"), frame)
    assert_same_error(lambda f: f.resample("none"), frame)
    ours = on_device(frame)
    assert_same_error(lambda f: f.reset_index().resample("D", on="time").ffill(), frame)
    assert_same_error(lambda f: f.iloc[[0, 0]].resample("D").ffill(), frame)
    with pytest.raises(NotImplementedError, match="how= is for periods"):
        ours.asfreq("D", how="end")
    with pytest.raises(TypeError, match="must be datetimes"):
        ours.set_index("k").asfreq("D")
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda f: f.asfreq("D"))(ours)
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda f: f.resample("D").k.sum())(ours)


def test_functions_of_the_user():
    times = pd.to_datetime(["2024-01-01 00:00", "2024-01-01 05:00", "2024-01-03 00:00"])
    frame = pd.DataFrame({"x": [1.0, 2.0, 3.0], "i": [1, 2, 3]}, index=times)
    assert_parity(
        lambda f: (
            f.x.resample("D").agg(lambda s: s.max() - s.min()),
            f.x.resample("D").apply(lambda s: len(s)),
            f.resample("D").agg({"x": lambda s: len(s), "i": "sum"}),
            f.x.resample("D").agg(["sum", lambda s: len(s)]),
            f.resample("D").i.agg(lambda s, n: s.sum() + n, 2),
            f.resample("3D").apply(lambda s: s.max() * 2),
        ),
        frame,
        ways=["eager"],
    )
    with pytest.raises(NotImplementedError, match="bins without rows cannot be traced"):
        on_device(frame).x.resample("D").agg(lambda s: s.max() * 2, engine="jax")


def test_weeks_and_months_end_with_the_day_that_clocks_show():
    days = pd.date_range("2017-03-24", "2017-04-03", tz="Europe/Amsterdam", unit="us")
    hours = pd.date_range("2024-10-25", "2024-11-02", freq="6h", tz="Europe/Amsterdam", unit="us")
    for times in (days, hours):
        series = pd.Series(range(len(times)), times)
        assert_parity(
            lambda s: (s.resample("W").sum(), s.resample("ME").sum()), series, ways=["eager"]
        )


@pytest.mark.parametrize(
    ("zone", "start"),
    [
        ("Europe/Berlin", "2024-03-31"),
        ("Europe/Berlin", "2024-10-27"),
        ("America/Sao_Paulo", "2018-11-03"),  # Clocks skip the next midnight.
        ("America/Sao_Paulo", "2018-02-17"),  # Clocks show the hour before midnight twice.
        ("Asia/Beirut", "2022-03-26"),
    ],
)
def test_days_on_which_clocks_change(zone, start):
    times = pd.date_range(pd.Timestamp(start, tz=zone), periods=60, freq="h")
    hours = pd.DataFrame({"time": times, "v": np.arange(60)})
    by_time = hours.set_index("time").v
    for rule in ("D", "2D", "7h", "12h"):
        assert_parity(lambda s, rule=rule: s.resample(rule).sum(), by_time, ways=["eager"])
        assert_same(on_device(hours).resample(rule, on="time").v.max(),
                    hours.resample(rule, on="time").v.max())  # fmt: skip


ROWS_OF_BINS = {
    "cumsum": lambda g: g.cumsum(),
    "rank": lambda g: g.rank(),
    "shift": lambda g: g.shift(),
    "ffill": lambda g: g.ffill(),
    "cumcount": lambda g: g.cumcount(),
    "transform": lambda g: g.transform("mean"),
}


@pytest.mark.parametrize("name", ROWS_OF_BINS)
def test_groups_of_one_grouper_have_the_methods_of_rows(name):
    times = pd.date_range("2024", periods=7, freq="9h", name="t")
    frame = pd.DataFrame({"v": [5, 3, 1, 4, 2, 6.5, np.nan], "w": range(7)}, index=times)
    method, of_days = ROWS_OF_BINS[name], pd.Grouper(key="t", freq="2D")
    assert_parity(
        lambda f: (
            method(f.v.groupby(pd.Grouper(freq="D"))),
            method(f.groupby(pd.Grouper(freq="D"))),
            method(f.reset_index().groupby(of_days)),
            method(f.reset_index().iloc[[3, 0, 6, 1, 2, 5, 4]].groupby(of_days)["v"]),
        ),
        frame,
        ways=["eager"],
    )


def test_rows_of_bins_of_one_grouper():
    times = pd.date_range("2024", periods=7, freq="9h", name="t")
    frame = pd.DataFrame({"v": [5, 3, 1, 4, 2, 6.5, np.nan]}, index=times)
    assert_parity(
        lambda f: (
            f.groupby(pd.Grouper(freq="D")).head(1), f.groupby(pd.Grouper(freq="D")).nth(-1),
            f.reset_index().groupby(pd.Grouper(key="t", freq="D")).v.tail(1),
        ),
        frame,
        ways=["eager"],
    )  # fmt: skip
    ours, by = on_device(frame.reset_index()), pd.Grouper(key="t", freq="D")
    with pytest.raises(NotImplementedError, match=r"head of bins of a column.*set_index\(\)"):
        ours.groupby(by).head(1)
    with pytest.raises(NotImplementedError, match=r"as_index=False. Leave it out, and call reset"):
        ours.groupby(by, as_index=False)


def test_absent_names_are_attribute_errors():
    frame = on_device(timed())
    for bins in (frame.resample("D"), frame.x.resample("D")):
        assert not hasattr(bins, "no_such_method")
        assert_same(copy.copy(bins).sum(), bins.sum().to_pandas())
    assert_parity(lambda f: f.resample("D").x.sum(), timed(), ways=["eager"])


@pytest.mark.parametrize("dtype", ["timestamp[ns][pyarrow]", "timestamp[us, UTC][pyarrow]"])
def test_labels_of_arrow_times_are_arrow_times(dtype):
    times = pd.date_range("2024", periods=7, freq="9h", tz="UTC" if "UTC" in dtype else None)
    frame = pd.DataFrame({"t": pd.Series(times, dtype=dtype), "v": [5, 3, 1, 4, 2, 6.5, np.nan]})
    labelled = frame.set_index("t")
    assert_parity(
        lambda f: (
            f.resample("D").sum(), f.v.resample("2D").mean(), f.resample("D").size(),
            f.resample("6h").ffill(), f.resample("6h").asfreq(), f.v.resample("6h").interpolate(),
            f.v.resample("6h").nearest(), f.v.resample("D").ohlc(), f.resample("D").agg(["min"]),
            f.groupby(pd.Grouper(freq="D")).sum(), f.iloc[::-1].v.resample("ME").max(),
            f.groupby(pd.Grouper(freq="D")).v.value_counts(),
        ),
        labelled,
        ways=["eager"],
    )  # fmt: skip
    missing = frame.assign(t=frame.t.where(frame.v != 3))
    assert_parity(
        lambda f: (f.resample("D", on="t").sum(), f.groupby(pd.Grouper(key="t", freq="D")).v.max()),
        missing,
        ways=["eager"],
    )


def counted():
    times = pd.date_range("2024", periods=7, freq="19h", name="t").delete(3)
    frame = {"x": ["a", "b", "a", "b", "b", "c"], "k": [1, 1, 2, 1, 2, 2]}
    return pd.DataFrame({"t": times, **frame, "v": [1.5, 2, 1.5, 1.5, np.nan, 4]})


@pytest.mark.parametrize("options", [{}, {"normalize": True}, {"sort": False}, {"dropna": False}])
def test_values_of_bins_are_counted(options):
    of_days, of_times = pd.Grouper(key="t", freq="2D"), pd.Grouper(freq="12h")
    assert_parity(
        lambda f: (
            f.groupby(of_days)["x"].value_counts(**options),
            f.groupby([of_days])["v"].value_counts(**options),
            f.groupby(of_days).value_counts(**options),
            f.groupby(of_days)[["x", "k"]].value_counts(**options),
            f.iloc[[4, 2, 0, 5, 1, 3]].groupby(of_days)["k"].value_counts(**options),
            f.set_index("t").groupby(of_times)["k"].value_counts(**options),
            f.resample("2D", on="t")["x"].value_counts(**options),
            f[:0].groupby(of_days)["x"].value_counts(**options),
        ),
        counted(),
        ways=["eager"],
    )
    assert_parity(
        lambda f: f.groupby(of_days)["x"].value_counts(**options), counted(), ways=["mesh"]
    )
    assert not hasattr(on_device(counted().set_index("t").x).resample("D"), "value_counts")


def test_other_methods_of_groups_of_one_grouper():
    frame, by = counted(), pd.Grouper(key="t", freq="D")
    missing = frame.assign(t=frame.t.where(frame.v != 4))
    for one in (frame, missing):
        assert_parity(
            lambda f: (
                f.groupby(by)["v"].any(), f.groupby(by)[["k", "v"]].all(), f.groupby(by).v.skew(),
                f.groupby(by)["k"].kurt(), f.groupby(by)["v"].nlargest(1),
                f.groupby(by)["k"].nsmallest(2), f.groupby(by).ngroup(),
                f.groupby(by)["x"].ngroup(ascending=False),
            ),
            one,
            ways=["eager"],
            ulps=8,
        )  # fmt: skip


def test_several_quantiles_of_bins():
    times = pd.date_range("2024", periods=5, freq="19h", name="t").delete(2)
    frame = pd.DataFrame({"v": [1.0, 4, 2, np.nan], "k": range(4)}, index=times)

    def quantiles(f):
        found = (
            f.v.resample("D").quantile([0.1, 0.5]), f.resample("12h").quantile([0.25]),
            f.resample("D")["k"].quantile([0.5, 1]),
            f.groupby(pd.Grouper(freq="D")).quantile([0.1, 0.9]), f.v.resample("D").quantile(0.3),
        )  # fmt: skip
        # Levels of pandas have a frequency.
        return tuple(one.reset_index() for one in found)

    assert_parity(quantiles, frame, ways=["eager"])


def test_missing_times_change_no_labels_of_other_calls():
    times = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-02", "2024-01-04"]))
    whole = pd.DataFrame({"t": times, "x": [1, 2, 3]})
    missing = pd.concat([whole, pd.DataFrame({"t": [pd.NaT], "x": [4]})], ignore_index=True)
    for frame in (whole, missing, whole):
        expected = frame.resample("D", on="t").sum().index
        found = on_device(frame).resample("D", on="t").sum().to_pandas().index
        assert found.freq == expected.freq


def test_a_dict_names_the_results_of_a_series():
    series = pd.Series([1.0, 2.0, 3.0], index=pd.date_range("2020", periods=3), name="x")
    functions = {"total": "sum", "rows": "count"}
    expected = series.resample("2D").agg(functions)
    assert_same(JaxSeries(series).resample("2D").agg(functions), expected)
    for wrong in (
        lambda s: s.resample("2D").agg({"x": ["sum"]}),
        lambda s: s.to_frame().groupby("x")["x"].agg({"y": "sum"}),
    ):
        assert_same_error(wrong, series)


def test_rows_of_bins_and_functions_of_bins():
    times = ["2024-01-10", "2024-01-01", "2024-01-02 05:00", "2024-01-11", "2024-03-01"]
    index = pd.to_datetime(times, format="ISO8601").rename("t")
    frame = pd.DataFrame({"x": [1.0, 2, np.nan, 4, 5], "y": range(5)}, index)
    assert_parity(
        lambda f: (
            f.resample("W").transform("sum"),
            f.resample("W").x.transform("cumsum"),
            f.y.resample("ME").transform("max"),
            f.reset_index().resample("W", on="t").transform("max"),
            f.x.resample("W").pipe(lambda bins: bins.max() - bins.min()),
            f.groupby("y").resample("D").x.pipe(lambda bins: bins.sum()),
        ),
        frame,
        ways=["eager", "mesh"],
    )
    assert_parity(
        lambda f: f.x.resample("W").transform(lambda s: s - s.mean()), frame, ways=["eager"]
    )
