# SPDX-License-Identifier: Apache-2.0
"""any."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def truths():
    return pd.DataFrame(
        {
            "i": [0, 0, 0],
            "x": [0.0, np.nan, -0.0],
            "n": [np.nan] * 3,
            "b": [False, True, False],
            "d": pd.to_timedelta([0, 0, None]),
        }
    )


def test_a_missing_value_is_true_unless_it_is_left_out():
    assert_parity(lambda f: (f.any(), f.any(skipna=False)), truths(), ways=["eager"])
    assert_parity(
        lambda f: (f.any(), f.any(axis=1), f.any(axis=1, skipna=False), f.x.any(skipna=False)),
        truths()[["i", "x", "b"]],
        ways=["jit"],
    )


def test_bool_only_takes_columns_of_bools():
    assert_parity(
        lambda f: (f.any(bool_only=True), f[["i"]].any(bool_only=True), f[:0].any()),
        truths(),
        ways=["eager"],
    )
    assert_parity(lambda f: f.any(axis=1, bool_only=True), truths(), ways=["eager"])


def test_strings_are_true_unless_empty():
    words = pd.Series(["", None, "b"])
    assert_parity(
        lambda s: (s.any(), s[:1].any(), s[:2].any(skipna=False), s[:0].any()),
        words,
        ways=["eager"],
    )


def test_is_not_all_of_the_opposite():
    ours = on_device(mixed_frame()[["b", "k"]])
    mask = ours > 0
    assert mask.any().tolist() == (~(~mask).all()).tolist()
    assert mask.any(axis=None) == mask.any().any()


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.any(axis=2), frame[["k"]])
    assert_same_error(lambda f: f.k.any(numeric_only=True), frame)
    assert_same_error(lambda f: f.t.any(), frame)
    assert_same_error(lambda f: f.c.any(), frame)
