# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def _relabelled(f):
    h = f.set_index(["s", "k"])
    return (
        f.rename(columns={"x": "X"}).rename_axis("id").reset_index(),
        f.rename(str.upper, axis=1),
        f.rename_axis(columns="C"),
        f.set_axis(list("ABCDEFGHIJ"), axis=1),
        f.add_prefix("a_").add_suffix("_b"),
        f.drop(columns=["x", "y"]),
        f.drop("x", axis=1),
        f.drop(columns=list(f.columns)),
        f.drop(columns=["x", "q"], errors="ignore"),
        f.filter(like="x"),
        f.filter(regex="^[xy]"),
        f.filter(["y", "q", "x"]),
        f.sort_index(axis=1),
        f.select_dtypes("number"),
        f.select_dtypes(exclude=["number", "str"]),
        f.set_index("s").x,
        f.set_index("k", append=True),
        f.set_index("k", drop=False),
        h,
        h.reset_index(),
        h.reset_index("k"),
        h.reset_index(level=0, drop=True),
        h.reset_index(names=["u", "v"]),
        h.rename_axis(["u", "v"]),
        h.rename_axis(index={"s": "S"}),
        h.swaplevel(),
        h.droplevel(0),
        f.x.rename("z").reset_index(),
        f.x.reset_index(name="w"),
        f.x.reset_index(drop=True),
        f.x.rename(None).to_frame(),
        f.x.to_frame("w"),
        f.x.rename_axis("q"),
        f.copy().pipe(lambda g: g.head(2)),
    )


def test_labels_change_as_in_pandas():
    assert_parity(_relabelled, mixed_frame())


@pytest.mark.parametrize("num_rows", [0, 1])
def test_few_rows(num_rows):
    assert_parity(_relabelled, mixed_frame()[:num_rows], ways=["eager"])


def test_sort_index():
    def by_labels(f):
        h = f.set_index(["s", "k"])
        return (
            h.sort_index(),
            h.sort_index(ascending=[False, True]),
            h.sort_index(level="k"),
            f.sort_index(ascending=False),
            f.sort_index(ignore_index=True),
            f.set_index("t").sort_index(),
            f.set_index("x").sort_index(na_position="first", kind="stable"),
            f.set_index("c").y.sort_index(ascending=False, kind="stable"),
        )

    assert_parity(by_labels, mixed_frame(), ways=["eager", "jit"])
    assert_parity(lambda f: f.set_index("s").sort_index(), mixed_frame(), ways=["mesh"])


def test_labels_set_on_the_frame():
    def set_labels(f):
        f = f.copy()
        f.columns = list("abcdefghij")
        f.index = np.arange(len(f)) * 2
        f.a = f.b + 1
        f.insert(1, "new", f.b * 2)
        del f["c"]
        series = f.a.copy()
        series.name = "renamed"
        return f, series

    assert_parity(set_labels, mixed_frame(), ways=["eager"])


def test_columns_that_were_picked_keep_the_names_their_labels_had():
    def picked_between(f):
        f = f.copy()
        before, again = f[["y", "x"]], f[["y", "x"]][["x"]]
        f.columns.name = "c"
        return before, again, f[["x"]], before[["x", "y"]], f[["x", "y"]].rename_axis(columns="d")

    assert_parity(picked_between, mixed_frame(), ways=["eager"])
    two_levels = pd.DataFrame(np.eye(3), columns=[["a", "a", "b"], [1, 2, 1]])
    assert_parity(lambda f: (f["a"], f[["b", "a"]][[("a", 2)]]), two_levels, ways=["eager", "jit"])
    by_number = pd.DataFrame(np.eye(3), columns=[5, 3, 4])
    assert_parity(lambda f: (f[[4, 5]], f[[4, 5]][5], f.drop(columns=3)), by_number, ways=["eager"])


@pytest.mark.parametrize(
    "labels",
    [
        pd.Index([1, 2, 3], dtype=np.uint64),
        pd.Index([0.1, 0.2, 0.3], dtype=np.float32),
        pd.Index([True, False, True]),
        pd.date_range("2020", periods=3),
        pd.MultiIndex.from_arrays([["a", "b", "c"], [1, 2, 3]]),
    ],
    ids=lambda labels: str(labels.dtype),
)
def test_labels_of_picked_columns_are_of_pandas_types(labels):
    frame = pd.DataFrame(np.eye(3), columns=labels)
    ours = on_device(frame)
    for position in range(3):
        expected, got = frame.iloc[:, position].name, ours.iloc[:, position].name
        assert (got, type(got)) == (expected, type(expected))
    for got, expected in zip(ours, frame, strict=True):
        assert (got, type(got)) == (expected, type(expected))
    twice = frame.iloc[:, [2, 0, 1]].iloc[:, [0, 2]].columns
    got = ours.iloc[:, [2, 0, 1]].iloc[:, [0, 2]].columns
    assert got.identical(twice)
    assert getattr(got, "freq", None) == getattr(twice, "freq", None)


def test_wrong_labels_are_pandas_errors():
    frame = pd.DataFrame({"x": [2, 1], "y": [1, 2]})

    def set_columns(f):
        f = f.copy()
        f.columns = ["a"]

    def set_index(f):
        f = f.copy()
        f.index = [1, 2, 3]

    assert "Length mismatch" in assert_same_error(set_columns, frame)
    assert "Length mismatch" in assert_same_error(set_index, frame)
    assert "bogus" in assert_same_error(lambda f: f.set_index("bogus"), frame)
    assert "bogus" in assert_same_error(lambda f: f.drop(columns="bogus"), frame)
    assert_same_error(lambda f: f.drop(), frame)
    assert "x" in assert_same_error(lambda f: f.insert(0, "x", 1), frame)
    assert "x" in assert_same_error(lambda f: f.set_index("x", drop=False).reset_index(), frame)
    assert "bogus" in assert_same_error(lambda f: f.reset_index("bogus"), frame)
    assert_same_error(lambda f: f.set_index(["x"]).set_index(np.arange(3)), frame)
    with pytest.raises(AttributeError, match="frame\\['z'\\]"):
        on_device(frame).z = 1


def test_a_series_as_labels_keeps_its_name_and_categories():
    for labels in (pd.Series([3, 4], name="b"), pd.Series(["v", "w"], dtype="category", name="c")):
        assert_parity(lambda f, at: type(f)({"x": [1, 2]}, index=at),
                      mixed_frame()[:2], labels, ways=["eager"])  # fmt: skip
        assert_parity(lambda s, at: type(s)([1, 2], index=at), labels, labels, ways=["eager"])
