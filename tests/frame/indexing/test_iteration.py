# SPDX-License-Identifier: Apache-2.0
"""Iteration over values, column labels and rows; `in`."""

import jax
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_same, on_device
from jaxframes.frame import JaxFrame, JaxSeries


def test_a_series_yields_its_values():
    frame = mixed_frame()
    frame["n"] = frame["x"].notna()
    frame["o"] = [[1], None, "a"] * 12 + [2]
    ours = JaxFrame(frame)
    for label in frame:
        expected, got = list(frame[label]), list(ours[label])
        assert [type(one) for one in got] == [type(one) for one in expected], label
        pd.testing.assert_series_equal(pd.Series(got), pd.Series(expected))
    assert max(ours.k) == max(frame.k)
    assert sum(ours.i) == sum(frame.i)
    assert list(zip(ours.k, ours.b, strict=True)) == list(zip(frame.k, frame.b, strict=True))
    assert list(JaxSeries(frame.k[:0])) == []


def test_in_looks_at_the_labels():
    frame = pd.DataFrame({"x": [5, 6]}, index=["a", "b"])
    for f in (frame, JaxFrame(frame)):
        assert ("a" in f.x, 5 in f.x, 0 in f.x) == (True, False, False)
        assert (1 in f.x.reset_index(drop=True), 5 in f.x.reset_index(drop=True)) == (True, False)
        assert ("x" in f, "a" in f, list(f)) == (True, False, ["x"])


@pytest.mark.parametrize("num_rows", [0, 1, 37])
def test_iterrows_yields_labels_with_rows(num_rows):
    frame = mixed_frame()[:num_rows].set_index("s")
    for few in (frame, frame[["k", "i"]], frame[["k", "x"]]):
        rows = list(on_device(few).iterrows())
        assert len(rows) == num_rows
        for (label, row), (expected_label, expected) in zip(rows, few.iterrows(), strict=True):
            assert_same(label, expected_label)
            assert_same(row, expected)


@pytest.mark.parametrize("num_rows", [0, 1, 37])
def test_itertuples_yields_named_tuples(num_rows):
    frame = mixed_frame()[:num_rows].assign(**{"no name": 1})
    ours = on_device(frame)
    for how in ({}, {"index": False}, {"name": "Row"}, {"name": None}):
        for got, expected in zip(ours.itertuples(**how), frame.itertuples(**how), strict=True):
            assert type(got).__name__ == type(expected).__name__
            assert getattr(got, "_fields", None) == getattr(expected, "_fields", None)
            assert_same(tuple(got), tuple(expected))
    assert list(on_device(frame[[]]).itertuples()) == list(frame[[]].itertuples())


@pytest.mark.parametrize("use", [list, max, lambda s: 1 in s])
def test_rows_are_not_iterated_inside_jit(use):
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(use)(JaxSeries([1, 2]))


@pytest.mark.parametrize("use", [JaxFrame.iterrows, JaxFrame.itertuples])
def test_rows_of_frames_are_not_iterated_inside_jit(use):
    with pytest.raises(NotImplementedError, match="jit"):
        jax.jit(lambda f: list(use(f)))(JaxFrame({"x": [1, 2]}))
