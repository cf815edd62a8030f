# SPDX-License-Identifier: Apache-2.0
"""Names that a caller gives to the index of a frame are those of the frame."""

import jax
import pandas as pd
import pytest
from jaxframes.frame import JaxFrame, JaxSeries

FRAME = pd.DataFrame({"a": [1, 2, 3]}, index=[4, 5, 6])


def test_name_of_the_index_is_set():
    frame, expected = JaxFrame(FRAME), FRAME.copy()
    for one in (frame, expected):
        one.index.name = "day"
        assert one.index.name == "day"
    pd.testing.assert_frame_equal(frame.reset_index().to_pandas(), expected.reset_index())
    pd.testing.assert_frame_equal(frame.head(2).to_pandas(), expected.head(2))


def test_range_and_series():
    series = JaxSeries([1, 2])
    series.index.name = "row"
    assert series.reset_index(name="x").columns.tolist() == ["row", "x"]


def test_levels():
    labels = pd.MultiIndex.from_tuples([(1, "x"), (2, "y")])
    frame = JaxFrame(pd.DataFrame({"a": [1, 2]}, index=labels))
    frame.index.names = ["number", "letter"]
    assert frame.reset_index().columns.tolist() == ["number", "letter", "a"]


@pytest.mark.parametrize("rename", ["rename", "set_names"])
def test_in_place_methods_of_the_index(rename):
    frame = JaxFrame(FRAME)
    getattr(frame.index, rename)("day", inplace=True)
    assert frame.reset_index().columns.tolist() == ["day", "a"]


def test_index_that_is_still_held():
    frame = JaxFrame(FRAME)
    index = frame.index
    assert len(frame) == 3
    for name in ("first", "second"):
        index.name = name
        assert frame.index.name == name
        assert jax.jit(lambda frame: frame.reset_index())(frame).columns.tolist() == [name, "a"]
    frame.index = [7, 8, 9]
    index.name = "third"
    assert frame.index.name is None


def test_results_before_and_other_frames_keep_their_names():
    frame = JaxFrame(FRAME)
    before, copied = frame.head(2), frame.copy()
    frame.index.name = "day"
    assert before.index.name is None
    assert copied.index.name is None
