# SPDX-License-Identifier: Apache-2.0
"""pivot."""

import jax
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def pairs_once():
    frame = mixed_frame()
    frame["c"] = frame.c.cat.remove_unused_categories()
    return frame.drop_duplicates(["k", "c"])


def test_labels_of_the_values_and_their_dtype():
    frame = pairs_once()[["k", "c", "x", "i"]]
    frame.columns.name = "of"
    assert_parity(
        lambda f: (
            f.pivot(index="k", columns="c"),
            f.pivot(index="k", columns="c", values=["x", "i"]),
            f.pivot(index="k", columns="c", values=pd.Index(["i", "x"], name="other")),
            f.pivot(index="k", columns="c", values="i"),
        ),
        frame,
        ways=["eager"],
    )
    whole = pd.DataFrame({"a": [1, 1], "b": [1, 2], "i": [1, 2], "x": [0.5, 1.5]})
    assert_parity(
        lambda f: (
            f.pivot(index="a", columns="b"),
            f.pivot(index="a", columns="b", values=["i", "x"]),
        ),
        whole,
        ways=["eager"],
    )


def test_values_by_pairs_of_keys():
    assert_parity(
        lambda f: (
            f.pivot(index="k", columns="c", values="x"),
            f.pivot(index="k", columns="c", values=["x", "i"]),
            f.pivot(index=["k"], columns=["c"]),
            f.pivot(index=["c", "k"], columns="i", values="x"),
            f.pivot(columns="c", values="x"),
        ),
        pairs_once()[["k", "c", "x", "i"]],
        ways=["eager", "mesh"],
    )


def test_types():
    assert_parity(
        lambda f: (
            *(f.pivot(index="k", columns="c", values=v) for v in "xfstd"),
            f.pivot(index="s", columns="k", values="i"),
            f.pivot(index="k", columns=["b", "s"], values="i"),
            f[:1].pivot(index="k", columns="c", values="i"),
            f[:0].pivot(index="k", columns="c", values="x"),
        ),
        pairs_once().drop_duplicates(["k", "s"]),
        ways=["eager"],
    )


def test_integers_and_bools_without_holes_keep_their_types():
    frame = pd.DataFrame({"r": [1, 1, 2, 2], "c": list("abba")})
    frame = frame.assign(v=frame.r.astype("uint64"), w=frame.r == 1, z=frame.r.astype("int8"))
    assert_parity(lambda f: f.pivot(index="r", columns="c"), frame, ways=["eager"])
    assert_parity(
        lambda f: f[:3][["r", "c", "v", "z"]].pivot(index="r", columns="c"), frame, ways=["eager"]
    )


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "s", "x"]]
    message = assert_same_error(lambda f: f.pivot(index="k", columns="s", values="x"), frame)
    assert message == "Index contains duplicate entries, cannot reshape"
    assert_same_error(lambda f: f.pivot(index="none", columns="s"), frame)
    assert_same_error(lambda f: f.pivot(index="k", columns="s", values="none"), frame)
    with pytest.raises(NotImplementedError, match="pivot: column labels are not known inside jit"):
        jax.jit(lambda f: f.pivot(columns="s", values="x"))(on_device(frame))


def test_a_column_without_a_label_is_a_key():
    frame = pd.DataFrame([["x", 1, 3], ["y", 2, 4]], columns=pd.Index([None, "b", "c"]))
    result = on_device(frame).pivot(index=None, columns="b").to_pandas()
    assert result.columns.tolist() == [("c", 1), ("c", 2)]
    assert result.index.tolist() == ["x", "y"]
