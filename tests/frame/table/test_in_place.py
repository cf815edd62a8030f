# SPDX-License-Identifier: Apache-2.0
"""`inplace=True`: the frame holds the result of its own method."""

import warnings

import jax
import pandas as pd
import pytest
from frame_parity import assert_same, on_device
from jaxframes.frame import JaxFrame, JaxSeries

FRAME = pd.DataFrame({"k": [2, 1, 2], "x": [0.5, None, -1.0]}, index=["b", "c", "a"])
OF_BOTH = {
    "bfill": {},
    "clip": {"lower": 0},
    "drop": {"index": ["b"]},
    "drop_duplicates": {},
    "dropna": {},
    "ffill": {},
    "fillna": {"value": 3.0},
    "interpolate": {},
    "mask": {"cond": lambda data: data > 1},
    "rename_axis": {"index": "label"},
    "replace": {"to_replace": 0.5, "value": 9.0},
    "reset_index": {"drop": True},
    "sort_index": {},
    "where": {"cond": lambda data: data > 1},
}
OF_FRAMES = {
    **OF_BOTH,
    "drop": {"columns": "k"},
    "eval": {"expr": "y = x * 2"},
    "query": {"expr": "x > 0"},
    "rename": {"columns": {"x": "y"}},
    "set_index": {"keys": "k"},
    "sort_values": {"by": "k"},
}
OF_SERIES = {**OF_BOTH, "sort_values": {}}
CASES = [
    *((FRAME, name, options) for name, options in OF_FRAMES.items()),
    *((FRAME["x"], name, options) for name, options in OF_SERIES.items()),
]


@pytest.mark.parametrize(("data", "name", "options"), CASES)
def test_the_object_holds_the_result_and_is_returned_as_in_pandas(data, name, options):
    theirs, ours = data.copy(), on_device(data)
    with warnings.catch_warnings():
        # pandas intends to drop the argument from methods that change rows.
        warnings.simplefilter("ignore", pd.errors.Pandas4Warning)
        returned = getattr(theirs, name)(inplace=True, **options)
    got = getattr(ours, name)(inplace=True, **options)
    assert_same(ours, theirs)
    assert (got is ours) == (returned is theirs)
    assert (got is None) == (returned is None)


def test_columns_that_were_taken_before_keep_their_values():
    frame = JaxFrame(FRAME)
    column, copy = frame["x"], frame.copy()
    frame.fillna(0.0, inplace=True)
    assert_same(column, FRAME["x"])
    assert_same(copy, FRAME)


def test_where_no_object_could_hold_the_result():
    with pytest.raises(TypeError, match="Cannot reset_index inplace on a Series"):
        JaxSeries([1]).reset_index(inplace=True)
    with pytest.raises(ValueError, match='"inplace" expected type bool'):
        JaxFrame(FRAME).fillna(0, inplace=1)
    with pytest.raises(NotImplementedError, match=r"^fillna: inplace must be False inside jit"):
        jax.jit(lambda f: f.fillna(0, inplace=True))(JaxFrame(FRAME[["x"]]))
    with pytest.raises(NotImplementedError, match=r"^query: inplace must be False inside jit"):
        jax.jit(lambda f: f.query("x > 0", inplace=True))(JaxFrame(FRAME[["x"]]))
    with pytest.raises(NotImplementedError, match=r"^fillna: inplace must be False"):
        JaxFrame(FRAME).lazy().fillna(0, inplace=True)
