# SPDX-License-Identifier: Apache-2.0
"""Times among those of other units: isin, searchsorted, asof, and keys of streams."""

import datetime

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxSeries, from_pandas
from times_of_units import (
    FAR,
    LATEST,
    NANOSECONDS,
    NAT,
    NEAR,
    PAIRS,
    edges,
    series,
)


def test_isin_times_of_other_units():
    near, far = NEAR.t, FAR.t
    mixed = [near[0], far[0], datetime.datetime(2020, 1, 2), np.datetime64("NaT", "s")]
    assert_parity(
        lambda s: (s.isin([near[0], far[0]]), s.isin(mixed[:3]), s.isin(["9999-12-31"])), near
    )
    assert_parity(lambda s: (s.isin([far[0], near[0]]), s.isin([pd.NaT, near[0], far[0]])), far)
    # Exact in place of pandas' error.
    assert on_device(near).isin([far[0]]).tolist() == [False, False]
    assert on_device(far).isin(far.tolist()[:1] + near.tolist()).tolist() == [True, False]
    for units in PAIRS:
        left, right = edges(units[0]), edges(units[1])
        known = {count * NANOSECONDS[units[1]] for count in right if count != NAT}
        expected = [c == NAT or c * NANOSECONDS[units[0]] in known for c in left]
        for letter in "Mm":
            a, b = (
                on_device(series(c, u, letter)) for c, u in zip((left, right), units, strict=True)
            )
            assert a.isin(b).tolist() == expected
            assert jax.jit(lambda a, b: a.isin(b))(a, b).tolist() == expected
            assert a.isin(b.to_pandas()).tolist() == expected


def test_searches_between_units():
    seconds = series([1, 2, 3], "s")
    assert_parity(
        lambda s: (
            s.searchsorted(pd.Timestamp(2, unit="s").as_unit("ns")),
            s.searchsorted(np.array([0, 2000, 9000], "M8[ms]"), side="right"),
        ),
        seconds,
        ways=["eager"],
    )
    message = assert_same_error(lambda s: s.searchsorted(np.array([1500], "M8[ms]")), seconds)
    assert message.startswith("Cannot losslessly c")
    assert_same_error(lambda s: s.searchsorted(FAR.t[0]), NEAR.t)


def test_asof_past_the_range_of_the_labels():
    labelled = JaxSeries(pd.Series([1, 2], index=pd.DatetimeIndex(series([-LATEST, LATEST], "ns"))))
    assert labelled.asof(FAR.t[0]) == 2
    assert np.isnan(labelled.asof(FAR.t[1]))


def test_times_of_numpy_of_other_units():
    for unit in ("D", "h", "m", "W", "M", "Y"):
        for letter in "Mm":
            assert_parity(lambda s: s, pd.Series(np.array([3, -3, NAT], f"{letter}8[{unit}]")))
            with pytest.raises(ValueError, match=r"Out of bounds|Cannot convert"):
                JaxSeries(np.array([2**60], f"{letter}8[{unit}]"))
    for unit in ("ps", "fs", "as"):
        values = np.array([10**15 + 1, NAT], f"M8[{unit}]")
        assert_same(JaxSeries(values).to_pandas(), pd.Series(values))
    with pytest.raises(ValueError, match="multiplier"):
        JaxSeries(np.array([5], "M8[10s]"))


def test_streams_join_keys_of_two_units_at_the_ends_of_their_ranges():
    counts = [c for c in edges("us") if abs(c) <= LATEST // 1000]
    micros = pd.DataFrame({"t": series(counts, "us"), "x": range(len(counts))})
    nanos = pd.DataFrame({"t": micros.t.astype("M8[ns]")[::-1], "y": range(len(counts))})
    plan = from_pandas(micros).lazy().merge(from_pandas(nanos).lazy(), on="t", how="inner")
    expected = micros.merge(nanos, on="t", how="inner")
    assert_same(plan.collect(batch_rows=2).to_pandas(), expected)
    far = from_pandas(FAR).lazy().merge(from_pandas(NEAR).lazy(), on="t")
    for options in ({}, {"batch_rows": 1}):
        with pytest.raises(pd.errors.OutOfBoundsDatetime):
            far.collect(**options)
