# SPDX-License-Identifier: Apache-2.0
"""equals."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import on_device

SERIES = pd.Series([1.0, np.nan, 0.0], name="x")
OTHERS = {
    "the same": SERIES.copy(),
    "another name": SERIES.rename("y"),
    "another dtype": SERIES.astype("float32"),
    "a zero of the other sign": pd.Series([1.0, np.nan, -0.0]),
    "a hole elsewhere": pd.Series([1.0, 0.0, np.nan]),
    "other labels": SERIES.set_axis([0, 1, 3]),
    "fewer rows": SERIES[:2],
    "no rows": SERIES[:0],
}


@pytest.mark.parametrize("what", OTHERS)
def test_of_series(what):
    ours, other = on_device(SERIES), on_device(OTHERS[what])
    assert ours.equals(other) == other.equals(ours) == SERIES.equals(OTHERS[what])


def test_of_frames_the_order_of_columns_counts():
    frame = pd.DataFrame({"x": [1, 2], "s": ["a", None]})
    assert on_device(frame).equals(on_device(frame.copy()))
    assert not on_device(frame).equals(on_device(frame[["s", "x"]]))
    assert on_device(frame[[]]).equals(on_device(frame[[]]))


def test_anything_else_is_not_equal():
    ours = on_device(SERIES)
    assert not any(ours.equals(other) for other in (None, 1.0, [1.0], SERIES.to_numpy()))
    assert not ours.equals(on_device(SERIES.to_frame()))
