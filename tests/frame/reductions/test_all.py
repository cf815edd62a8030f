# SPDX-License-Identifier: Apache-2.0
"""all."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_nothing_is_all_true():
    assert_parity(
        lambda f: (f.all(), f.x.all(), f.s.all(), f.all(axis=1)),
        mixed_frame()[["x", "s", "b"]][:0],
        ways=["eager"],
    )
    missing = pd.DataFrame({"n": [np.nan, np.nan]})
    assert_parity(lambda f: (f.all(), f.all(skipna=False), f.n.all(), f.all(axis=1)), missing)


def test_zeros_are_false_and_nan_is_true():
    frame = pd.DataFrame(
        {
            "x": [1.0, np.nan, -np.inf],
            "z": [-0.0, 1.0, 2.0],
            "b": [True, True, True],
            "u": np.array([1, 0, 255], "uint8"),
        }
    )
    assert_parity(
        lambda f: (f.all(), f.all(skipna=False), f.all(axis=1), f.all(axis=None), f.u.all()),
        frame,
        ways=["eager"],
    )
    assert_parity(lambda f: (f.all(bool_only=True), f.u[2:].all()), frame, ways=["eager"])


def test_a_comparison_that_holds_everywhere():
    ours = on_device(mixed_frame())
    assert bool((ours.k >= ours.k.min()).all())
    assert not bool((ours.k > ours.k.min()).all())
    assert bool((ours.k * 2 == ours.k + ours.k).all())


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.all(bogus=1), frame[["k"]])
    assert_same_error(lambda f: f[["k", "t"]].all(), frame)
    assert_same_error(lambda f: f.k.all(axis=1), frame)
    assert_same_error(lambda f: f.k.all(skipna=0), frame)
