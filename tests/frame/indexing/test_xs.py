# SPDX-License-Identifier: Apache-2.0
"""xs, and loc with several levels of labels."""

import jax
import pandas as pd
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


def test_wrong_uses_are_pandas_errors():
    for wrong in (
        lambda f: f.loc[99],
        lambda f: f.loc[(0, 99)],
        lambda f: f.loc[[0, 99]],
        lambda f: f.loc[[(0, "q")]],
        lambda f: f.loc[0, True, True],
        lambda f: f.i.loc[99],
        lambda f: f.xs(99),
        lambda f: f.xs(0, level="none"),
        lambda f: f.reset_index(drop=True).xs(0, level=0),
    ):
        assert_same_error(wrong, labelled_once())
    with pytest.raises(NotImplementedError, match="mask inside jit"):
        jax.jit(lambda f: f.xs(0))(on_device(labelled_once()))
    with pytest.raises(NotImplementedError, match=r"slice\(None\)"):
        on_device(labelled_once()).loc[(slice(0, 1), True), :]
