# SPDX-License-Identifier: Apache-2.0
"""pivot_table."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from pandas.errors import PerformanceWarning


def test_groups_by_two_keys():
    assert_parity(
        lambda f: (
            f.pivot_table("x", "k", "c"),
            f.pivot_table(["x", "i"], "k", "c", aggfunc="sum"),
            f.pivot_table("i", ["k", "b"], "c", aggfunc="max", fill_value=0),
        ),
        mixed_frame()[["k", "c", "b", "x", "i"]],
        ways=["eager", "mesh"],
        ulps=8,
    )


def test_other_shapes():
    frame = mixed_frame()[["k", "c", "s", "i"]]
    assert_parity(
        lambda f: (
            f.pivot_table("i", "k"),
            f.pivot_table("i", columns="c"),
            f[["k", "c", "i"]].pivot_table(index="k", columns="c"),
            f.pivot_table("i", "k", ["c", "s"], "count", fill_value=0),
            f.pivot_table("i", "k", "c", ["sum", "count"]),
            f.pivot_table("i", "k", "s", {"i": "min"}, sort=False),
            f[:0].pivot_table("i", "k"),
            f[:1].pivot_table("i", "k", "c"),
        ),
        frame,
        ways=["eager"],
        ulps=8,
    )


def test_margins_of_categories_without_values_are_floats():
    frame = pd.DataFrame(
        {
            "g": pd.Categorical(["a", "b"]),
            "h": pd.Categorical(["x", "y"], categories=["y", "x", "z"]),
            "v": [1.5, None],
        }
    )
    assert_parity(
        lambda f: tuple(
            f.pivot_table("v", "g", "h", how, margins=True, observed=False)
            for how in ("count", "sum", "max")
        ),
        frame,
        ways=["eager"],
    )


def test_margins():
    assert_parity(
        lambda f: (
            f.pivot_table("i", "k", "b", "sum", margins=True),
            f.pivot_table("x", "k", "b", margins=True),
            f.pivot_table("i", ["k", "b"], "s", "sum", margins=True, margins_name="T"),
            f.pivot_table("i", "k", ["b", "s"], "sum", margins=True, fill_value=0),
            f.pivot_table("i", "s", "c", "sum", margins=True),
            f.pivot_table("i", "k", aggfunc="sum", margins=True),
            f.pivot_table("i", "k", "b", np.sum, margins=True),
            f[["k", "b", "i", "x"]].pivot_table(index="k", columns="b", margins=True),
        ),
        mixed_frame()[["k", "b", "i", "x", "s", "c"]],
        ways=["eager"],
        ulps=8,
    )


def test_margins_have_the_dtypes_of_their_columns_also_without_a_value():
    grades = pd.CategoricalDtype(["low", "mid", "high"], ordered=True)
    dtypes = {"c": grades, "n": "Int64", "d": "timedelta64[s]"}
    rows = {
        "k": [0, 0, 1], "b": ["u", "w", "w"],
        "c": ["low", "mid", None], "n": [3, None, 1], "d": [None, 2, 5],
    }  # fmt: skip
    frame = pd.DataFrame(rows).astype(dtypes)
    frame = pd.concat([frame, frame[:1].assign(b="x", c=None, n=None, d=None).astype(dtypes)])
    assert_parity(
        lambda f: tuple(
            f.pivot_table(one, "k", "b", "max", margins=True, dropna=dropna)
            for one in dtypes
            for dropna in (True, False)
        ),
        frame,
        ways=["eager"],
    )


def test_all_pairs_of_keys():
    frame = mixed_frame(23)[["k", "b", "i", "x", "s", "c"]]
    frame["k"] = frame.k.where(frame.k > 0)
    assert_parity(
        lambda f: (
            f.pivot_table("x", "k", dropna=False),
            f.pivot_table("x", "k", "s", dropna=False),
            f.pivot_table("x", ["k", "s"], "b", dropna=False),
            f.pivot_table("i", ["s", "b"], "k", "sum", fill_value=0, dropna=False),
            f.pivot_table("i", "b", ["s", "k"], "max", dropna=False),
            f.pivot_table(["x", "i"], columns=["k", "b"], dropna=False),
            f.pivot_table("i", "k", "c", "sum", dropna=False),
            f.pivot_table("i", ["k", "b"], "s", "count", dropna=False, sort=False),
            f.pivot_table("x", "k", "b", ["sum", "count"], dropna=False),
        ),
        frame,
        ways=["eager", "mesh"],
        ulps=8,
    )
    assert_parity(
        lambda f: (
            f.pivot_table("i", "k", "b", "sum", margins=True, dropna=False),
            f.pivot_table("i", "k", "s", "sum", margins=True, fill_value=0, dropna=False),
            f.pivot_table("x", ["k", "b"], "s", margins=True, dropna=False),
            f.dropna().pivot_table("i", "s", "c", "sum", dropna=False, observed=False),
            f[:1].pivot_table("i", ["k", "b"], "s", dropna=False),
        ),
        frame,
        ways=["eager"],
        ulps=8,
    )


def test_without_columns_inside_jit():
    frame = mixed_frame()[["k", "i"]]
    got = jax.jit(lambda f: f.pivot_table("i", "k", aggfunc="sum").i)(on_device(frame))
    assert_same(got, frame.pivot_table("i", "k", aggfunc="sum").i)


def test_wrong_uses():
    frame = mixed_frame()[["k", "s", "x"]]
    assert_same_error(lambda f: f.pivot_table("none", "k"), frame)
    assert_same_error(lambda f: f.pivot_table("x", "none"), frame)
    assert_same_error(lambda f: f.pivot_table("x"), frame)
    assert_same_error(lambda f: f.pivot_table("s", "k"), frame)
    ours = on_device(mixed_frame()[["k", "c", "i"]])
    with pytest.raises(NotImplementedError, match=r"categories must not be.*astype"):
        ours.pivot_table("i", "k", "c", dropna=False, observed=False)
    with pytest.raises(NotImplementedError, match="not known inside jit"):
        jax.jit(lambda f: f.pivot_table("i", "k", dropna=False))(ours)
    assert_same_error(lambda f: f.pivot_table("x", "k", margins=True, margins_name=1), frame)
    assert_same_error(lambda f: f.pivot_table("x", "s", margins=True, margins_name="a"), frame)
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda f: f.pivot_table("x", "k", "s"))(on_device(frame))


@pytest.mark.filterwarnings("ignore:pivot_table. margins of functions")
def test_margins_on_the_host():
    assert_parity(
        lambda f: (
            f.pivot_table("i", columns="k", aggfunc="sum", margins=True),
            f.pivot_table("i", "k", "b", lambda s: s.max() - s.min(), margins=True),
            f.pivot_table(["i", "x"], "k", aggfunc={"i": "sum", "x": "max"}, margins=True),
        ),
        mixed_frame()[["k", "b", "i", "x"]],
        ways=["eager"],
    )


def test_sizes_of_groups():
    frame = pd.DataFrame(
        {"a": [1, 1, 2, 2, 1], "b": ["x", None, "y", "x", "x"], "c": [1.5, 1.5, np.nan, 2.5, 1.5],
         "v": [1.0, 2, np.nan, 4, 5], "k": pd.Categorical(list("uvuuv"), list("uvz"))}
    )  # fmt: skip

    def tables(f):
        keys = (
            {"index": "a"}, {"index": ["a", "b"]}, {"index": "a", "columns": "b"},
            {"index": "a", "columns": ["b", "c"]}, {"index": ["a", "b"], "columns": "c"},
            {"columns": "b"}, {"columns": ["a", "b"]}, {"index": "a", "values": ["v"]},
            {"index": "b", "columns": "a", "dropna": False},
            {"index": "a", "columns": "b", "values": "v"},
            {"index": "k", "observed": False}, {"index": "a", "columns": "k", "observed": False},
        )  # fmt: skip
        sizes = [f.pivot_table(aggfunc="size", **one) for one in keys]
        filled = [f.pivot_table(aggfunc="size", fill_value=0, **one) for one in keys]
        return (*sizes, *filled, f.pivot_table(["v"], "a", aggfunc=["size", "sum"]))

    assert_parity(tables, frame, ways=["eager"])


def test_sizes_where_pandas_raises_or_loses_a_level():
    frame = pd.DataFrame({"a": [1, 1, 2], "b": ["x", "y", "x"], "v": [1.0, 2, 3]})
    ours = on_device(frame)
    assert ours.pivot_table("v", "a", aggfunc="size").tolist() == [2, 1]
    assert ours.pivot_table(index="a", aggfunc="size", dropna=False).tolist() == [2, 1]
    table = ours.pivot_table("v", columns=["a", "b"], aggfunc="size")
    assert table.index.names == ["a", "b"]
    with pytest.raises(
        NotImplementedError, match=r"margins need a reduction of values, got 'size'"
    ):
        ours.pivot_table(index="a", columns="b", aggfunc="size", margins=True)


def test_labels_that_are_numbers_of_other_levels():
    rows = [["p", "A", "x", 10, 1.0], ["p", "A", "y", 11, 1.0], ["q", "B", "x", 12, 2.0]]
    assert_parity(lambda f: f.pivot_table(4, [0, 1, 3], [2]), pd.DataFrame(rows), ways=["eager"])
    swapped = pd.DataFrame({0: [1, 1, 2], 1: [3, 4, 3], 2: [1.0, 2.0, 3.0], "x": ["a", "b", "a"]})
    for columns in ([1, "x"], ["x", 1]):
        for dropna in (True, False):
            assert_parity(
                lambda f, c=columns, d=dropna: f.pivot_table(2, 0, c, dropna=d),
                swapped,
                ways=["eager"],
            )


def test_levels_named_by_the_numbers_of_others():
    labels = pd.MultiIndex.from_tuples([(1, "a"), (2, "b")], names=[1, 0])
    assert_parity(lambda f: f, pd.DataFrame({"v": [1.0, 2.0]}, index=labels), ways=["eager"])


@pytest.mark.parametrize("columns", [["b"], ["b", "c"]])
@pytest.mark.parametrize("aggfunc", ["mean", len])
def test_no_column_of_values(columns, aggfunc):
    frame = pd.DataFrame({"a": [1, 2], "b": [3, 4], "c": [5, 6]})[["a", *columns]]
    for rows in (frame, frame[:0]):
        for options in ({}, {"margins": True}, {"dropna": False}):
            with pytest.warns(PerformanceWarning, match="Add a column of values"):
                got = on_device(rows).pivot_table(
                    index="a", columns=columns, aggfunc=aggfunc, **options
                )
            assert_same(
                got, rows.pivot_table(index="a", columns=columns, aggfunc=aggfunc, **options)
            )
