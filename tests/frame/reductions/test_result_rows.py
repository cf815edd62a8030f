# SPDX-License-Identifier: Apache-2.0
"""Reductions of frames: the dtype of the results, and their labels."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same, on_device
from jaxframes.frame import JaxFrame

OPS = ("sum", "prod", "mean", "min", "max", "std", "var", "sem", "count", "any", "all")
FRAMES = {
    "floats": pd.DataFrame({"a": [1.0, np.nan, 3.0], "b": [4.0, 5.0, 7.5]}),
    "of two widths": pd.DataFrame({"a": [1.0, 2.0], "b": np.array([3, 4], "float32")}),
    "integers": pd.DataFrame({"a": [1, 2, 4], "b": np.array([1, 2, 3], "int8")}),
    "unsigned": pd.DataFrame({"a": np.array([1, 2**63], "uint64"), "b": [1, -1]}),
    "integers and floats": pd.DataFrame({"a": [1, 2, 4], "b": [0.5, np.nan, 2.0]}),
    "integers and float32": pd.DataFrame({"a": [1, 2], "b": np.array([3, 4], "float32")}),
    "flags": pd.DataFrame({"a": [True, False], "b": [True, True]}),
    "flags and integers": pd.DataFrame({"a": [True, False], "b": [3, 0]}),
    "no rows": pd.DataFrame({"a": np.zeros(0), "b": np.zeros(0, "int64")}),
    "one column": pd.DataFrame({"a": [2, 3, 7]}),
    "one column twice": pd.DataFrame({"a": [2.0, 3.0]})[["a", "a"]],
}


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("op", OPS)
def test_the_dtype_is_that_of_pandas(op, name):
    data = FRAMES[name]
    ulps = 4 if op in ("std", "var", "sem") else 0
    assert_same(getattr(on_device(data), op)(), getattr(data, op)(), ulps)
    if op != "count":
        ours, theirs = (getattr(f, op)(skipna=False) for f in (on_device(data), data))
        assert_same(ours, theirs, ulps)
    if op in ("sum", "prod"):
        assert_same(getattr(on_device(data), op)(min_count=3), getattr(data, op)(min_count=3))


@pytest.mark.parametrize("op", ["sum", "min", "max", "count", "any"])
def test_integers_of_which_some_are_missing(op):
    data = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": [1.0, 2.0, 3.0]})
    shifted = {"a": pd.Series([1, 2, 3]), "b": pd.Series([4, 5, 6])}
    ours, theirs = on_device(pd.DataFrame(shifted)), pd.DataFrame(shifted)
    assert_same(getattr(ours.shift(1), op)(), getattr(theirs.shift(1), op)())
    assert_same(getattr(on_device(data), op)(), getattr(data, op)())


@pytest.mark.parametrize(
    "labels",
    [
        pd.Index(["b", "a"], name="column"),
        pd.Index([3, 1]),
        pd.RangeIndex(2),
        pd.Index([0.5, 1.5]),
        pd.Index(["a", "a"]),
        pd.date_range("2020-01-01", periods=2),
        pd.MultiIndex.from_tuples([("a", 1), ("b", 2)], names=["x", "y"]),
        pd.Index(["a", 1], dtype=object),
    ],
    ids=str,
)
def test_the_labels_are_those_of_the_columns(labels):
    data = pd.DataFrame(np.arange(6.0).reshape(3, 2), columns=labels)
    ours = on_device(data)
    assert_same(ours.mean(), data.mean())
    assert_same(ours.sum(), data.sum())


def test_a_name_of_the_labels_that_changes():
    data = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]})
    ours = on_device(data)
    assert_same(ours.sum(), data.sum())
    ours.columns.name = data.columns.name = "column"
    assert_same(ours.sum(), data.sum())


def test_results_share_no_arrays():
    ours = on_device(pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 5.0]}))
    first, second = ours.sum(), ours.sum()
    doubled = jax.jit(lambda series: series * 2, donate_argnums=0)(first)
    assert doubled.tolist() == [6.0, 16.0]
    assert second.to_pandas().to_dict() == {"a": 3.0, "b": 8.0}
    assert (ours - ours.mean()).sum().tolist() == [0.0, 0.0]


def test_a_frame_that_a_compiled_function_closes_over():
    data = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 5]})
    ours = on_device(data)
    assert_same(jax.jit(lambda x: ours.sum() * x)(2.0), data.sum() * 2.0)


def test_labels_keep_the_order_of_levels_and_the_frequency():
    columns = pd.MultiIndex.from_product([["g"], ["y", "x"]])
    frame = pd.DataFrame([[1.0, 2.0]], columns=columns)
    ours = JaxFrame(frame)
    for one in (frame, ours):
        one[("h", "z")] = 3.0
        one[("h", "w")] = 4.0
    assert_same(ours.mean().unstack(), frame.mean().unstack())
    days = pd.DataFrame([[1.0, 2.0]], columns=pd.date_range("2020", periods=2))
    assert JaxFrame(days).mean().index.freq == days.mean().index.freq
