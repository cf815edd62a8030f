# SPDX-License-Identifier: Apache-2.0
"""Frames of equally many rows in arrays of different lengths."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import Bound, assert_same, on_device
from jaxframes.frame import JaxFrame, concat

NUM_ROWS, SIZE = 430, 200
LABELS = {
    "range": lambda count: pd.RangeIndex(count),
    "strings": lambda count: pd.Index([f"{row:03}" for row in range(count)]),
    "equal labels": lambda count: pd.Index(np.arange(count) // 2),
}
CALLS = {
    "assign": lambda a, b: a.assign(z=b.x, w=b.s),
    "arithmetic": lambda a, b: a.x + b.x,
    "arithmetic of frames": lambda a, b: a[["x", "n"]] + b[["x", "n"]],
    "arithmetic by rows": lambda a, b: a[["x", "n"]].add(b.x, axis=0),
    "strings": lambda a, b: a.s + b.s,
    "comparison": lambda a, b: a.s == b.s,
    "nullable comparison": lambda a, b: a.n > b.x,
    "where": lambda a, b: a.x.where(b.x > 3, b.x),
    "clip": lambda a, b: a.x.clip(b.x),
    "filter": lambda a, b: a[b.x > NUM_ROWS - 20],
    "loc": lambda a, b: a.loc[b.x > NUM_ROWS - 20],
    "fillna": lambda a, b: a.n.fillna(b.x),
    "combine_first": lambda a, b: a.n.combine_first(b.n),
    "groups": lambda a, b: a.groupby(b.s).x.sum(),
    "cat": lambda a, b: a.s.str.cat(b.s),
    "corr": lambda a, b: a.x.corr(b.x),
    "dot": lambda a, b: a.x.dot(b.x),
    "rolling": lambda a, b: a.x.rolling(3).corr(b.x),
    "equals": lambda a, b: a.equals(b),
    "align": lambda a, b: a.align(b)[1],
}


def last_rows(labels):
    """The last batch, and the frame of its rows."""
    rows = np.arange(NUM_ROWS)
    frame = pd.DataFrame({"x": rows, "s": pd.Series(rows % 7).astype("str"), "n": rows})
    frame["n"] = frame["n"].astype("Int64").where(rows % 3 > 0)
    frame.index = labels(NUM_ROWS)
    *_, batch = on_device(frame).lazy().batches(SIZE)
    return batch, frame.iloc[NUM_ROWS // SIZE * SIZE :]


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_the_rows_are_those_of_frames_of_one_length(call, labels):
    batch, rows = last_rows(labels)
    other = on_device(rows)
    lengths = {len(jax.tree.leaves(frame)[0]) for frame in (batch, other)}
    assert len(lengths) == 2
    expected = call(rows, rows)
    for a, b in ((batch, other), (other, batch)):
        assert_same(call(a, b), expected, Bound(4))


def test_columns_side_by_side():
    batch, rows = last_rows(LABELS["strings"])
    other = on_device(rows)
    expected = pd.concat([rows, rows.add_suffix("_r")], axis=1)
    assert_same(concat([batch, other.add_suffix("_r")], axis=1), expected)
    assert_same(JaxFrame({"a": batch.x, "b": other.x}), pd.DataFrame({"a": rows.x, "b": rows.x}))


def test_series_of_batches_beside_a_reduction_of_all_rows():
    frame = pd.DataFrame({"n": pd.array([3, None] * 65, "Int64"), "s": ["a", "b"] * 65, "x": 1.5})
    frame["s"] = frame["s"].astype("string")

    def steps(f):
        return f.assign(n=f.n - f.x.count(), z=f.s != "a")

    assert_same(steps(on_device(frame).lazy()).collect(batch_rows=100), steps(frame))
