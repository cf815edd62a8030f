# SPDX-License-Identifier: Apache-2.0
import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_between_and_clip():
    def everything(f):
        return (
            f.x.between(-0.5, 1), f.i.between(-10, 500, inclusive="neither"),
            f.s.between("a", "c", inclusive="right"), f.x.between(f.f, 2.0, inclusive="left"),
            f.t.between(pd.Timestamp("1980-01-01"), pd.Timestamp("1999-01-01")),
            f.x.clip(-0.5, 0.5), f.i.clip(upper=3), f.i.clip(5, -5), f.y.clip(lower=f.x),
            f[["i", "x"]].clip(0, 1), f.f.clip(0.25),
        )  # fmt: skip

    assert_parity(everything, mixed_frame(), ways=["eager", "jit"])


def test_integers_stay_integers_where_no_bound_of_floats_lies_inside():
    frame = pd.DataFrame({"i": [3, 5], "low": [2.5, 5.0], "high": [4.5, np.nan]})
    for few in (frame, frame[:1], frame[:0]):
        assert_parity(
            lambda f: (f.i.clip(f.low, f.high), f.i.clip(upper=f.low), f.i.clip(lower=f.high)),
            few,
            ways=["eager"],
        )


def test_equals():
    frame = mixed_frame()
    others = [
        frame.copy(), frame.assign(i=frame.i.astype("float64")), frame.assign(x=frame.x + 1),
        frame.rename(columns={"i": "j"}), frame[:-1], frame.set_index("i"), frame.assign(s="a"),
    ]  # fmt: skip
    for other in others:
        assert on_device(frame).equals(on_device(other)) == frame.equals(other)
    assert not on_device(frame).equals(frame)
    assert on_device(frame.x).equals(on_device(frame.x.rename("z")))


def test_wrong_uses():
    frame = mixed_frame()
    assert "Inclusive" in assert_same_error(lambda f: f.x.between(0, 1, inclusive="no"), frame)
    with pytest.raises(NotImplementedError, match="inplace"):
        on_device(frame).clip(0, 1, inplace=True)
    with pytest.raises(NotImplementedError, match="jit"):
        jax.jit(lambda f: f.equals(f))(on_device(frame))
