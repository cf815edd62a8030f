# SPDX-License-Identifier: Apache-2.0
"""insert."""

import numpy as np
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x"]]


def _inserted(f):
    f = f.copy()
    f.insert(0, "first", f["x"])
    f.insert(3, "last", 1.5)
    f.insert(2, "words", "a")
    return f


def test_what_is_inserted_can_be_popped():
    ours = on_device(FRAME)
    ours.insert(1, "new", FRAME["x"] * 2)
    assert_same(ours.pop("new"), (FRAME["x"] * 2).rename("new"))
    assert_same(ours, FRAME)


def test_values_are_scalars_arrays_or_series():
    assert_parity(_inserted, FRAME, ways=["jit"])

    def inserted(f):
        f = f.copy()
        f.insert(f.shape[1], "array", np.arange(len(f)))
        f.insert(0, "k", 7, allow_duplicates=True)
        return f

    for num_rows in (0, 1, 37):
        assert_parity(inserted, FRAME[:num_rows], ways=["eager"])


def test_a_table_of_one_column_is_that_column():
    def inserted(f):
        f = f.copy()
        f.insert(1, "new", f[["x"]])
        f.insert(0, "matrix", np.ones((len(f), 1)))
        f.insert(0, "none", [None] * len(f))
        return f

    for num_rows in (0, 1, 37):
        assert_parity(inserted, FRAME[:num_rows], ways=["eager"])


def test_another_frame_keeps_its_columns():
    ours = on_device(FRAME)
    other = ours.copy()
    other.insert(0, "new", 1)
    assert list(other.columns) == ["new", "k", "x"]
    assert_same(ours, FRAME)


def test_wrong_arguments():
    assert_same_error(lambda f: f.copy().insert(0, "k", 1), FRAME)
    assert_same_error(lambda f: f.copy().insert(9, "new", 1), FRAME)
    assert_same_error(lambda f: f.copy().insert(0, "new", [1, 2]), FRAME)
    assert_same_error(lambda f: f.copy().insert(0, "new", f), FRAME)
