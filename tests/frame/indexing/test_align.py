# SPDX-License-Identifier: Apache-2.0
"""align and combine_first."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

LEFT = pd.DataFrame({"x": [1, 2], "y": [1.0, np.nan]}, index=[2, 1])
RIGHT = pd.DataFrame({"x": [5, 6], "z": ["a", "b"], "w": [True, False]}, index=[1, 3])


@pytest.mark.parametrize("join", ["outer", "inner", "left", "right"])
def test_labels_of_both_sides(join):
    assert_parity(
        lambda f, g: (
            *f.align(g, join=join),
            *f.align(g, join=join, axis=0),
            *f.align(g, join=join, axis=1),
            *f.x.align(g.x, join=join),
        ),
        LEFT,
        RIGHT,
        ways=["eager"],
    )
    assert_parity(lambda f: f.align(f[["x", "y"]], join=join), LEFT[::-1], ways=["eager"])


def test_fill_values():
    assert_parity(lambda f, g: f[["x"]].align(g[["x"]], fill_value=0), LEFT, RIGHT, ways=["eager"])


def test_missing_values_are_those_of_the_other():
    assert_parity(
        lambda f, g: (
            f.combine_first(g),
            g.combine_first(f),
            f.x.combine_first(g.x),
            f.y.combine_first(g.x),
        ),
        LEFT,
        RIGHT,
        ways=["eager"],
    )
    assert_parity(
        lambda f: (f.combine_first(f[::-1].reset_index(drop=True)), f.x[:3].combine_first(f.y)),
        mixed_frame()[["x", "y", "s", "t"]],
        ways=["eager"],
    )


def test_equal_ranges_inside_jit():
    frame = mixed_frame()[["x", "y", "f"]]
    assert_parity(lambda f: (f.x.combine_first(f.y), *f.align(f)), frame, ways=["jit"])


def test_wrong_uses():
    ours = on_device(LEFT)
    with pytest.raises(NotImplementedError, match="other must be a JaxFrame"):
        ours.align(ours.x)
    with pytest.raises(ValueError, match="join must be"):
        ours.align(ours, join="none")


@pytest.mark.parametrize("dtype", ["int64", "uint64", "Int64", "UInt64"])
def test_wide_integers_are_combined_exactly(dtype):
    wide = pd.Series([1666880195890293744, 1666880195890293837], dtype=dtype)
    other = pd.Series([1, 2, 3], dtype=dtype)
    combined = on_device(wide).combine_first(on_device(other))
    assert_same(combined, wide.combine_first(other))


def test_combined_objects_show_integers_and_own_missing_values():
    small = pd.Series([2, 1], dtype="int8")
    objects = pd.Series([None, "x", None], [1, 2, 5], dtype=object)
    assert_parity(
        lambda f, g: (
            f.combine_first(g),
            g.combine_first(f),
            g.combine_first(f.astype("Int8")),
            g.combine_first(g[:2]),
        ),
        small,
        objects,
        ways=["eager"],
    )


def test_combine_first_has_the_dtype_of_both():
    def combined(one, other):
        return one.combine_first(other)

    bools, more = pd.Series([True, False]), pd.Series([True, True], [1, 2])
    frames = bools.to_frame("b"), more.to_frame("b")
    assert_parity(combined, *frames, ways=["eager"])
    assert_parity(combined, bools, more, ways=["eager"])
    assert_parity(combined, pd.Series([1, 2]), pd.Series(dtype="float64"), ways=["eager"])


NAMED = {
    "strings": (["x", "y"], ["y", "w"]),
    "integers": ([1, 2], [0, 1]),
    "floats": ([1.0, 2.0], [1, 5]),
    "other order": (["x", "y"], ["y", "x"]),
    "equal": ([1, 2], [1, 2]),
    "ranges": (range(3), range(1, 5)),
    "none on the left": ([], ["x", "y"]),
    "none on the right": (["x", "y"], []),
}


@pytest.mark.parametrize("labels", NAMED)
def test_names_of_aligned_labels_are_those_of_the_left(labels):
    def aligned(a, b):
        both = a + b, *a.align(b), a.add(b, fill_value=0), a.combine_first(b)
        return *both, a.p + b.p, *a.p.align(b.p), a.p.combine_first(b.p)

    for names in (("k", "j"), ("k", None), (None, "k"), ("k", "k")):
        left, right = (
            pd.DataFrame({"p": np.arange(len(one)) + 0.5}, index=pd.Index(one, name=name))
            for one, name in zip(NAMED[labels], names, strict=True)
        )
        assert_parity(aligned, left, right, ways=["eager"])


@pytest.mark.parametrize(
    "other", [pd.DataFrame(), pd.DataFrame({"z": []}), pd.DataFrame({"x": []})]
)
def test_rows_keep_their_order_beside_a_frame_of_nothing(other):
    frame = pd.DataFrame({"x": [1.0, 2.0, None]}, index=["b", "a", "c"])
    assert_parity(lambda f, g: f.combine_first(g), frame, other, ways=["eager"])


def test_combine_first_of_labels_that_repeat():
    one = pd.Series([1.0, np.nan, 3.0], ["a", "a", "b"], name="x")
    other = pd.Series([9.0, 8.0, 7.0], ["a", "b", "c"], name="x")

    def combined(f, g):
        return f.combine_first(g)

    for sides in ((one, other), (other, one), (one, other[:0]), (one, one[:1]), (one[:0], one)):
        assert assert_same_error(combined, *sides) == (
            "cannot reindex on an axis with duplicate labels: combine_first got labels that "
            "repeat. Keep one row of each first, by groupby(level=0).first()."
        )
    # Of labels that are the same, and of frames, pandas has a result.
    assert_parity(combined, one, one * 2, ways=["eager"])
    assert_same_error(combined, one, one.astype("Float64"))
    for sides in ((one, other), (other, one), (one, one * 2)):
        frames = [side.to_frame() for side in sides]
        assert_parity(combined, *frames, ways=["eager"])
    levels = pd.Series([1.0, np.nan], pd.MultiIndex.from_tuples([("a", 1), ("a", 1)]))
    assert_same_error(combined, levels, levels[:1])
    distinct = levels.set_axis(pd.MultiIndex.from_tuples([("a", 1), ("a", 2)]))
    assert_parity(combined, distinct, distinct[:1], ways=["eager"])


@pytest.mark.parametrize("own", [["x", "s", "t"], ["s", "x"], ["t"], []])
@pytest.mark.parametrize("other", [["x", "s", "t"], ["t", "s"], ["x"], []])
@pytest.mark.parametrize("rows", [(0, 0), (0, 1), (1, 0), (1, 2)])
def test_combine_first_orders_columns(own, other, rows):
    def frame(labels, num_rows):
        data = {label: [1.5, np.nan][:num_rows] for label in labels}
        return pd.DataFrame(data, range(num_rows), dtype="float64")

    assert_parity(
        lambda f, g: f.combine_first(g), frame(own, rows[0]), frame(other, rows[1]), ways=["eager"]
    )


@pytest.mark.parametrize("labels", [[], pd.Index([], dtype="int64"), pd.Index([], dtype=object)])
def test_combine_first_without_rows_keeps_the_order(labels):
    full = pd.Series([1.0, np.nan, 3.0], ["c", "a", "b"], name="x")
    empty = pd.Series([], pd.Index(labels), dtype="float64", name="x")
    assert_parity(
        lambda f, g: (f.combine_first(g), g.combine_first(f)), full, empty, ways=["eager"]
    )
    assert_parity(
        lambda f, g: (f.combine_first(g), g.combine_first(f), f.combine_first(f[:0])),
        full.to_frame("z"),
        full[:0].to_frame("y"),
        ways=["eager"],
    )
