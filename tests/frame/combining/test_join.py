# SPDX-License-Identifier: Apache-2.0
import jax
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error
from jaxframes.frame import JaxFrame


def sides():
    return (
        mixed_frame(37).set_index("i")[["k", "s"]],
        mixed_frame(23, seed=7).set_index("k")[["b", "x", "s"]],
    )


@pytest.mark.parametrize("how", ["left", "right", "inner", "outer"])
def test_by_labels_of_both_and_by_a_column(how):
    left, right = sides()
    assert_parity(
        lambda a, b: (
            a.join(b, on="k", how=how, suffixes=("", "_r")),
            a.join(b, how=how, suffixes=("_l", "")),
            a.join(b["x"], on="k", how=how, sort=True),
        ),
        left,
        right,
        ways=["eager"],
    )


def test_by_ranges_of_which_one_goes_down():
    left = pd.DataFrame({"x": [1.0, 2, 3, 4]}, index=pd.RangeIndex(7, -1, -2))
    up, down = pd.RangeIndex(9), pd.RangeIndex(8, -1, -1)
    for index in (up, down):
        right = pd.DataFrame({"y": range(9)}, index=index)
        assert_parity(lambda a, b: a.join(b, how="inner"), left, right, ways=["eager"])
        joined = jax.jit(lambda a, b: a.join(b, how="inner", capacity=64))
        assert_same(joined(JaxFrame(left), JaxFrame(right)), left.join(right, how="inner"))


def test_inside_jit():
    left, right = sides()
    joined = jax.jit(lambda a, b: a.join(b["x"], on="k", capacity=320))
    assert_same(joined(JaxFrame(left), JaxFrame(right)), left.join(right["x"], on="k"))


def test_wrong_arguments_are_pandas_errors():
    left, right = sides()
    assert_same_error(lambda a, b: a.join(b), left, right)
    assert_same_error(lambda a, b: a.join(b, on=["k", "s"]), left, right)
    assert_same_error(lambda a, b: a.join(b, how="bogus"), left, right)
    assert_same_error(lambda a, b: a.join(b, lsuffix="_l", suffixes=("", "_r")), left, right)
    assert_same_error(lambda a, b: a.join(b), left, pd.Series([1, 2]))
