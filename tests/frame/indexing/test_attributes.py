# SPDX-License-Identifier: Apache-2.0
"""Attributes of frames and series: size, labels, dtypes and names."""

import copy

import jax
import pandas as pd
import pytest
from frame_examples import complexes, mixed_frame
from frame_parity import assert_same, on_device

FRAMES = {
    "many": mixed_frame(),
    "one": mixed_frame(1),
    "no rows": mixed_frame(0),
    "no columns": mixed_frame()[[]],
    "levels": mixed_frame().set_index(["s", "k"]).rename_axis(columns="all"),
}


@pytest.mark.parametrize("case", FRAMES)
def test_sizes_and_labels(case):
    frame = FRAMES[case]
    ours = on_device(frame)
    assert (ours.shape, ours.size, ours.ndim) == (frame.shape, frame.size, frame.ndim)
    assert (len(ours), ours.empty) == (len(frame), frame.empty)
    assert_same(ours.columns, frame.columns)
    assert_same(ours.index, frame.index)
    assert_same(tuple(ours.axes), tuple(frame.axes))
    for label, series in frame.items():
        got = ours[label]
        assert (got.shape, got.size, got.ndim) == (series.shape, series.size, series.ndim)
        assert (got.name, got.empty) == (label, series.empty)


def test_dtypes():
    frame = pd.concat([mixed_frame(), complexes()[["z", "w"]]], axis=1)
    for few in (frame, frame[:0], frame[[]]):
        ours = on_device(few)
        pd.testing.assert_series_equal(ours.dtypes, few.dtypes)
        for label in few:
            assert ours[label].dtype == ours[label].dtypes == few[label].dtype


def test_a_name_may_be_set_and_is_hashable():
    series = on_device(mixed_frame()["x"])
    for name in ("new", None, 3, ("a", 1)):
        series.name = name
        assert series.name == name
        assert_same(series, mixed_frame()["x"].rename(name))
    with pytest.raises(TypeError, match="hashable"):
        series.name = ["x"]


def test_size_is_an_array_inside_jit():
    frame = mixed_frame()
    ours = on_device(frame)

    @jax.jit
    def sizes(f):
        rows = f[f.k > 1]
        return rows.shape, rows.size, rows.x.size, f.empty, f[f.k > 9].empty

    shape, size, of_series, is_empty, none_left = sizes(ours)
    expected = frame[frame.k > 1]
    assert tuple(map(int, shape)) == expected.shape
    assert (int(size), int(of_series)) == (expected.size, len(expected))
    assert (bool(is_empty), bool(none_left)) == (False, True)
    with pytest.raises(NotImplementedError, match="shape"):
        jax.jit(len)(ours)


def test_columns_with_leading_underscores():
    frame = pd.DataFrame({"_k": [1, 2, 1], "_id": [3, 5, 4], "x": [1.0, 2.0, 4.0]})

    def run(f):
        joined = f.merge(f[f._k == 1], on="_id", how="left", indicator=True)
        return (
            f[f._id > 3]._k,
            joined[joined._merge == "left_only"][["_id"]],
            f.groupby("x")._id.max(),
        )

    expected = run(frame)
    ours = on_device(frame)
    assert_same(run(ours), expected)
    assert_same(tuple(one.collect() for one in run(ours.lazy())), expected)
    assert_same(ours.rolling(2)._id.sum(), frame.rolling(2)._id.sum())
    assert_same(
        ours.apply(lambda row: row._id + row.x, axis=1),
        frame.apply(lambda row: row._id + row.x, axis=1),
    )
    ours._id = frame._id = 7
    assert_same(ours, frame)
    for one in (ours, ours.lazy()):
        assert list(copy.copy(one)) == list(frame)
        with pytest.raises(AttributeError, match="_no"):
            one._no  # noqa: B018
