# SPDX-License-Identifier: Apache-2.0
"""resample of timedeltas."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device


def spans(num_rows=29, unit="us"):
    minutes = np.sort(np.random.default_rng(1).integers(-300, 900, num_rows))
    frame = mixed_frame(num_rows)[["k", "x", "s"]]
    return frame.set_axis(pd.to_timedelta(minutes, unit="min").as_unit(unit), axis=0)


def test_hours_from_the_first_one():
    series = pd.Series([1, 2], index=pd.to_timedelta(["1h", "3h"]))
    assert_parity(lambda s: s.resample("1h").sum(), series, ways=["eager", "mesh"])
    assert_parity(lambda s: s.resample("1h").mean(), series, ways=["eager"])


@pytest.mark.parametrize("rule", ["1h", "90min", "D", "7h", "37s"])
@pytest.mark.parametrize(
    "options",
    [
        {}, {"closed": "right"}, {"label": "right"}, {"closed": "right", "label": "left"},
        {"offset": "15min"}, {"offset": "15min", "closed": "right"},
    ],
    ids=str,
)  # fmt: skip
def test_rules(rule, options):
    assert_parity(
        lambda f: (f.k.resample(rule, **options).sum(), f.resample(rule, **options).count()),
        spans(),
        ways=["eager"],
    )


@pytest.mark.parametrize("origin", ["start", "epoch", "end"])
def test_origins(origin):
    assert_parity(lambda f: f.k.resample("2h", origin=origin).size(), spans(), ways=["eager"])


@pytest.mark.parametrize("method", ["ffill", "bfill", "nearest", "asfreq", "interpolate"])
def test_rows_at_the_starts_of_bins(method):
    frame = spans()[["k", "x"]].groupby(level=0).first()
    assert_parity(lambda f: getattr(f.resample("30min"), method)(), frame, ways=["eager"], ulps=8)


def test_columns_levels_and_few_rows():
    frame = spans()
    assert_parity(
        lambda f: (
            f.k.resample("h").agg(["min", "count"]),
            f.reset_index().resample("2h", on="index")[["k"]].sum(),
            f.set_index("s", append=True).k.resample("2h", level=0).sum(),
            f.k[:0].resample("h").sum(),
            f.x[:1].resample("h").max(),
            f.k.resample("2h").agg(lambda values: len(values)),
        ),
        frame,
        ways=["eager"],
    )


@pytest.mark.parametrize("unit", ["s", "ms", "ns"])
def test_units(unit):
    assert_parity(lambda f: f.k.resample("3h").sum(), spans(unit=unit), ways=["eager"])


def test_lengths_must_be_fixed():
    for rule in ("ME", "W", "B"):
        assert_same_error(lambda f, r=rule: f.k.resample(r).sum(), spans())


def test_missing_times_belong_to_no_bin():
    frame = spans().reset_index(names="t")
    frame.loc[3, "t"] = pd.NaT
    found = on_device(frame).set_index("t").k.resample("h").sum()
    expected = frame.dropna(subset="t").set_index("t").k.resample("h").sum()
    assert_same(found, expected)


def test_a_missing_span_is_in_no_bin():
    series = pd.Series([2, 3, 5], index=pd.to_timedelta(["0s", None, "2s"]))
    result = on_device(series).resample("1s").sum().to_pandas()
    expected = series[series.index.notna()].resample("1s").sum()
    assert_same(result, expected)
    assert result.index.freq == expected.index.freq == "s"
