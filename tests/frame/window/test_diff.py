# SPDX-License-Identifier: Apache-2.0
"""diff."""

import numpy as np
import pandas as pd
from frame_examples import INTEGERS, integers, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def levels():
    return pd.DataFrame(
        {
            "u": np.array([3, 250, 0, 7], "uint8"),
            "x": [1.0, np.nan, np.inf, np.inf],
            "t": pd.to_datetime(["2020-01-01", "2020-03-01", None, "2019-01-01"]),
        }
    )


def test_periods_count_rows_back_or_ahead():
    def changes(f):
        return tuple(f.diff(periods) for periods in (0, 2, -3, 4))

    assert_parity(changes, levels(), ways=["eager"])
    assert_parity(lambda f: (f.u.diff(), f.t.diff(-1)), levels(), ways=["jit"])


def test_of_bools_says_where_they_change():
    flags = pd.Series([True, True, False, True])
    assert_parity(
        lambda s: (s.diff(), s.diff(-2), s[:1].diff(), s[:0].diff()), flags, ways=["eager", "mesh"]
    )


def test_summed_up_it_leads_from_the_first_value_to_the_last():
    column = on_device(mixed_frame()).i
    assert column.diff().sum() == int(column.iloc[-1]) - int(column.iloc[0])
    assert column.diff(3)[3:].tolist() == (column - column.shift(3))[3:].tolist()


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.k.diff(1.5), frame)
    assert_same_error(lambda f: f.s.diff(), frame)
    assert_same_error(lambda f: f.diff(axis=2), frame[["k"]])
    for periods in (True, np.False_, None, np.nan, 2**70):
        assert_same_error(lambda f, periods=periods: f.diff(periods), frame[["k"]])
    assert_same_error(lambda f: f.diff(axis=None), frame[["k"]])


def test_diff_and_pct_change():
    frame = mixed_frame()[["k", "i", "x", "y", "f", "b", "t", "d"]]
    relative = ["i", "x", "f", "d"]
    assert_parity(
        lambda f: (f.diff(), f.diff(-2), f[relative].pct_change(), f[relative].pct_change(-2)),
        frame,
    )
    assert_parity(lambda f: (f.diff(20), f.x.pct_change()), frame[["i", "x", "b"]], ways=["mesh"])
    numbers = pd.DataFrame({dtype: integers(dtype, seed=n) for n, dtype in enumerate(INTEGERS)})
    assert_parity(lambda f: (f.diff(), f.diff(2.0), f.diff(99)), numbers, ways=["eager"])
