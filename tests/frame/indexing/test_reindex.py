# SPDX-License-Identifier: Apache-2.0
"""reindex and reindex_like."""

import jax
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x", "s"]]


def test_columns_come_in_the_order_asked_for_and_new_ones_are_filled():
    def reindexed(f):
        return (
            f.reindex(columns=["s", "new", "k"]), f.reindex(["x"], axis=1),
            f.reindex(columns=["k", "new"], fill_value=0), f.reindex(columns=["k", "k"]),
        )  # fmt: skip

    assert_parity(reindexed, FRAME, ways=["jit"])


def test_its_own_columns_change_nothing():
    assert_parity(lambda f: f.reindex(columns=f.columns), FRAME, ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(lambda f: f.reindex(columns=["x", "new"]), FRAME[:num_rows], ways=["eager"])


def test_rows():
    assert_parity(
        lambda f: (
            f.reindex([5, 1, 99]),
            f.reindex(index=[5, 99], columns=["x", "new"]),
            f[["k", "x"]].reindex([5, 99], fill_value=7),
            f.k.reindex([1, 2]),
            f.k.reindex(pd.Index([3, 99], name="q")),
        ),
        FRAME,
        ways=["eager", "mesh"],
    )


def test_labels_of_other_types():
    frame = mixed_frame().drop_duplicates("s")
    keys = pd.MultiIndex.from_product([[0, 9], [True, False]], names=["k", "b"])
    assert_parity(
        lambda f: (
            f.set_index("s")[["k", "b", "t"]].reindex(["a", "nope", "b"]),
            f.drop_duplicates("t").set_index("t").k.reindex(pd.to_datetime(["2001-01-01"])),
            f.drop_duplicates(["k", "b"]).set_index(["k", "b"]).i.reindex(keys),
            f[["k"]].reindex([]),
            f[:0][["x"]].reindex([1]),
            f[["x"]].reindex_like(f[["k", "x"]][:3]),
            f.k.reindex_like(f[2:4].x),
        ),
        frame,
        ways=["eager"],
    )


def test_wrong_arguments():
    twice = FRAME[["k", "x"]].set_axis(["a", "a"], axis=1)
    assert_same_error(lambda f: f.reindex(columns=["a", "b"]), twice)
    message = assert_same_error(lambda f: f.set_index("k").reindex([0, 1]), FRAME)
    assert message == "cannot reindex on an axis with duplicate labels"
    with pytest.raises(NotImplementedError, match="method="):
        on_device(FRAME).reindex([2, 1], method="ffill")
    with pytest.raises(NotImplementedError, match="Merge with a frame of the labels"):
        jax.jit(lambda f: f.reindex([2, 1]))(on_device(FRAME))
