# SPDX-License-Identifier: Apache-2.0
"""groupby.diff."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import integers, mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_it_undoes_cumsum():
    frame = mixed_frame()[["k", "i"]]
    ours = JaxFrame(frame)
    undone = ours.assign(i=ours.groupby("k").i.cumsum()).groupby("k").i.diff().to_pandas()
    kept = undone.dropna()
    pd.testing.assert_series_equal(kept, frame.i[kept.index].astype("float64"))
    assert len(kept) == 37 - frame.k.nunique()


def test_narrow_integers_give_float32_and_others_float64():
    frame = pd.DataFrame(
        {"k": np.arange(37) % 4, "u": integers("uint8"), "h": integers("int16"), "w": range(37)}
    )
    assert_parity(lambda f: f.groupby("k").diff(), frame, ways=["jit"])


def test_periods_beyond_the_group_and_times():
    def changes(f):
        grouped = f.groupby("k")
        return grouped.diff(-2), grouped.diff(50)

    assert_parity(changes, mixed_frame()[["k", "x", "t", "d"]], ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "x", "c", "b"]]
    assert_same_error(lambda f: f.groupby("k").x.diff("1"), frame)
    assert "'c'" in assert_same_error(lambda f: f.groupby("k").c.diff(), frame)
    with pytest.raises(NotImplementedError, match="Cast it to an integer"):
        JaxFrame(frame).groupby("k").b.diff()


def test_no_periods_keep_the_dtype_of_wide_integers():
    frame = pd.DataFrame({"k": [1.0, None, 1.0], "w": [1, 2, 3], "n": integers("int8")[:3]})
    assert_parity(lambda f: f.groupby("k").diff(0), frame, ways=["eager", "jit"])
