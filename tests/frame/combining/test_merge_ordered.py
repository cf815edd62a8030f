# SPDX-License-Identifier: Apache-2.0
"""merge_ordered."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_operations import functions_for
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes import frame as jf

LEFT = mixed_frame(25)[["k", "x", "s", "b"]].assign(t=np.random.default_rng(0).permutation(25))
RIGHT = (
    mixed_frame(14, seed=5)[["x", "i", "s"]]
    .assign(t=np.random.default_rng(1).integers(0, 40, 14))
    .rename(columns={"i": "v"})
)


def merged(f, g, **options):
    return functions_for(f).merge_ordered(f, g, **options)


@pytest.mark.parametrize("how", ["outer", "left", "right", "inner"])
@pytest.mark.parametrize("fill_method", [None, "ffill"])
def test_rows_in_the_order_of_keys(how, fill_method):
    options = {"how": how, "fill_method": fill_method}
    assert_parity(
        lambda f, g: (
            merged(f, g, on="t", **options),
            merged(f[["t", "k"]], g[["t", "v"]], **options),
            merged(f, g, on=["s", "t"], suffixes=("", "_r"), **options),
            merged(f, g.rename(columns={"t": "q"}), left_on="t", right_on="q", **options),
            merged(f[:0], g, on="t", **options),
            merged(f, g.assign(t=g.t + 100), on="t", **options),
        ),
        LEFT,
        RIGHT,
        ways=["eager"],
    )


@pytest.mark.parametrize("fill_method", [None, "ffill"])
def test_groups_of_a_side(fill_method):
    left, right = LEFT[["t", "k", "b", "x"]], RIGHT[["t", "v", "s"]]
    options = {"on": "t", "fill_method": fill_method}
    assert_parity(
        lambda f, g: (
            merged(f, g, left_by="k", **options),
            merged(f, g, left_by=["b", "k"], how="left", **options),
            merged(g, f, right_by="k", **options),
            merged(g, f, right_by="k", how="inner", **options),
            merged(f.drop(columns="b"), g.rename(columns={"v": "x"}), left_by="k", **options),
            merged(g, f[["t", "x"]], left_by="s", **options),
        ),
        left,
        right,
        ways=["eager"],
    )


def test_labels_by_name_are_a_column_of_the_result():
    left, right = LEFT.set_index("t")[["x"]], RIGHT.drop_duplicates("t").set_index("t")[["v"]]
    assert_parity(lambda f, g: merged(f, g, on="t"), left, right, ways=["eager"])


def test_on_meshes_and_inside_jit():
    left, right = LEFT[["t", "k"]], RIGHT[["t", "v"]]
    options = {"on": "t", "fill_method": "ffill"}
    assert_parity(
        lambda f, g: merged(f, g, left_by="k", **options),
        left,
        right,
        ways=["mesh"],
        num_devices=4,
    )
    got = jax.jit(lambda f, g: jf.merge_ordered(f, g, capacity=64, **options))(
        on_device(left), on_device(right)
    )
    assert_same(got.to_pandas().astype("float64"), pd.merge_ordered(left, right, **options) * 1.0)


def test_wrong_uses():
    for wrong in (
        {"on": "t", "left_by": "k", "right_by": "v"},
        {"on": "t", "left_by": "none"},
        {"on": "t", "right_by": ["v", "none"]},
        {"on": "t", "fill_method": "bfill"},
        {"on": "none"},
    ):
        assert_same_error(lambda f, g, w=wrong: merged(f, g, **w), LEFT, RIGHT)
    ours = on_device(LEFT), on_device(RIGHT)
    with pytest.raises(NotImplementedError, match="Add them to on="):
        jf.merge_ordered(*ours, on="t", left_by="s")
    with pytest.raises(NotImplementedError, match="inside jit"):
        jax.jit(lambda f, g: jf.merge_ordered(f, g, on="t", left_by="k"))(*ours)
    with pytest.raises(ValueError, match="no row has a group"):
        jf.merge_ordered(ours[0][:0], ours[1], on="t", left_by="k")
