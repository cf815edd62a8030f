# SPDX-License-Identifier: Apache-2.0
"""mean."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_floats_keep_their_width_and_others_are_float64():
    frame = pd.DataFrame({dtype: np.array([1, 2, 6], dtype) for dtype in ("bool", "float32")})
    assert_parity(lambda f: (f.bool.mean(), f.float32.mean(), f.mean(), f.mean(axis=1)), frame)
    whole = pd.DataFrame({dtype: np.array([1, 2, 9], dtype) for dtype in ("int8", "uint64")})
    assert_parity(lambda f: (f.mean(), f.int8.mean(), f.uint64.mean()), whole, ways=["eager"])


def test_lies_in_the_middle_of_what_is_there():
    ours = on_device(pd.DataFrame({"x": [1.0, np.nan, 4.0, 7.0], "y": [2.0, 2.0, np.nan, 2.0]}))
    assert ours.x.mean() == ours.x.sum() / ours.x.count() == 4.0
    assert (ours.x - ours.x.mean()).sum() == 0.0
    assert ours.mean(axis=None) == ours.sum(axis=None) / 6
    assert ours.y.mean() == 2.0


def test_missing_values_of_numbers_and_times():
    frame = pd.DataFrame(
        {
            "x": [1.0, np.nan, 3.0],
            "t": pd.to_datetime(["2020-01-01", None, "2020-01-03"]),
            "d": pd.to_timedelta([None, "4h", "8h"]),
        }
    )
    assert_parity(
        lambda f: (
            f.mean(),
            f.mean(skipna=False),
            f.t.mean(skipna=False),
            f.d.mean(),
            f[1:2].x.mean(),
            f[:1].d.mean(),
            f[:0].t.mean(),
        ),
        frame,
        ways=["eager"],
    )


@pytest.mark.filterwarnings("ignore:invalid value")
def test_infinities():
    infinite = pd.Series([np.inf, 1.0, -np.inf, 2.0])
    assert_parity(lambda s: (s.mean(), s[:2].mean(), s[2:].mean()), infinite, ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.s.mean(numeric_only=True), frame)
    assert_same_error(lambda f: f[["k", "c"]].mean(), frame)
    assert_same_error(lambda f: f.k.mean(min_count=1), frame)
    assert_same_error(lambda f: f.k.mean(axis="columns"), frame)
