# SPDX-License-Identifier: Apache-2.0
"""at_time and between_time."""

import datetime

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

# Before and after 1970, on and beside the minutes, and missing.
MINUTES = np.random.default_rng(0).integers(-(10**6), 10**6, 60)
TIMES = pd.to_datetime("1970-01-01") + pd.to_timedelta(MINUTES // 30 * 30, unit="min")
TIMES = TIMES.append(TIMES[:5] + pd.Timedelta(1, "us")).append(pd.DatetimeIndex([None]))
FRAME = mixed_frame(len(TIMES))[["k", "x", "s"]].set_axis(TIMES.as_unit("us"), axis=0)


@pytest.mark.parametrize("inclusive", ["both", "left", "right", "neither"])
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_spans(inclusive, unit):
    assert_parity(
        lambda f: (
            f.between_time("9:30", "16:00", inclusive),
            f.k.between_time("1600", "09:30:00", inclusive=inclusive),
            f.between_time(datetime.time(0), datetime.time(23, 59, 59, 999_999), inclusive),
            f.x.between_time("12:00PM", "12:00PM", inclusive),
        ),
        FRAME.set_axis(TIMES.as_unit(unit), axis=0),
    )


def test_moments():
    assert_parity(
        lambda f: (
            f.at_time("9:30"),
            f.k.at_time(datetime.time(14, 0)),
            f.at_time("03:15"),
            f[:0].at_time("12:00"),
        ),
        FRAME,
        ways=["eager", "jit", "mesh"],
    )


def test_wrong_uses():
    assert_same_error(lambda f: f.between_time("9:30", "16:00", inclusive="all"), FRAME)
    assert_same_error(lambda f: f.between_time("noon", "16:00"), FRAME)
    assert_same_error(lambda f: f.reset_index(drop=True).at_time("9:30"), FRAME)
    assert_same_error(lambda f: f.at_time("9:30", asof=True), FRAME)
    utc = datetime.time(9, 30, tzinfo=datetime.UTC)
    assert_same_error(lambda f: f.at_time(utc), FRAME)
    with pytest.raises(NotImplementedError, match="axis must be 0"):
        on_device(FRAME).at_time("9:30", axis=1)
