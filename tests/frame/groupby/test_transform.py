# SPDX-License-Identifier: Apache-2.0
"""groupby.transform."""

import random

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_each_row_has_what_its_group_is_reduced_to():
    frame = mixed_frame()[["k", "x"]]
    grouped = JaxFrame(frame).groupby("k").x
    spread = frame.k.map(grouped.max().to_pandas()).rename("x")
    pd.testing.assert_series_equal(grouped.transform("max").to_pandas(), spread)


def test_methods_of_rows_take_their_arguments():
    def transformed(f):
        grouped = f.groupby("k")
        return (
            grouped.x.transform("shift", 2),
            grouped.x.transform("cummax", skipna=False),
            grouped.transform("ffill", limit=1),
            grouped.x.transform("cumcount"),
        )

    assert_parity(transformed, mixed_frame()[["k", "x", "s"]], ways=["eager"])


def test_rows_without_a_key_and_few_rows():
    frame = pd.DataFrame({"k": [1.0, np.nan, 1.0], "i": [1, 2, 3], "x": [0.5, 1.0, np.nan]})
    assert_parity(lambda f: f.groupby("k").transform("max"), frame, ways=["jit"])
    assert_parity(lambda f: f.groupby("k", dropna=False).transform("sum"), frame, ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(lambda f: f.groupby("k").transform("min"), frame[:num_rows], ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "x"]]
    assert "argmax" in assert_same_error(lambda f: f.groupby("k").transform("argmax"), frame)
    assert_same_error(lambda f: f.groupby("k").x.transform("max", bogus=1), frame)


def test_missing_values_of_a_nullable_dtype_stay_missing():
    frame = pd.DataFrame(
        {"k": ["x", "x", "y", "y", "z"], "i": pd.array([1, None, 3, 4, 5], dtype="Int64")}
    )
    for dtype in ("Int64", "Float64"):
        assert_parity(
            lambda f: (
                f.groupby("k").i.transform(lambda q: q - q.mean()),
                f.groupby("k").i.transform(lambda q: q / q.std()),
                f.groupby("k").transform(lambda q: q / q.sum()),
            ),
            frame.astype({"i": dtype}),
            ways=["eager"],
        )


def test_functions_without_groups_give_what_pandas_gives():
    for keys in ([None, None], [np.nan, np.nan]):
        frame = pd.DataFrame({"k": keys, "x": [1, 2]})
        assert_parity(
            lambda f: f.groupby("k").x.transform(lambda q: q - q.mean()), frame, ways=["eager"]
        )
        assert_parity(lambda f: f.groupby("k").apply(lambda q: q.x.sum()), frame, ways=["eager"])
        assert_same_error(lambda f: f.groupby("k").transform(lambda q: q - q.mean()), frame)
    empty = pd.DataFrame({"k": [1, 2], "x": [1, 2]})[:0]
    assert_parity(lambda f: f.groupby("k").apply(lambda q: q.x.sum()), empty, ways=["eager"])


def test_each_group_draws_its_own_numbers():
    frame = pd.DataFrame({"k": [1, 1, 2, 2], "x": [1, 2, 3, 4]})

    def drawn(f):
        random.seed(0)
        return f.groupby("k").x.transform(lambda q: q + random.random())

    assert_parity(drawn, frame, ways=["eager"])


@pytest.mark.parametrize("column", ["t", "i", "n", "x", "b", "s"])
def test_rows_of_functions_without_a_group_or_a_value(column):
    times = pd.to_datetime(
        ["2014-10-08 13:43:27", None, "2014-10-08 14:43:27", "2014-10-08 20:00:00"]
    )
    frame = pd.DataFrame(
        {
            "k": ["a", None, "a", "c"], "j": ["a", "b", "a", "c"], "t": times, "i": [1, 2, 3, 4],
            "n": pd.array([1, None, 3, 4], dtype="Int64"), "x": [1.5, np.nan, 2.5, 1],
            "b": [True, False, True, True], "s": ["q", "r", "s", "t"],
        }
    )  # fmt: skip
    functions = [lambda x: x.shift(), lambda x: x.ffill()]
    if column not in "bs":
        functions += [lambda x: x.diff(), lambda x: x - x.min()]
    for key in ("k", "j"):
        for function in functions:
            assert_parity(
                lambda f, key=key, function=function: f.groupby(key)[column].transform(function),
                frame,
                ways=["eager"],
            )


def test_several_functions_of_groups_of_a_frame():
    def transformed(f):
        grouped = f.groupby("k")
        return (
            grouped.transform(["cummax", "max"]),
            grouped[["x"]].transform(["median"]),
            grouped.transform({"i": "sum", "x": "cummax"}),
            grouped.transform(a=("x", "min"), b=pd.NamedAgg("i", "cumsum")),
            grouped.transform({"a": pd.NamedAgg("x", "min"), "x": "max"}),
        )

    frame = mixed_frame()[["k", "x", "i"]]
    assert_parity(transformed, frame, ways=["eager", "jit", "mesh"])
    assert_same_error(lambda f: f.groupby("k").x.transform(["cumsum", "max"]), frame)
    assert_same_error(lambda f: f.groupby("k").transform({"x": ["cumsum", "max"]}), frame)
    assert_same_error(lambda f: f.groupby("k").transform([]), frame)
    assert_same_error(lambda f: f.groupby("k").transform({"z": "sum"}), frame)
