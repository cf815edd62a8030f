# SPDX-License-Identifier: Apache-2.0
"""equals."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
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


def test_frames_that_differ_in_one_thing():
    frame = mixed_frame()
    others = [
        frame.copy(), frame.assign(i=frame.i.astype("float64")), frame.assign(x=frame.x + 1),
        frame.rename(columns={"i": "j"}), frame[:-1], frame.set_index("i"), frame.assign(s="a"),
    ]  # fmt: skip
    for other in others:
        assert on_device(frame).equals(on_device(other)) == frame.equals(other)
    assert not on_device(frame).equals(frame)
    assert on_device(frame.x).equals(on_device(frame.x.rename("z")))


def test_not_inside_jit():
    with pytest.raises(NotImplementedError, match="jit"):
        jax.jit(lambda f: f.equals(f))(on_device(mixed_frame()))


def test_categories_in_another_order():
    values, kinds = ["a", "b", None], [["a", "b"], ["b", "a"], ["b", "a", "c"]]
    columns = [
        pd.Series(pd.Categorical(values, categories=kind, ordered=ordered))
        for kind in kinds
        for ordered in (False, True)
    ]
    for one in columns:
        for other in (*columns, columns[0][::-1]):
            assert on_device(one).equals(on_device(other)) == one.equals(other)
