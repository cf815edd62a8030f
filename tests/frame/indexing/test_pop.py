# SPDX-License-Identifier: Apache-2.0
"""pop and `del`."""

import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import EVERYWHERE, assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x", "s"]]


def popped(f):
    f = f.copy()
    return f.pop("x"), f


def deleted(f):
    f = f.copy()
    del f["k"]
    return f


def test_a_column_leaves_the_frame():
    assert_parity(popped, FRAME, ways=EVERYWHERE)
    assert_parity(deleted, FRAME)
    for num_rows in (0, 1):
        assert_parity(lambda f: (*popped(f), deleted(f)), FRAME[:num_rows], ways=["eager"])


def test_the_last_column_leaves_the_rows():
    assert_parity(popped, FRAME[["x"]].set_axis(range(5, 42)), ways=["eager"])


def test_another_frame_keeps_its_columns():
    ours = on_device(FRAME)
    other = ours.copy()
    other.pop("x")
    assert list(other.columns) == ["k", "s"]
    assert_same(ours, FRAME)


def test_labels_that_are_not_there():
    assert "no" in assert_same_error(lambda f: f.pop("no"), FRAME)
    assert_same_error(lambda f: popped(popped(f)[1]), FRAME)
    assert_same_error(lambda f: deleted(f[["x"]]), FRAME)


def test_all_columns_of_a_label_leave_the_frame():
    assert_parity(popped, FRAME.set_axis(["x", "x", "s"], axis=1), ways=["eager"])
    levels = pd.MultiIndex.from_tuples([("x", ""), ("y", "p"), ("z", "")])
    for label in ("x", "y", ("y", "p")):

        def popped_label(f, label=label):
            f = f.copy()
            return f.pop(label), f

        assert_parity(popped_label, FRAME.set_axis(levels, axis=1), ways=["eager"])


def test_a_row_leaves_a_series():
    frame = FRAME.dropna().drop_duplicates("s")
    theirs, ours = frame.set_index("s").x, on_device(frame).set_index("s").x
    assert ours.pop("straße") == theirs.pop("straße")
    assert_same(ours, theirs)
    assert_same_error(lambda f: f.x.pop("none"), FRAME)
    with pytest.raises(IndexError, match="must name one row"):
        on_device(FRAME.set_index("k")).x.pop(1)


def test_a_deleted_label():
    series = pd.Series([1, 2, 3], index=list("aba"))
    ours = on_device(series)
    del series["a"], ours["a"]
    assert_same(ours, series)
    with pytest.raises(KeyError, match="z"):
        del ours["z"]
