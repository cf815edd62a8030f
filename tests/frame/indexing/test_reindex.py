# SPDX-License-Identifier: Apache-2.0
"""reindex and reindex_like."""

import jax
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x", "s"]]


def test_columns_come_in_the_order_asked_for_and_new_ones_are_filled():
    def reindexed(f):
        return (
            f.reindex(columns=["s", "new", "k"]), f.reindex(["x"], axis=1),
            f.reindex(columns=["k", "new"], fill_value=0), f.reindex(columns=["k", "k"]),
        )  # fmt: skip

    assert_parity(reindexed, FRAME, ways=["jit"])


def test_its_own_columns_change_nothing():
    assert_parity(lambda f: f.reindex(columns=f.columns), FRAME, ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(lambda f: f.reindex(columns=["x", "new"]), FRAME[:num_rows], ways=["eager"])


@pytest.mark.parametrize("method", ["ffill", "pad", "bfill", "backfill", "nearest"])
def test_rows_near_labels(method):
    few = FRAME[:9].set_axis([1, 2, 4, 8, 16, 32, 64, 128, 129], axis=0)
    labels = [200, 3, -5, 64, 31, 30, 29, 6, 1]
    assert_parity(
        lambda f: (
            f.reindex(labels, method=method),
            f.k.reindex(labels, method=method, tolerance=2),
            f[["k", "x"]].reindex(labels, method=method, fill_value=7, tolerance=1),
            f[::-1].reindex(labels, method=method),
            f[:0].reindex(labels, method=method),
            f.x.set_axis(f.index / 2, axis=0).reindex([0.3, 2.5, 64.6], method=method),
        ),
        few,
        ways=["eager", "mesh"],
    )
    if method != "nearest":
        rising = sorted(labels)
        assert_parity(
            lambda f: (
                f.reindex(rising, method=method, limit=2),
                f.s.reindex(rising, method=method),
            ),
            few,
            ways=["eager"],
        )


def test_rows():
    assert_parity(
        lambda f: (
            f.reindex([5, 1, 99]),
            f.reindex(index=[5, 99], columns=["x", "new"]),
            f[["k", "x"]].reindex([5, 99], fill_value=7),
            f.k.reindex([1, 2]),
            f.k.reindex(pd.Index([3, 99], name="q")),
        ),
        FRAME,
        ways=["eager", "mesh"],
    )


def test_labels_of_other_types():
    frame = mixed_frame().drop_duplicates("s")
    keys = pd.MultiIndex.from_product([[0, 9], [True, False]], names=["k", "b"])
    assert_parity(
        lambda f: (
            f.set_index("s")[["k", "b", "t"]].reindex(["a", "nope", "b"]),
            f.drop_duplicates("t").set_index("t").k.reindex(pd.to_datetime(["2001-01-01"])),
            f.drop_duplicates(["k", "b"]).set_index(["k", "b"]).i.reindex(keys),
            f[["k"]].reindex([]),
            f[:0][["x"]].reindex([1]),
            f[["x"]].reindex_like(f[["k", "x"]][:3]),
            f.k.reindex_like(f[2:4].x),
        ),
        frame,
        ways=["eager"],
    )


def test_wrong_arguments():
    twice = FRAME[["k", "x"]].set_axis(["a", "a"], axis=1)
    assert_same_error(lambda f: f.reindex(columns=["a", "b"]), twice)
    message = assert_same_error(lambda f: f.set_index("k").reindex([0, 1]), FRAME)
    assert message == "cannot reindex on an axis with duplicate labels"
    for options in ({"limit": 1}, {"tolerance": 1}, {"method": "last"}):
        assert_same_error(lambda f, o=options: f.k.reindex([0, 1], **o), FRAME)
    for labels in ([3, 1, 2], [1, 1, 2]):
        few = FRAME[:3].set_axis(labels, axis=0)
        assert_same_error(lambda f: f.reindex([0, 1], method="ffill"), few)
    with pytest.raises(NotImplementedError, match="method= is for rows"):
        on_device(FRAME).reindex(index=[2, 1], columns=["k"], method="ffill")
    with pytest.raises(NotImplementedError, match="level="):
        on_device(FRAME).reindex([2, 1], level=0)
    with pytest.raises(NotImplementedError, match="Merge with a frame of the labels"):
        jax.jit(lambda f: f.reindex([2, 1]))(on_device(FRAME))


def test_the_name_of_a_series_is_that_of_the_labels():
    frame = pd.DataFrame({"a": [1, 2]})
    assert_parity(lambda f: f.reindex(pd.Series([1, 0], name="n")), frame, ways=["eager"])


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64", "bool", "Int64"])
def test_new_columns_have_the_dtype_of_pandas(dtype):
    frame = pd.DataFrame({"a": [1, 0], "b": [0, 1]}, dtype=dtype)

    def reindexed(f):
        mixed = f.assign(c=f["a"].astype("int16"))
        return (
            f.reindex(columns=["a", "z"]), mixed.reindex(columns=["z", "c"]),
            f.reindex(columns=["a", "z"], fill_value=7 if dtype != "bool" else True),
            f.reindex(columns=["z", "b"], index=[0, 1]),
            *([] if dtype == "bool" else [f.reindex(columns=["z", "b"], index=[1, 0])]),
            f.reindex(columns=["z", "b"], index=[1, 7]), f.reindex(columns=["b"], index=[1, 7]),
            mixed.reindex(columns=["a", "z"], index=[1, 0]),
        )  # fmt: skip

    assert_parity(reindexed, frame, ways=["eager"])
    if dtype in ("uint8", "float32"):
        how = {"columns": ["a", "z"], "index": [1, 7], "fill_value": 7}
        assert_parity(lambda f: f.reindex(**how), frame, ways=["eager"])


def test_labels_of_a_series_have_its_name():
    labels = pd.Series(["x", "z"], name="letters")
    assert_parity(
        lambda f, s: (f.reindex(columns=s), f.set_axis(["x", "y"]).reindex(s)),
        pd.DataFrame({"x": [1, 2]}),
        labels,
        ways=["eager"],
    )


def test_labels_of_an_index_have_its_name_even_if_it_is_none():
    frame = pd.DataFrame([[1, 2]], columns=pd.Index(["x", "y"], name="n"))
    for columns in (["x", "z"], pd.Index(["x", "z"]), pd.Index(["x", "z"], name="m")):
        assert_parity(lambda f, c=columns: f.reindex(columns=c), frame, ways=["eager"])


def test_labels_and_axis_exclude_names_of_axes():
    frame = pd.DataFrame({"x": [1, 2], "y": [3, 4]})
    for reindex in (
        lambda f: f.reindex([0], columns=["x"], axis=1),
        lambda f: f.reindex(index=[0], axis="index"),
        lambda f: f.reindex(columns=["x"], axis=0),
        lambda f: f.reindex(labels=[0], index=[0], columns=["x"]),
    ):
        assert assert_same_error(reindex, frame).startswith("Cannot specify ")
    assert_parity(
        lambda f: (f.reindex(["x"], index=[1, 0]), f.reindex([1, 0], columns=["x"])),
        frame,
        ways=["eager"],
    )


def test_columns_that_repeat():
    frame = pd.DataFrame([[1, 2, 3]], columns=["a", "b", "b"])
    for columns in (["a"], ["a", "z"], ["b", "b", "a"]):
        message = assert_same_error(lambda f, c=columns: f.reindex(columns=c), frame)
        assert message.startswith("cannot reindex on an axis with duplicate labels")
    assert_parity(lambda f: f.reindex(columns=["a", "b", "b"]), frame, ways=["eager"])


def test_a_list_of_labels_keeps_the_order_of_the_levels():
    frame = pd.DataFrame({"a": list("yxyx"), "b": list("qppq"), "v": [1, 2, 3, 4]})
    labels = [("x", "p"), ("y", "q"), ("x", "q"), ("y", "p")]
    for listed in (labels, labels[:2], [*labels, ("z", "p")]):
        assert_parity(
            lambda f: f.groupby(["a", "b"], sort=False).sum().reindex(listed).unstack(),  # noqa: B023
            frame,
            ways=["eager"],
        )
