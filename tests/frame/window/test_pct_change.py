# SPDX-License-Identifier: Apache-2.0
"""pct_change."""

import numpy as np
import pandas as pd
from frame_examples import integers, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame()[["i", "x", "f"]].assign(u=integers("uint8"))


def test_of_integers_floats_and_what_is_divided_by_zero():
    assert_parity(lambda f: f.pct_change(), FRAME, ways=["eager", "jit"])
    series = pd.Series([0.0, 1.0, np.nan, 2.0, np.inf, -0.0, 3.0])
    assert_parity(lambda s: s.pct_change(), series, ways=["eager"])


def test_periods_back_ahead_and_beyond_the_rows():
    def changes(f):
        return tuple(f.pct_change(periods) for periods in (0, 3, -2, 37))

    assert_parity(changes, FRAME, ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(changes, FRAME[:num_rows], ways=["eager"])


def test_changes_lead_from_the_first_value_to_the_last():
    prices = on_device(pd.Series([64.0, 32.0, 48.0, 96.0]))
    assert ((prices.pct_change()[1:] + 1.0).prod() * 64.0) == 96.0


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert "'s'" in assert_same_error(lambda f: f[["s"]].pct_change(), frame)
    assert_same_error(lambda f: f.x.pct_change(fill_method="ffill"), frame)
    for periods in ("1", "a", 1.5, 1.0, None, np.nan, np.inf, 2**70):
        assert_same_error(lambda f, periods=periods: f.x.pct_change(periods), frame)


def test_changes_from_column_to_column():
    def changes(f):
        return f.pct_change(axis=1), f.pct_change(-2, axis="columns")

    assert_parity(changes, FRAME[["x", "f", "i"]].astype("float64"))
