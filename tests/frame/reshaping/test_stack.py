# SPDX-License-Identifier: Apache-2.0
"""stack."""

import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same_error, on_device


def test_each_row_becomes_one_for_each_column():
    frame = mixed_frame().assign(i=lambda f: f.i.astype("int8"))
    assert_parity(
        lambda f: (f[["k", "i"]].stack(), f[["x", "f", "k"]].stack(), f[["s"]].stack()),
        frame[["k", "i", "x", "f", "s"]],
        ways=EVERYWHERE,
    )


def test_types_labels_and_names():
    frame = mixed_frame()
    assert_parity(
        lambda f: (
            f[["t"]].stack(),
            f[["d"]].stack(),
            f[["c"]].stack(),
            f[["b"]].stack(),
            f.set_index(["s", "k"])[["x", "y"]].rename_axis("n", axis=1).stack(),
            f[["x", "y"]].set_axis([7, 3], axis=1).stack(),
            f[:1][["x", "y"]].stack(),
            f[["x", "y"]][:0].stack(),
        ),
        frame,
        ways=["eager"],
    )


def test_levels_of_columns():
    frame = mixed_frame()[["k", "i", "x", "f"]]
    pairs = [("a", "p"), ("a", "q"), ("b", "p"), ("c", "q")]
    frame.columns = pd.MultiIndex.from_tuples(pairs, names=["l", "m"])
    assert_parity(lambda f: (f.stack(), f.stack("l"), f.stack([0, 1])), frame, ways=["eager"])


def test_wrong_uses():
    frame = mixed_frame()[["k", "s", "x"]]
    assert_same_error(lambda f: f.set_axis(["a", "a", "b"], axis=1).stack(), frame)
    assert_same_error(lambda f: f.stack("none"), frame)
    assert_parity(lambda f: f.stack(), frame, ways=["eager"])
    with pytest.raises(NotImplementedError, match="must have columns"):
        on_device(frame)[[]].stack()
    with pytest.raises(NotImplementedError, match="dropna"):
        on_device(frame).stack(future_stack=False)
