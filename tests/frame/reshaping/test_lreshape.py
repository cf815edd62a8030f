# SPDX-License-Identifier: Apache-2.0
"""lreshape."""

import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_operations import functions_for
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import lreshape

FRAME = mixed_frame()[["x", "k", "s", "t", "f", "i"]].assign(u=mixed_frame(seed=3).s)


def reshaped(f, *args, **options):
    return functions_for(f).lreshape(f, *args, **options)


def test_columns_below_each_other():
    def found(f):
        return (
            reshaped(f[["x", "k", "f"]], {"v": ["x", "f"]}),
            reshaped(f, {"v": ["x", "f"], "w": ["s", "u"]}, dropna=False),
            reshaped(f, {"v": ["k", "x"], "w": ["s", "u"]}),
            reshaped(f[["i", "k", "t"]], {"n": ["i", "k"]}),
            reshaped(f[["x", "k"]], {"x": ["x"]}),
        )

    assert_parity(found, FRAME, ways=EVERYWHERE)
    assert_parity(found, FRAME[:0], ways=["eager"])


def test_repeated_columns_keep_their_dtype():
    frame = mixed_frame()[["k", "i", "c", "s"]]
    got = lreshape(on_device(frame), {"n": ["k", "i"]})[["c", "s"]]
    assert_same(got, pd.concat([frame[["c", "s"]]] * 2, ignore_index=True))


def test_wrong_uses():
    assert_same_error(lambda f: reshaped(f, {"a": ["x", "f"], "b": ["k"]}), FRAME)
    assert_same_error(lambda f: reshaped(f, {"a": ["x", "none"]}), FRAME)
    with pytest.raises(TypeError, match="must be a JaxFrame"):
        lreshape(FRAME, {"a": ["x", "f"]})
