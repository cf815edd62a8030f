# SPDX-License-Identifier: Apache-2.0
"""select."""

import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import col

FRAME = mixed_frame()[["k", "i", "x", "s", "c"]]


def test_labels_expressions_and_values():
    def found(f):
        return (
            f.select("x", "k"), f.select(["s"]), f.select("k", "k", "c"), f.select(),
            f.select("s", pd.col("i") * 2, "i", total=pd.col("i") + pd.col("k")),
            f.select(a=lambda f: f.x + 1, b=pd.col("a") * 2, c=7), f.select("i", i=pd.col("i") + 1),
            f.select(z=f.x), f.select(pd.col("i"), "x"),
        )  # fmt: skip

    assert_parity(found, FRAME, ways=["eager", "jit", "mesh"])
    assert_parity(found, FRAME.set_index("c", drop=False)[:0], ways=["eager"])


def test_our_expressions_and_duplicate_labels():
    ours = on_device(FRAME)
    expected = FRAME.select("s", pd.col("i") + 1)
    pd.testing.assert_frame_equal(ours.select("s", col("i") + 1).to_pandas(), expected)
    twice = FRAME[["k", "x", "k"]]
    assert_parity(lambda f: (f.select("k", "x"), f.select(["k", "k"])), twice, ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    for wrong in (
        lambda f: f.select("k", "none"),
        lambda f: f.select(pd.col("i"), "none"),
        lambda f: f.select(["k"], "i"),
        lambda f: f.select({"k"}),
        lambda f: f.select(pd.col("i") + pd.col("k")),
        lambda f: f.select(pd.col("i").sum()),
    ):
        assert_same_error(wrong, FRAME)
    levels = on_device(FRAME[["k"]].set_axis(pd.MultiIndex.from_tuples([("a", "b")]), axis=1))
    with pytest.raises(NotImplementedError, match="one level"):
        levels.select(("a", "b"))
