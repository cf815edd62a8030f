# SPDX-License-Identifier: Apache-2.0
"""Dates, times of day, decimals and periods, which are counts with a label."""

import datetime
import decimal

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_operations import functions_for
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from hypothesis import given
from hypothesis import strategies as st
from jaxframes.frame import JaxFrame, from_arrow, scan_parquet

D = decimal.Decimal
DECIMAL = pd.ArrowDtype(pa.decimal128(10, 2))
VALUES = {
    "decimal": (DECIMAL, [D("1.50"), None, D("-2.25"), D("1.50"), D("7.00")]),
    "date": (
        pd.ArrowDtype(pa.date32()),
        [datetime.date(2024, 1, 31), None, datetime.date(1969, 5, 5), datetime.date(2024, 1, 31),
         datetime.date(2025, 1, 1)],
    ),
    "time": (
        pd.ArrowDtype(pa.time64("us")),
        [datetime.time(1, 2), None, datetime.time(23, 59, 1, 5), datetime.time(1, 2),
         datetime.time(2)],
    ),
    "period": (
        pd.PeriodDtype("M"),
        [pd.Period("2024-01"), None, pd.Period("1969-12"), pd.Period("2024-01"),
         pd.Period("2025-01")],
    ),
}  # fmt: skip


def values_of(kind, num_rows=20):
    dtype, values = VALUES[kind]
    return pd.Series((values * num_rows)[:num_rows], dtype=dtype, name="v")


@pytest.mark.parametrize("kind", VALUES)
def test_rows_move_as_others_do(kind):
    frame = values_of(kind).to_frame().assign(k=list("aabbc") * 4, x=np.arange(20))
    operations = [
        lambda f: f.sort_values(["v", "x"]),
        lambda f: f.sort_values("v", ascending=False, kind="stable"),
        lambda f: f.assign(
            s=f.v.shift(1), m=f.v.isna(), e=f.v == f.v.shift(1), l=f.v < f.v.shift()
        ),
        lambda f: f.assign(w=f.v.where(f.x > 3, f.v.shift(2))),
        lambda f: f.groupby("k").v.agg(["min", "max", "count", "first"]),
    ]
    for operation in operations:
        assert_parity(operation, frame, ways=EVERYWHERE)
    for operation in (
        lambda f: f.groupby("v").x.sum(),
        lambda f: f.groupby("v", dropna=False).x.max(),
        lambda f: f.drop_duplicates("v"),
        lambda f: f.v.value_counts(),
        lambda f: f.merge(f.drop_duplicates("v")[["v", "x"]], on="v", how="outer"),
        lambda f: f.merge(f.drop_duplicates("v")[["v", "x"]], on="v"),
        lambda f: (f.v.min(), f.v.max(), f.v.nunique()),
        lambda f: f.set_index("v"),
        lambda f: functions_for(f).concat([f, f.head(2)]),
        lambda f: f.v.isin([f.v.iloc[0]]),
        lambda f: f.v.fillna(f.v.iloc[0]),
        lambda f: f.v.astype("str"),
        lambda f: (f.v == f.v.iloc[0], f.v < f.v.iloc[0], f.v == "no", f.v.between(*f.v[[2, 0]])),
        lambda f: f.v.groupby(f.k).shift(),
        lambda f: f[f.v > f.v.iloc[2]],
    ):
        assert_parity(operation, frame, ways=["eager"])


@pytest.mark.parametrize("kind", VALUES)
def test_arrow_pandas_and_files_both_ways(kind, tmp_path):
    frame = values_of(kind).to_frame()
    table = pa.Table.from_pandas(frame)
    ours = JaxFrame(frame)
    assert_same(ours, frame)
    assert ours.to_arrow().equals(table)
    pq.write_table(table, tmp_path / "a.parquet")
    assert_same(from_arrow(table), table.to_pandas())
    assert_same(scan_parquet(tmp_path / "a.parquet").head(7).collect(), table.to_pandas().head(7))


DECIMALS = st.decimals(-(10**6), 10**6, places=2)


@given(
    left=st.lists(st.one_of(DECIMALS, st.none()), min_size=1, max_size=6),
    right=st.lists(st.one_of(DECIMALS, st.none()), min_size=6, max_size=6),
    scale=st.integers(2, 4),
)
def test_arithmetic_of_decimals_is_exact(left, right, scale):
    frame = pd.DataFrame(
        {
            "a": pd.Series(left, dtype=pd.ArrowDtype(pa.decimal128(9, 2))),
            "b": pd.Series(right[: len(left)], dtype=pd.ArrowDtype(pa.decimal128(11, scale))),
        }
    )
    assert_parity(
        lambda f: (
            f.a + f.b, f.a - f.b, f.a * f.b, f.a < f.b, f.a == f.b, f.a + 1, 2 * f.a,
            f.a - D("0.125"), f.a > D("1.5"), f.a > 0, -f.a, f.a.abs(), f.a.round(1),
        ),
        frame,
        ways=["eager"],
    )  # fmt: skip
    assert_parity(lambda f: f.a.sum(), frame, ways=["eager"])


def test_decimals_that_do_not_fit():
    wide = pd.Series([D(10) ** 25], dtype=pd.ArrowDtype(pa.decimal128(30, 2)), name="price")
    with pytest.raises(OverflowError, match=r"'price'.*64 bits.*astype"):
        JaxFrame(wide.to_frame())
    large = on_device(pd.Series([D(10) ** 15], dtype=pd.ArrowDtype(pa.decimal128(18, 2))))
    with pytest.raises(OverflowError, match="astype"):
        _ = large * large
    assert jax.jit(lambda s: (s * s).isna())(large).tolist() == [True]
    many = pd.Series([D(9 * 10**15)] * 20, dtype=pd.ArrowDtype(pa.decimal128(18, 2)))
    with pytest.raises(OverflowError, match="sum"):
        on_device(many).sum()
    with pytest.raises(OverflowError, match="sum"):
        on_device(many).groupby([0] * 20).sum()
    with pytest.raises(NotImplementedError, match="astype"):
        _ = large / 2
    with pytest.raises(NotImplementedError, match="astype"):
        large.mean()
    assert_same_error(lambda s: s < datetime.date(2024, 1, 1), values_of("decimal"))


def test_decimals_beside_numbers():
    frame = pd.DataFrame({"a": values_of("decimal"), "i": np.arange(20), "x": np.arange(20) / 4})
    assert_parity(lambda f: (f.a * f.i, f.a.astype("float64"), f.a == f.x), frame, ways=["eager"])
    assert_parity(lambda f: f.groupby("i").a.sum(), frame, ways=["eager", "mesh"])


def test_parts_and_differences_of_dates():
    frame = pd.DataFrame({"d": values_of("date")})
    assert_parity(
        lambda f: (
            f.d.dt.year, f.d.dt.month, f.d.dt.day_of_week, f.d.dt.day_name(),
            f.d - datetime.date(2020, 1, 1), f.d - f.d.shift(1), f.d + pd.Timedelta("1D"),
            f.d.astype("datetime64[us]"),
        ),
        frame,
        ways=["eager"],
    )  # fmt: skip
    assert_same_error(lambda f: f.d > "2023", frame)
    times = pd.Series(pd.to_datetime(["2024-01-31 05:00", None])).astype("timestamp[us][pyarrow]")
    assert_parity(lambda s: (s.dt.date, s.dt.time), times)


@pytest.mark.parametrize("zone", [None, "Europe/Berlin"])
@pytest.mark.parametrize("freq", ["D", "M", "Q", "Y", "W", "Q-JAN", "h", "15min"])
def test_periods_of_times(zone, freq):
    times = pd.Series(pd.date_range("1969-10-26", periods=60, freq="211h", tz=zone))
    times[4] = pd.NaT

    def periods(s):
        # The zone is dropped, with a warning of pandas.
        return s.dt.tz_localize(None).dt.to_period(freq)

    is_counted = freq in ("D", "M", "Q", "Y")
    assert_parity(periods, times, ways=EVERYWHERE if is_counted else ["eager"])
    assert_parity(lambda s: periods(s).dt.to_timestamp(), times, ways=["eager"])


def test_methods_of_periods():
    periods = pd.Series(pd.period_range("2023-11", periods=6, freq="M"), name="p")
    periods[2] = pd.NaT
    assert_parity(
        lambda s: (
            s.dt.year, s.dt.quarter, s.dt.start_time, s.dt.end_time, s.dt.days_in_month,
            s.dt.asfreq("D"), s.dt.strftime("%Y/%m"), s + 1, s - 2, s > pd.Period("2024-01"),
            s == pd.Period("2024-01-01", "D"), s.dt.to_timestamp(how="end"),
        ),
        periods,
        ways=["eager"],
    )  # fmt: skip
    assert on_device(periods).dt.freq == periods.dt.freq
    assert_same_error(lambda s: s < pd.Period("2024-01-01", "D"), periods)
    with pytest.raises(NotImplementedError, match="to_timestamp"):
        _ = on_device(periods) - on_device(periods)
    frame = pd.DataFrame({"x": range(6)}, index=pd.period_range("2023-11", periods=6, freq="M"))
    assert_parity(lambda f: (f.index, f.x + f.x, f.reset_index(), f.loc["2023-12":]), frame,
                  ways=["eager"])  # fmt: skip


def test_objects_of_times():
    times = pd.Series(pd.date_range("2024-10-26 22:00", periods=9, freq="h", tz="Europe/Berlin"))
    times[2] = pd.NaT
    assert_parity(
        lambda s: (s.dt.date, s.dt.time, s.dt.timetz, s.dt.tz_localize(None).dt.date),
        times,
        ways=["eager"],
    )


def test_plans_and_streams_keep_the_dtypes(tmp_path):
    frame = pd.DataFrame({kind: values_of(kind) for kind in VALUES}).assign(x=np.arange(20))
    ours = JaxFrame(frame)
    ours.to_parquet(tmp_path / "a.parquet")
    for plan in (ours.lazy(), scan_parquet(tmp_path / "a.parquet")):
        for operation in (
            lambda f: f.sort_values(["decimal", "x"]),
            lambda f: f.groupby("date").agg({"decimal": "sum", "period": "max"}),
            lambda f: f.drop_duplicates("time"),
        ):
            expected = operation(frame)
            assert_same(operation(plan).collect(), expected)
            assert_same(operation(plan).collect(batch_rows=6), expected)


def test_means_and_medians_of_periods():
    periods = pd.PeriodIndex(
        ["1969-10", "1969-11", "2024-01", "NaT", "2024-03", "1969-12", "NaT"], freq="M"
    )
    frame = pd.DataFrame({"k": [1, 1, 2, 3, 2, 1, 2], "p": periods, "x": range(7)})

    def in_groups(f):
        groups = f.groupby("k")
        return (
            groups.mean(), groups["p"].median(), groups.p.quantile(0.3), groups.quantile(0.75),
            groups.agg({"p": ["min", "mean"], "x": "sum"}), groups.p.transform("mean"),
            groups["p"].cummin(), groups["p"].cummax(), f.iloc[:2].groupby("k").p.mean(),
            groups.p.mean(skipna=False),
        )  # fmt: skip

    assert_parity(in_groups, frame, ways=EVERYWHERE)
    assert_parity(lambda f: f.pivot_table(index="k", values="p"), frame, ways=["eager"])
    plan = on_device(frame).lazy().groupby("k").agg({"p": "mean"})
    assert_same(plan.collect(), frame.groupby("k").agg({"p": "mean"}))
    assert_parity(lambda s: (s.median(), s.quantile(0.3), s[:1].median()), frame.p, ways=["eager"])
    assert_parity(lambda f: f[["p"]].median(), frame, ways=["eager"])
    message = assert_same_error(lambda s: s.mean(), frame.p)
    assert message == (
        "mean is not implemented for PeriodArray since the meaning is ambiguous: column 'p' of "
        "period[M]. Convert the periods to their first times by dt.to_timestamp() first."
    )
    for name in ("sum", "std", "var"):
        assert_same_error(lambda f, name=name: getattr(f.groupby("k").p, name)(), frame)
