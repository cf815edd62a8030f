# SPDX-License-Identifier: Apache-2.0
"""pivot_table."""

import jax
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device


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


def test_margins():
    assert_parity(
        lambda f: (
            f.pivot_table("i", "k", "b", "sum", margins=True),
            f.pivot_table("x", "k", "b", margins=True),
            f.pivot_table("i", ["k", "b"], "s", "sum", margins=True, margins_name="T"),
            f.pivot_table("i", "k", ["b", "s"], "sum", margins=True, fill_value=0),
            f.pivot_table("i", "s", "c", "sum", margins=True),
            f.pivot_table("i", "k", aggfunc="sum", margins=True),
            f[["k", "b", "i", "x"]].pivot_table(index="k", columns="b", margins=True),
        ),
        mixed_frame()[["k", "b", "i", "x", "s", "c"]],
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
    with pytest.raises(NotImplementedError, match="dropna must be True"):
        on_device(frame).pivot_table("x", "k", dropna=False)
    assert_same_error(lambda f: f.pivot_table("x", "k", margins=True, margins_name=1), frame)
    assert_same_error(lambda f: f.pivot_table("x", "s", margins=True, margins_name="a"), frame)
    with pytest.raises(NotImplementedError, match="margins need an index"):
        on_device(frame).pivot_table("x", columns="k", margins=True)
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda f: f.pivot_table("x", "k", "s"))(on_device(frame))
