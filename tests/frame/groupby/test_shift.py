# SPDX-License-Identifier: Apache-2.0
"""groupby.shift."""

import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_no_periods_and_more_than_there_are_rows():
    def shifted(f):
        grouped = f.groupby("k")
        return tuple(grouped.shift(periods) for periods in (0, 50, -50))

    assert_parity(shifted, mixed_frame()[["k", "x", "s", "t"]], ways=["eager"])


def test_down_and_up_again_only_loses_ends():
    frame = JaxFrame(mixed_frame()[["k", "i"]])
    back = frame.assign(i=frame.groupby("k").i.shift(2)).groupby("k").i.shift(-2).to_pandas()
    kept = back.dropna()
    pd.testing.assert_series_equal(kept, mixed_frame().i[kept.index].astype("float64"))
    assert len(kept) == 37 - 2 * 5


def test_integers_with_holes_become_floats():
    frame = pd.DataFrame({"k": [1, 2, 1], "i": [1, 2, 3], "x": [0.5, 1.5, 2.5]})
    assert_parity(lambda f: f.groupby("k").shift(-1), frame, ways=["jit"])


def test_periods_are_an_integer():
    frame = mixed_frame()[["k", "x"]]
    assert_same_error(lambda f: f.groupby("k").shift("2"), frame)
    with pytest.raises(NotImplementedError, match="fillna"):
        JaxFrame(frame).groupby("k").shift(fill_value=0.0)
    with pytest.raises(NotImplementedError, match="periods must be one integer"):
        JaxFrame(frame).groupby("k").shift([1, 2])


def test_no_periods_leave_rows_in_no_group_as_they_are():
    frame = pd.DataFrame(
        {"k": [1.0, None, 1.0, None], "i": [1, 2, 3, 4], "s": ["a", None, "b", ""]}
    )
    assert_parity(lambda f: f.groupby("k").shift(0), frame, ways=["eager", "jit"])
