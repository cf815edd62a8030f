# SPDX-License-Identifier: Apache-2.0
"""xs, and loc with several levels of labels."""

import datetime

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def labelled():
    return mixed_frame().set_index(["k", "b"])[["i", "x", "s"]]


def labelled_once():
    return labelled()[["i", "x"]].groupby(level=["k", "b"], sort=False).first()


def test_labels_of_levels():
    assert_parity(
        lambda f: (
            f.xs(0),
            f.xs((0, True)),
            f.xs(True, level="b"),
            f.xs(True, level=1, drop_level=False),
            f.i.xs(2),
        ),
        labelled(),
        ways=["eager", "mesh"],
    )


def test_columns_and_one_level():
    pairs = pd.MultiIndex.from_tuples([("a", "p"), ("a", "q"), ("b", "p")], names=["l", "m"])
    frame = mixed_frame()[["i", "x", "f"]]
    assert_parity(lambda f: (f.xs(3), f.xs("x", axis=1), f.x.xs(2)), frame, ways=["eager"])
    assert_parity(
        lambda f: (f.xs("a", axis=1), f.xs("p", axis=1, level="m")),
        frame.set_axis(pairs, axis=1),
        ways=["eager"],
    )


def test_loc():
    assert_parity(
        lambda f: (
            f.loc[(0, True)],
            f.loc[0, True],
            f.i.loc[0, True],
            f.loc[0],
            f.i.loc[0],
            f.loc[[2, 0]],
            f.loc[[(2, True), (0, False)]],
            f.loc[(0, True), "i"],
            f.loc[0, "i"],
            f.loc[f.i > 0, "x"],
            f.loc[[2, 0], ["x"]],
            f.loc[(slice(None), True), :],
            f.sort_index().loc[1:2],
            f.sort_index().i.loc[(1, False) : (3, True)],
        ),
        labelled_once(),
        ways=["eager"],
    )


def test_levels_that_are_all_named_stay():
    assert_parity(
        lambda f: (f.xs((1, False), level=["k", "b"]), f.i.xs((False, 1), level=["b", "k"])),
        labelled_once(),
        ways=["eager"],
    )


def test_a_missing_label_is_any_missing_one():
    levels = {
        "t": np.array(["2020-01-01", "NaT", "NaT"], "M8[s]"),
        "o": pd.Series(["a", None, "c"], dtype=object),
        "d": pd.array([None, datetime.date(2020, 1, 1), None], pd.ArrowDtype(pa.date32())),
    }
    frame = pd.DataFrame({**levels, "v": range(3)}).set_index(list(levels))
    for null in (np.nan, None, pd.NaT):
        assert_parity(
            lambda f, null=null: (
                f.xs(null, level="t"),
                f.xs(null, level="o"),
                f.xs(null, level="d"),
                f.loc[(null, "c", null)],
            ),
            frame,
            ways=["eager"],
        )
    assert_same_error(lambda f: f.xs("a", level="d"), frame)
    assert_same_error(lambda f: f.droplevel([0, 1]).loc["a"], frame)


def test_wrong_uses_are_pandas_errors():
    for wrong in (
        lambda f: f.loc[99],
        lambda f: f.loc[(0, 99)],
        lambda f: f.loc[[0, 99]],
        lambda f: f.loc[[(0, "q")]],
        lambda f: f.loc[0, True, True],
        lambda f: f.i.loc[99],
        lambda f: f.xs(99),
        lambda f: f.xs((0, True, 1)),
        lambda f: f.xs(0, level="none"),
        lambda f: f.reset_index(drop=True).xs(0, level=0),
    ):
        assert_same_error(wrong, labelled_once())
    with pytest.raises(NotImplementedError, match="mask inside jit"):
        jax.jit(lambda f: f.xs(0))(on_device(labelled_once()))
    with pytest.raises(NotImplementedError, match=r"slice\(None\)"):
        on_device(labelled_once()).xs((slice(0, 1), True))


def letters():
    labels = [
        ("a", 1, "x"),
        ("a", 2, "y"),
        ("b", 1, "x"),
        ("b", 3, "x"),
        ("c", 2, "z"),
        ("a", 1, "y"),
    ]
    index = pd.MultiIndex.from_tuples(labels, names=["k", "n", "m"])
    return pd.DataFrame({"v": range(6)}, index)


@pytest.mark.parametrize("is_sorted", [False, True])
def test_lists_of_labels_order_and_repeat_rows(is_sorted):
    every = slice(None)
    frame = letters().sort_index() if is_sorted else letters()
    assert_parity(
        lambda f: (
            f.loc[(every, [3, 1]), :],
            f.loc[(["b", "a"], [2, 1]), :],
            f.loc[(["b", "b", "a"], every, np.array(["y", "x"])), ["v"]],
            f.loc[(every, 1, ["y", "x"]), :],
            f.loc[(every, []), :],
            f.v.loc[(every, pd.Index([3, 1]))],
            f.loc[["b", "a", "b"]],
            f.xs((every, 1)),
            f.xs((every, "x"), level=["k", "m"]),
            f.xs((every, every)),
        ),
        frame,
        ways=["eager"],
    )
    for wrong in (
        lambda f: f.loc[(["a", "q"], 1), :],
        lambda f: f.loc[(every, [1, 9]), :],
        lambda f: f.loc[(every, 9), :],
        lambda f: f.loc[(["c"], [1]), :],
    ):
        assert_same_error(wrong, frame)


def test_slices_of_one_level():
    frame = letters().sort_index()
    assert_parity(lambda f: f.loc[(slice("a", "b"), slice(2, 3)), :], frame, ways=["eager"])
    assert_same_error(lambda f: f.loc[("a", slice(1, 2)), :], letters())


TEXTS = [
    lambda f: (f.loc[("X", "2024-08-04")], f.loc[("X", "2024-08")], f.v.loc[("X", "2024-08")]),
    lambda f: (f.loc[("X", "2024-08-04"), "v"], f.xs("2024-08-04", level="day")),
    lambda f: (f.swaplevel().loc["2024-08-04"], f.swaplevel().sort_index().loc["2024-08"]),
]


@pytest.mark.parametrize("operation", TEXTS)
def test_texts_name_times_of_a_level(operation):
    days = pd.to_datetime(["2024-08-04", "2024-08-05", "2024-08-04"])
    frame = pd.DataFrame({"team": list("XXY"), "day": days, "v": [1, 2, 3]})
    assert_parity(operation, frame.set_index(["team", "day"]), ways=["eager"])


@pytest.mark.parametrize("text", ["2023", "abc"])
def test_texts_of_absent_times(text):
    frame = pd.DataFrame({"team": ["X"], "day": pd.to_datetime(["2024-08-04"]), "v": [1]})
    with pytest.raises(KeyError):
        on_device(frame).set_index(["team", "day"]).loc[("X", text)]
