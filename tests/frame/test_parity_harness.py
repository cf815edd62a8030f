# SPDX-License-Identifier: Apache-2.0
"""The comparison catches planted faults, and the strategies draw the promised values."""

import datetime

import hypothesis
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from frame_strategies import (
    COLUMNS,
    INDEXES,
    MOST_ROWS,
    as_column,
    frames,
    special_frame,
    special_values,
)

COLUMNS_COMPARED = ("i8", "f32", "x", "y", "b", "s", "t", "d", "o", "k")


def compared_frame() -> pd.DataFrame:
    frame = special_frame(COLUMNS_COMPARED).sort_values("k", kind="stable")
    return frame.set_axis(pd.Index([f"r{place}" for place in range(len(frame))], name="rows"))


def _with(frame, column, row, value):
    frame = frame.copy()
    frame.iloc[row, frame.columns.get_loc(column)] = value
    return frame


def _row_where(frame, column, test):
    return int(np.flatnonzero(test(frame[column].to_numpy()))[0])


FAULTS = {
    "dtype of integers": lambda f: f.astype({"i8": "int16"}),
    "dtype of floats": lambda f: f.astype({"f32": "float64"}),
    "bool as integer": lambda f: f.astype({"b": "int64"}),
    "strings as objects": lambda f: f.astype({"s": object}),
    "unit of time": lambda f: f.astype({"t": "datetime64[ms]"}),
    "order of rows": lambda f: f.iloc[[1, 0, *range(2, len(f))]],
    "order of equal rows": lambda f: f.iloc[::-1].sort_values("k", kind="stable"),
    "one row missing": lambda f: f.iloc[:-1],
    "one row twice": lambda f: f.iloc[[*range(len(f)), 0]],
    "one value off by one": lambda f: _with(f, "k", 3, f["k"].iloc[3] + 1),
    "one float off by an ulp": lambda f: _with(
        f, "x", (row := _row_where(f, "x", lambda x: x == 3)), np.nextafter(f["x"].iloc[row], 4)
    ),
    "value where NaN belongs": lambda f: _with(f, "x", _row_where(f, "x", np.isnan), 0.0),
    "NaN where a value belongs": lambda f: _with(f, "x", _row_where(f, "x", np.isfinite), np.nan),
    "infinity where NaN belongs": lambda f: _with(f, "y", _row_where(f, "y", np.isnan), np.inf),
    "sign of zero": lambda f: f.assign(y=f["y"].where(f["y"] != 0, 0.0)),
    "empty where missing belongs": lambda f: f.assign(s=f["s"].fillna("")),
    "time where NaT belongs": lambda f: f.assign(t=f["t"].fillna(pd.Timestamp(0))),
    "order of columns": lambda f: f[f.columns[::-1]],
    "label of a column": lambda f: f.rename(columns={"x": "X"}),
    "one column missing": lambda f: f.drop(columns="x"),
    "name of the columns": lambda f: f.rename_axis(columns="c"),
    "values of the index": lambda f: f.set_axis(f.index[::-1], axis=0).rename_axis("rows"),
    "name of the index": lambda f: f.rename_axis("other"),
    "no name of the index": lambda f: f.rename_axis(None),
    "dtype of the index": lambda f: f.set_axis(f.index.astype(object), axis=0),
    "a new index": lambda f: f.reset_index(drop=True),
    "order of categories": lambda f: f.assign(
        o=f["o"].cat.reorder_categories(f["o"].cat.categories[::-1])
    ),
    "a category fewer": lambda f: f.assign(o=f["o"].cat.remove_unused_categories()),
    "categories without order": lambda f: f.assign(o=f["o"].cat.as_unordered()),
    "category as strings": lambda f: f.assign(o=f["o"].astype("str")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_catches_a_planted_fault(fault):
    frame = compared_frame()
    assert_same(on_device(frame), frame)
    with pytest.raises(AssertionError):
        assert_same(on_device(FAULTS[fault](frame)), frame)
    # The tolerance for floats allows one ulp and nothing else.
    if fault != "one float off by an ulp":
        with pytest.raises(AssertionError):
            assert_same(on_device(FAULTS[fault](frame)), frame, ulps=4)


SERIES_FAULTS = {
    "name": lambda s: s.rename("z"),
    "no name": lambda s: s.rename(None),
    "dtype": lambda s: s.astype("float32"),
    "order": lambda s: s.iloc[::-1],
    "index": lambda s: s.reset_index(drop=True),
    "sign": lambda s: -s,
    "frame in place of a series": lambda s: s.to_frame(),
}


@pytest.mark.parametrize("fault", SERIES_FAULTS)
def test_catches_a_planted_fault_of_a_series(fault):
    series = compared_frame()["x"]
    assert_same(on_device(series), series)
    with pytest.raises(AssertionError):
        assert_same(on_device(SERIES_FAULTS[fault](series)), series, ulps=4)


@pytest.mark.parametrize(
    ("got", "expected"),
    [
        (np.int32(3), np.int64(3)),
        (np.float32(3), np.float64(3)),
        (3.0, 3),
        (1, True),
        (np.float64(-0.0), 0.0),
        (np.float64(0.0), np.float64(np.nan)),
        (np.float64(np.nextafter(1, 2)), np.float64(1)),
        ("a", "b"),
        (pd.Timedelta(1), pd.NaT),
        (pd.Timestamp(1), pd.Timestamp(2)),
        (np.array([1, 2], np.int32), np.array([1, 2])),
        (np.array([1, "a"], object), np.array([1.0, "a"], object)),
        (np.array([1, "a"], object), np.array([True, "a"], object)),
        (np.array([pd.Timestamp(0)], object), np.array([datetime.datetime(1970, 1, 1)], object)),
        (np.array([1.0, np.nan], object), np.array([1.0, None], object)),
        (pd.Index([1, "a"]), pd.Index([1.0, "a"])),
        (pd.MultiIndex.from_tuples([(0, True)]), pd.MultiIndex.from_tuples([(0, 1)])),
        (pd.Categorical([1, "a"]), pd.Categorical([True, "a"])),
        (np.array([1.0, -0.0]), np.array([1.0, 0.0])),
        (np.array([[1, 2]]), np.array([1, 2])),
        ((1, 2), (1, 2, 3)),
        (pd.Index(["a"]), pd.Index(["a"], name="n")),
    ],
)
def test_catches_a_planted_fault_of_a_scalar_or_an_array(got, expected):
    assert_same(expected, expected)
    with pytest.raises(AssertionError):
        assert_same(got, expected)


def test_catches_faults_of_operations():
    frame = compared_frame()
    with pytest.raises(AssertionError, match="eager"):
        assert_parity(lambda f: f if isinstance(f, pd.DataFrame) else f.head(3), frame)
    with pytest.raises(AssertionError, match="pandas raises nothing"):
        assert_same_error(lambda f: f["k"], frame)
    with pytest.raises(AssertionError, match="in place of"):
        assert_same_error(lambda f: f["no"] if isinstance(f, pd.DataFrame) else f, frame)


def drawn(columns, num_frames):
    """Example frames of the strategy."""
    found = []

    @hypothesis.settings(
        max_examples=num_frames, phases=[hypothesis.Phase.generate], derandomize=True
    )
    @hypothesis.given(frames(columns))
    def draw(frame):
        found.append(frame)

    draw()
    return found


@pytest.mark.parametrize("column", COLUMNS)
def test_strategies_draw_every_special_value(column):
    values = {repr(value) for frame in drawn([column], 30) for value in frame[column]}
    special = {repr(value) for value in pd.Series(as_column(column, special_values(column)))}
    assert special <= values
    assert special == {repr(value) for value in special_frame([column])[column]}


def test_strategies_draw_every_shape():
    found = drawn(["k"], 80)
    assert {0, 1} <= {len(frame) for frame in found}
    assert max(len(frame) for frame in found) > MOST_ROWS // 2
    assert {_kind(frame.index) for frame in found} == set(INDEXES)
    assert {frame.index.name for frame in found} == {None, "label"}
    many = [frame["k"].value_counts(normalize=True) for frame in found if len(frame) > 30]
    assert max(shares.iloc[0] for shares in many) > 0.7
    assert min(shares.iloc[0] for shares in many) < 0.5


def _kind(index):
    if isinstance(index, pd.RangeIndex):
        return "range" if index.step == 1 else "shifted"
    kinds = {"str": "strings", "int64": "duplicates", "datetime64[us]": "datetimes"}
    return kinds[str(index.dtype)]
