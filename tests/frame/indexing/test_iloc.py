# SPDX-License-Identifier: Apache-2.0
"""iloc."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x", "s"]]


def test_one_row_and_one_value():
    assert_parity(lambda f: (f.iloc[3], f.iloc[-1], f.iloc[np.int8(0)]), FRAME, ways=["eager"])
    assert_parity(lambda f: (f.x.iloc[3], f.s.iloc[-2], f.iloc[1, 0]), FRAME, ways=["eager"])
    assert_parity(lambda f: f.iloc[0], FRAME[:1], ways=["eager"])


def test_slices():
    def of_front(f):
        return f.iloc[2:5], f.iloc[:99], f.iloc[5:2], f.iloc[1::7], f.x.iloc[3:]

    assert_parity(of_front, FRAME)
    for num_rows in (0, 1):
        assert_parity(of_front, FRAME[:num_rows], ways=["eager"])
    assert_parity(lambda f: (f.iloc[-3:], f.iloc[::-3], f.s.iloc[:-30]), FRAME, ways=["eager"])
    assert_parity(lambda f: f.iloc[5:20], FRAME, ways=["mesh"])


def test_lists_and_masks():
    flags = [True, False, True] * 12 + [False]

    def picked(f):
        return (
            f.iloc[[0, -1, 0]], f.iloc[[]], f.x.iloc[[3]], f.iloc[np.array([2, 1])],
            f.iloc[flags], f.s.iloc[np.array(flags)], f.iloc[lambda g: [1, 0]],
        )  # fmt: skip

    assert_parity(picked, FRAME, ways=["eager"])
    assert_parity(lambda f: f.iloc[[]], FRAME[:0], ways=["eager"])


def test_positions_in_a_series():
    def picked(f):
        return (
            f.iloc[f.k.argsort()], f.iloc[(f.x - 1).abs().argsort()[:1]],
            f.s.iloc[f.k.argsort()[::-1]], f.iloc[f.k.argsort(), 0], f.iloc[np.argsort(f.k)],
        )  # fmt: skip

    rows = pd.DataFrame({"k": [3, 1, 2], "x": [0.5, 4.0, 2.25], "s": ["a", None, "b"]})
    assert_parity(picked, rows, ways=["eager", "mesh"])
    for run in (lambda f: f.iloc[f.k], lambda f: f.loc[:, f.nunique() > 1]):
        with pytest.raises(NotImplementedError, match="inside jit"):
            jax.jit(run)(on_device(FRAME[["k", "x"]]))


def test_rows_and_columns():
    def picked(f):
        return (
            f.iloc[:, 1], f.iloc[2:4, [0, 2]], f.iloc[:, -1], f.iloc[[1], 1:], f.iloc[0, :2],
            f.iloc[5:, [True, False, True]], f.iloc[:, ::-1],
        )  # fmt: skip

    assert_parity(picked, FRAME, ways=["eager"])
    assert_parity(lambda f: (f.iloc[:5, 1], f.iloc[2:, [0]]), FRAME, ways=["jit"])


@pytest.mark.parametrize(
    "wrong",
    [
        lambda f: f.iloc[37],
        lambda f: f.iloc[-38],
        lambda f: f.iloc[[0, 37]],
        lambda f: f[:0].iloc[0],
        lambda f: f.iloc[0, 3],
        lambda f: f.iloc[0, [3]],
        lambda f: f.iloc[0, 0, 0],
        lambda f: f.x.iloc[0, 0],
        lambda f: f.iloc["a"],
        lambda f: f.iloc[1.0],
        lambda f: f.iloc[True],
        lambda f: f.iloc[None],
        lambda f: f.iloc["a":"b"],
        lambda f: f.iloc[["a"]],
        lambda f: f.iloc[[True, False]],
    ],
)
def test_wrong_places_are_pandas_errors(wrong):
    assert_same_error(wrong, FRAME)


def test_single_rows_are_not_known_inside_jit():
    ours = on_device(FRAME)
    for single in (lambda f: f.iloc[3], lambda f: f.x.iloc[[1]], lambda f: f.iloc[-3:]):
        with pytest.raises(NotImplementedError, match="inside jit"):
            jax.jit(single)(ours)
