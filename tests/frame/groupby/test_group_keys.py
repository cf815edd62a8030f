# SPDX-License-Identifier: Apache-2.0
"""The argument group_keys of groupby, with and without as_index."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, on_device

HOWS = [{"group_keys": False}, {"as_index": False}, {"group_keys": False, "as_index": False}]


def timed(num_rows=37):
    minutes = np.random.default_rng(0).integers(0, 60 * 24 * 60, num_rows)
    times = pd.to_datetime("2024-01-30") + pd.to_timedelta(minutes, unit="min")
    frame = mixed_frame(num_rows)[["k", "x", "i", "s", "b"]]
    return frame.set_axis(times.as_unit("us"), axis=0).rename_axis("time")


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_rows_with_their_own_labels(how):
    frame = mixed_frame(60)[["k", "s", "x", "i"]].rename_axis("row")

    def found(f):
        grouped = f.groupby("k", **how)
        return (
            grouped.take([0, 1]), grouped.x.take([-1]), grouped.x.nlargest(2),
            grouped.i.nsmallest(1), f.groupby(["k", "s"], **how).i.nlargest(1),
            f.groupby("s", sort=False, dropna=False, **how).take([0]),
            f.reset_index(drop=True).groupby("k", **how).x.nlargest(2),
        )  # fmt: skip

    assert_parity(found, frame, ways=["eager"])
    assert_parity(lambda f: f.groupby("k", **how).x.nlargest(2), frame, ways=["jit"])
    assert_parity(lambda f: f.groupby("k", **how).take([0]), frame, ways=["mesh"])


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_matrices_of_groups(how):
    frame = mixed_frame()[["b", "x", "i"]]
    assert_parity(
        lambda f: (f.groupby("b", **how).corr(), f.groupby("b", **how)[["x", "i"]].cov()),
        frame.replace({"x": {np.inf: 0.0, -np.inf: 0.0}}),
        ulps=64,
        ways=["eager", "jit", "mesh"],
        num_devices=4,
    )


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_bins_of_time(how):
    def found(f):
        grouped = f[["k", "x", "i"]].groupby("k", **how)
        return (
            grouped.resample("W").sum(), grouped.resample("W").i.max(),
            grouped.x.resample("W").mean(), grouped.resample("W")[["i", "x"]].count(),
            grouped.resample("W").agg({"i": ["sum", "max"]}), grouped.x.resample("W").ohlc(),
            f.groupby(["k", "b"], **how).i.resample("W").last(),
            f.reset_index().groupby("k", **how).resample("W", on="time").i.sum(),
        )  # fmt: skip

    assert_parity(found, timed(), ways=["eager"], ulps=8)
    assert_parity(
        lambda f: f.groupby("k", **how).i.resample("W").sum(), timed(), ways=["mesh"], num_devices=4
    )


def test_series_and_few_rows():
    def found(f):
        by_series = f.x.groupby(f.k, group_keys=False)
        return by_series.nlargest(1), by_series.take([0])

    frame = mixed_frame()[["k", "x"]].rename_axis("row")
    assert_parity(found, frame, ways=["eager"])
    assert_parity(found, frame[:1], ways=["eager"])


@pytest.mark.parametrize("how", HOWS, ids=str)
def test_methods_with_a_row_for_each_group_or_row_ignore_it(how):
    def found(f):
        some = f.groupby("k", **how)
        return some.i.sum(), some.i.cumsum(), some.head(1), some.i.transform("max"), some.size()

    assert_parity(found, mixed_frame()[["k", "i"]], ways=["eager"])


def test_describe_ignores_it():
    frame = mixed_frame()[["k", "i"]]
    got = on_device(frame).groupby("k", group_keys=False).i.describe().to_pandas()
    # pandas fails to unstack its own result.
    pd.testing.assert_frame_equal(got, frame.groupby("k").i.describe())


@pytest.mark.parametrize("values", [[True, None], [1, None], ["a", None], [None, None]], ids=str)
@pytest.mark.parametrize("by", [["b", "f"], "b"], ids=str)
def test_keys_of_objects_have_their_dtype_also_where_no_group_is_left(values, by):
    data = pd.DataFrame({"b": pd.Series(values, dtype=object), "f": [None, 1.5], "k": [0, 1]})
    for rows in (data, data[data.k > 5]):
        expected = rows.groupby(by).k.min()
        pd.testing.assert_series_equal(on_device(rows).groupby(by).k.min().to_pandas(), expected)
