# SPDX-License-Identifier: Apache-2.0
"""Sums of strings by group: concatenations."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity
from jaxframes.frame import JaxFrame


def words_frame():
    frame = mixed_frame()[["k", "s", "i"]]
    # Float keys are factorized, a missing key has no group, and one group has no string.
    return frame.assign(x=np.where(frame.k == 3, np.nan, frame.k / 2), s=frame.s.mask(frame.k == 4))


def sums(f):
    by_digit, by_value = f.groupby("k"), f.groupby("x", sort=False, dropna=False)
    return (
        by_digit.s.sum(),
        by_digit.sum(),
        by_digit.s.sum(min_count=4),
        by_digit.s.sum(skipna=False),
        by_value.s.sum(),
        by_value.agg({"s": ["sum", "max"], "i": "sum"}),
        f.groupby("x").s.transform("sum"),
        f.groupby(["k", "x"], as_index=False).s.sum(),
    )


def test_strings_of_each_group():
    assert_parity(sums, words_frame(), ways=["eager"])
    assert_parity(sums, words_frame()[:0], ways=["eager"])


def test_on_a_mesh():
    assert_parity(lambda f: f.groupby("k").s.sum(), words_frame()[["k", "s"]], ways=["mesh"])


def test_categories_without_rows_have_an_empty_string():
    frame = pd.DataFrame({"c": pd.Categorical(["u", "v", "u"], ["w", "u", "v"]), "s": list("xyz")})
    assert_parity(
        lambda f: f.groupby("c", observed=False).s.agg(["sum", "count"]), frame, ways=["eager"]
    )


def test_not_inside_jit():
    with pytest.raises(NotImplementedError, match="inside jit the strings of column 's'"):
        jax.jit(lambda f: f.groupby("k").s.sum())(JaxFrame(words_frame()))
