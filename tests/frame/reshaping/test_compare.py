# SPDX-License-Identifier: Apache-2.0
"""compare."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame(40)[["k", "x", "f", "s", "b", "t"]]
OTHER = FRAME.copy()
OTHER.loc[3, "x"], OTHER.loc[5, "x"], OTHER.loc[9, "k"], OTHER.loc[6, "s"] = 7.0, np.nan, -5, "zz"


@pytest.mark.parametrize("keep_shape", [False, True])
@pytest.mark.parametrize("keep_equal", [False, True])
@pytest.mark.parametrize("align_axis", [0, 1])
def test_differences(keep_shape, keep_equal, align_axis):
    options = {"keep_shape": keep_shape, "keep_equal": keep_equal, "align_axis": align_axis}
    assert_parity(
        lambda f, g: (
            f.compare(g, **options),
            f.x.compare(g.x, **options),
            f.s.compare(g.s, **options),
            f[:0].compare(g[:0], **options),
            f.compare(f, result_names=("before", "after"), **options),
            f.rename_axis(columns="c").compare(g.rename_axis(columns="c"), **options),
        ),
        FRAME,
        OTHER,
        ways=["eager", "mesh"],
    )


def test_inside_jit():
    assert_parity(
        lambda f: (
            f.compare(f.assign(k=f.k.clip(3)), keep_shape=True),
            f.x.compare(f.x.clip(0), keep_shape=True, keep_equal=True),
            f.compare(f.assign(k=f.k.clip(3)), "index", keep_shape=True),
            f.x.compare(f.k, 0, keep_shape=True, keep_equal=True),
        ),
        FRAME[["k", "x"]],
        ways=["jit"],
    )
    with pytest.raises(NotImplementedError, match="keep_shape=True"):
        jax.jit(lambda f: f.compare(f))(on_device(FRAME[["k"]]))


def test_wrong_uses():
    assert_same_error(lambda f: f.compare(f.x), FRAME)
    assert_same_error(lambda f: f.compare(f, result_names=["a", "b"]), FRAME)
    assert_same_error(lambda f: f.compare(f.rename(columns={"x": "y"})), FRAME)
    assert_same_error(lambda f: f.compare(f[:3]), FRAME)
    assert_same_error(lambda f: f.compare(f, align_axis=2), FRAME)


def test_rows_of_both_below_labels_of_several_levels():
    assert_parity(
        lambda f, g: (
            f.set_index(["b", "t"]).compare(g.set_index(["b", "t"]), align_axis=0),
            f.set_index("s").x.compare(f.set_index("s").k, align_axis=0),
            f.x.compare(g.x, align_axis=0, result_names=("before", "after")).unstack(),
        ),
        FRAME,
        OTHER,
        ways=["eager", "mesh"],
    )


@pytest.mark.parametrize("keep_shape", [False, True])
def test_a_value_differs_from_a_missing_one(keep_shape):
    frame = pd.DataFrame({"a": [1, 2, None, None]}, dtype="Int64")
    other = pd.DataFrame({"a": [1, None, 3, None]}, dtype="Int64")
    for axis in (0, 1):
        how = {"keep_shape": keep_shape, "align_axis": axis}
        assert_parity(lambda f, g, how=how: f.compare(g, **how), frame, other, ways=["eager"])
