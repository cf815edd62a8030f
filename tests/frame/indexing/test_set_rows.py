# SPDX-License-Identifier: Apache-2.0
"""`loc[...] =`, `iloc[...] =`, `frame[mask] =` and `series[key] =`."""

import warnings

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxFrame

FRAME = pd.DataFrame(
    {
        "i": [3, 1, 2, 5],
        "x": [0.5, np.nan, 1.5, -2.0],
        "s": ["a", "b", None, "d"],
        "c": pd.Categorical(["u", "w", "u", "w"]),
        "t": pd.to_datetime(["2024-01-01", "2024-01-02", None, "2024-01-04"]),
        "b": [True, False, True, False],
    }
)
LABELLED = FRAME.set_axis(["k", "l", "m", "n"])


def after(change):
    """A function of a frame: what it holds after a change."""

    def run(frame):
        changed = frame.copy()
        change(changed)
        return changed

    return run


def sets(indexer, key, value):
    def change(frame):
        found = key(frame) if callable(key) else key
        (getattr(frame, indexer) if indexer else frame)[found] = (
            value(frame) if callable(value) else value
        )

    return after(change)


@pytest.mark.parametrize(
    "run",
    [
        sets("loc", lambda f: (f.i > 2, "x"), 0.0),
        sets("loc", lambda f: (f.i > 2, "i"), 9),
        sets("loc", lambda f: (f.i > 2, "s"), "z"),
        sets("loc", lambda f: (f.i > 2, "s"), None),
        sets("loc", lambda f: (f.i > 2, "c"), "w"),
        sets("loc", lambda f: (f.i > 2, "t"), pd.Timestamp("2025-01-01")),
        sets("loc", lambda f: (f.i > 2, "b"), False),
        sets("loc", lambda f: (f.i > 2, "x"), lambda f: f.i * 10.0),
        sets("loc", lambda f: (f.i > 2, ["i", "x"]), 7),
        sets("loc", lambda f: (f.s == "b", "new"), 1.0),
        sets("loc", lambda f: (f.x.isna(), "x"), -1.0),
    ],
)
def test_rows_of_a_mask(run):
    assert_parity(run, FRAME, ways=["eager", "jit", "mesh"])


@pytest.mark.parametrize(
    "run",
    [
        sets("loc", lambda f: (f.i > 2, "x"), [1.0, 2.0]),
        sets("loc", lambda f: (f.i > 2, "new"), "z"),
        sets("loc", lambda f: (f.i > 2, "i"), np.array([1.0, 2.0])),
        sets("loc", lambda f: (f.i > 2, "i"), np.nan),
        sets("loc", ("l", "x"), 4.0),
        sets("at", ("l", "i"), 4),
        sets("loc", (["n", "k"], "i"), [10, 20]),
        sets("loc", (slice("l", "m"), "s"), "mid"),
        sets("loc", (slice(None), "x"), 0.0),
        sets("loc", ("m", ["i", "x"]), [8, 9.5]),
        sets("iloc", (1, 0), 4),
        sets("iat", (1, 1), 4.0),
        sets("iloc", ([0, 2], 1), [1.0, 2.0]),
        sets("iloc", (slice(1, 3), slice(0, 2)), 0),
        sets("iloc", (-1, 2), "last"),
        sets("loc", (["k", "l"], ["i", "x"]), np.array([[1, 2.5], [3, 4.5]])),
        sets("loc", (["k", "l"], ["i", "x"]), [[1, 2.5], [3, 4.5]]),
        sets("loc", lambda f: (f.i > 2, ["i", "x"]), [[10, 20.0], [30, 40.0]]),
        sets("loc", (["k", "l"], ["i"]), [[1], [3]]),
    ],
)
def test_rows_of_labels_and_positions(run):
    assert_parity(run, LABELLED, ways=["eager", "mesh"])


def test_frames_by_masks_and_slices():
    numbers = FRAME[["i", "x"]]
    assert_parity(sets(None, lambda f: f < 0, 0), numbers, ways=["eager", "jit", "mesh"])
    assert_parity(sets(None, lambda f: f.i > 2, 0), numbers, ways=["eager", "jit"])
    assert_parity(sets(None, slice(1, 3), 0), numbers, ways=["eager"])


@pytest.mark.parametrize(
    "run",
    [
        sets(None, lambda s: s > 1, 0.0),
        sets(None, lambda s: s.isna(), lambda s: s.fillna(0) + 5),
    ],
)
def test_series_by_masks(run):
    assert_parity(run, FRAME.x, ways=["eager", "jit"])


def test_series_by_labels():
    series = LABELLED.x
    for key in ("l", ["k", "n"], slice("k", "l"), slice(0, 2), "new"):
        assert_parity(sets(None, key, 7.0), series, ways=["eager"])
    assert_parity(sets("iloc", 2, 7.0), series, ways=["eager"])
    assert_parity(sets("loc", "n", 7.0), series, ways=["eager"])
    assert_parity(sets(None, 7, 1.5), pd.Series([0.5, 1.0]), ways=["eager"])


def test_a_row_behind_the_last_one():
    def append(frame):
        frame.loc[len(frame)] = [4, 0.5]

    assert_parity(after(append), FRAME[["i", "x"]].astype({"i": "float64"}), ways=["eager"])
    assert_parity(sets("loc", "z", [1, 2.0]), LABELLED[["i", "x"]], ways=["eager", "mesh"])
    assert_parity(sets("loc", ("z", "x"), 4.0), LABELLED[["i", "x"]], ways=["eager"])


def test_values_of_another_dtype_are_pandas_errors():
    for column, value in (("i", 0.5), ("i", "a"), ("s", 1), ("c", "bogus"), ("b", 2), ("x", "a")):
        assert_same_error(sets("loc", lambda f, c=column: (f.i > 2, c), value), FRAME)
    assert_same_error(sets("loc", lambda f: (f.i > 2, "i"), np.array([0.5, 1.0])), FRAME)
    assert_same_error(sets("loc", lambda f: (f.i > 2, "i"), [1, 2, 3]), FRAME)
    assert_same_error(sets("loc", lambda f: (f.i > 2, "i"), lambda f: f.x), FRAME)
    assert_same_error(sets("iloc", (9, 0), 1), FRAME)


@pytest.mark.parametrize(
    ("values", "listed"),
    [
        (["x", None, "z"], [None, None]),
        (["x", None, "z"], [np.nan, "q"]),
        (pd.Categorical(["p", "q", None]), [None, "p"]),
        (pd.Categorical(["p", "q", None]), [np.nan, np.nan]),
        (pd.to_datetime(["2024-01-01", None, "2024-01-03"]), [pd.NaT, pd.Timestamp("2025-01-01")]),
        (pd.to_datetime(["2024-01-01", None, "2024-01-03"], utc=True), [pd.NaT, pd.NaT]),
        (pd.to_timedelta([1, None, 3], unit="D"), [pd.NaT, pd.NaT]),
        (pd.array([1, None, 3], "Int8"), [None, 7]),
        (pd.array([1.5, None, 3], "Float64"), [pd.NA, pd.NA]),
        (pd.array([True, None, False], "boolean"), [None, True]),
        (pd.array(["a", None, "b"], "string"), [None, "q"]),
    ],
)
def test_missing_values_of_a_list_keep_the_dtype(values, listed):
    frame = pd.DataFrame({"a": values})
    for key in ([0, 2], np.array([True, False, True])):
        assert_parity(sets("loc", (key, "a"), listed), frame, ways=["eager"])
    assert_parity(sets("loc", (slice(None), "a"), [*listed, None]), frame, ways=["eager"])


def test_integers_do_not_hold_a_missing_value_of_a_list():
    for column in ("i", "b"):
        assert_same_error(sets("loc", lambda f, c=column: (f.i > 2, c), [np.nan, np.nan]), FRAME)


def test_integers_stay_integers_if_the_set_rows_have_values():
    def double(frame):
        frame.loc[frame["i"] > 2, "i"] *= 2

    assert_parity(after(double), FRAME, ways=["eager"])
    assert_parity(after(double), LABELLED, ways=["eager"])


def test_objects_hold_the_integers_of_fewer_rows():
    objects = pd.DataFrame({"o": ["a", None, (1, 2), "d"]}, dtype=object)
    for dtype in ("int8", "Int64"):
        few = pd.Series([7, 8], dtype=dtype)
        assert_parity(sets("iloc", (slice(0, 2), 0), few), objects, ways=["eager"])
        assert_parity(sets("loc", ([1], "o"), lambda f, few=few: few), objects, ways=["eager"])
    numbers = objects.assign(i=[1, 2, 3, 4])
    assert_parity(sets("loc", ([0, 1], "o"), lambda f: f.i[:2]), numbers, ways=["eager"])


def test_other_frames_keep_their_values():
    frame = JaxFrame(FRAME)
    column, copy = frame["i"], frame.copy()
    frame.loc[frame["i"] > 2, "i"] = 0
    assert frame["i"].tolist() == [0, 1, 2, 0]
    assert column.tolist() == copy["i"].tolist() == [3, 1, 2, 5]


def test_inside_jit_rows_are_given_by_masks():
    def change(frame):
        frame.loc["k", "i"] = 0
        return frame

    with pytest.raises(NotImplementedError, match=r"loc: inside jit .* by a mask"):
        jax.jit(change)(on_device(LABELLED))

    def scale(frame, factor):
        frame.loc[frame["i"] > 2, "x"] = factor
        return frame

    assert jax.jit(scale)(JaxFrame(FRAME), 4.0)["x"].tolist()[0] == 4.0


def test_chained_assignment_warns_as_in_pandas():
    for make in (lambda frame: frame, JaxFrame):
        frame = make(FRAME)
        with pytest.warns(pd.errors.ChainedAssignmentError):
            frame[frame["i"] > 2]["x"] = 0.0
        with pytest.warns(pd.errors.ChainedAssignmentError):
            frame["x"][frame["i"] > 2] = 0.0
        with pytest.warns(pd.errors.ChainedAssignmentError):
            frame[["x"]].loc[0, "x"] = 0.0
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            part = frame[frame["i"] > 2]
            part["x"] = 0.0
            part.loc[0, "x"] = 1.0


def test_only_labels_and_masks_align_a_series_with_the_rows():
    """Positions, slices and lists of labels take its values in their order."""
    series = pd.Series([1, 2, 3, 4, 5], index=[*"abcde"])
    values = pd.Series([10, 20, 30], index=[*"dcb"])

    def set_with(key, indexer=None):
        def change(f, v):
            changed = f.copy()
            (getattr(changed, indexer) if indexer else changed)[key(f)] = v
            return changed

        return change

    for key, indexer in [
        (lambda f: slice(1, 4), "iloc"), (lambda f: [3, 1, 2], "iloc"),
        (lambda f: slice(1, 4), None), (lambda f: slice("b", "d"), None),
        (lambda f: ["b", "c", "d"], None), (lambda f: slice("b", "d"), "loc"),
        (lambda f: (f > 1) & (f < 5), "loc"), (lambda f: (f > 1) & (f < 5), None),
    ]:  # fmt: skip
        assert_parity(set_with(key, indexer), series, values, ways=["eager"])
    frame = pd.DataFrame({"x": [1, 2, 3], "y": [4, 5, 6]})
    values = pd.Series([10, 20], index=[2, 1])
    for key, indexer in [
        (lambda f: (slice(1, 3), 0), "iloc"), (lambda f: (slice(1, 2), "x"), "loc"),
        (lambda f: f.x > 1, None), (lambda f: slice(1, 3), None),
    ]:  # fmt: skip
        assert_parity(set_with(key, indexer), frame, values, ways=["eager"])
    with pytest.raises(NotImplementedError, match="rows must be given by a mask"):
        jax.jit(set_with(lambda f: slice(0, 2), "iloc"))(on_device(series), on_device(series[:2]))
