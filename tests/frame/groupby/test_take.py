# SPDX-License-Identifier: Apache-2.0
"""groupby.take."""

import jax
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame(60)[["k", "s", "x", "b"]]


def test_rows_at_positions():
    assert_parity(
        lambda f: (
            f.groupby("k").take([0, 2]),
            f.groupby("k").take([1, -1, 1]),
            f.groupby("b").x.take([3]),
            f.groupby(["b", "k"])[["s", "b"]].take([0]),
            f.groupby("s", dropna=False, sort=False).take([0, -1]),
            f.groupby("k", as_index=False).take([0]),
            f.set_index(["s", "x"]).groupby("k").take([0]),
            f.groupby("k").take([]),
        ),
        FRAME,
        ways=["eager", "mesh"],
    )


def test_wrong_uses():
    assert_same_error(lambda f: f.groupby("k").take([40]), FRAME)
    assert_same_error(lambda f: f.groupby("k").take([-40]), FRAME)
    ours = on_device(FRAME)
    with pytest.raises(TypeError, match="list of integers"):
        ours.groupby("k").take([0.5])
    with pytest.raises(NotImplementedError, match=r"nth\(\)"):
        jax.jit(lambda f: f.groupby("k").take([0]))(ours)
