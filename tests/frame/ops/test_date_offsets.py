# SPDX-License-Identifier: Apache-2.0
"""Arithmetic of datetimes and pandas' offsets."""

import jax
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame()[["t", "k"]]


def test_offsets_without_a_fixed_length():
    assert_parity(
        lambda f: (
            f.t + pd.DateOffset(months=1, days=2),
            f.t - pd.DateOffset(years=1),
            pd.offsets.MonthEnd() + f.t,
            f[["t"]] + pd.offsets.MonthBegin(2),
            f.t - pd.offsets.Week(weekday=2),
            f.t[:0] + pd.DateOffset(months=1),
        ),
        FRAME,
        ways=["eager"],
    )
    assert_parity(lambda f: f.t + pd.DateOffset(months=1), FRAME, ways=["mesh"])


def test_offsets_of_a_fixed_length_work_inside_jit():
    assert_parity(lambda f: f.t + pd.offsets.Hour(3), FRAME, ways=["jit"])


def test_wrong_uses():
    assert_same_error(lambda f: pd.offsets.MonthEnd() - f.t, FRAME)
    assert_same_error(lambda f: f.k + pd.DateOffset(months=1), FRAME)
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda f: f.t + pd.DateOffset(months=1))(on_device(FRAME))
