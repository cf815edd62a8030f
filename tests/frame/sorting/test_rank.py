# SPDX-License-Identifier: Apache-2.0
"""rank."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import floats, integers, mixed_frame
from frame_parity import assert_parity, assert_same_error

METHODS = ("average", "min", "max", "first", "dense")


@pytest.mark.parametrize("na_option", ["keep", "top", "bottom"])
def test_matches_pandas_for_each_method(na_option):
    def ranks(f):
        return tuple(
            f[label].rank(
                method=method, na_option=na_option, ascending=ascending, pct=method != "min"
            )
            for method in METHODS
            for ascending in (True, False)
            for label in ("k", "y", "b", "s", "c", "t")
        )

    assert_parity(ranks, mixed_frame(), ways=["eager"])


def test_in_jit_and_on_a_mesh():
    frame = mixed_frame()[["y", "s"]]
    assert_parity(lambda f: (f.rank(), f.y.rank(method="first", pct=True)), frame, ways=["jit"])
    assert_parity(lambda f: (f.y.rank(), f.y.rank(method="first")), frame, ways=["mesh"])


def test_integers_of_64_bits_and_categories_without_order():
    assert_parity(lambda s: s.rank(), integers("uint64"), ways=["eager"])
    letters = pd.Categorical(["b", "a", None, "c", "a"], categories=["c", "a", "b"])
    assert_parity(lambda s: s.rank(), pd.Series(letters), ways=["eager"])


def test_few_rows():
    assert_parity(lambda s: (s.rank(), s.rank(pct=True)), floats()[:0], ways=["eager"])
    assert_parity(lambda s: (s.rank(), s.rank(na_option="top")), pd.Series([np.nan] * 3))
    assert_parity(lambda f: f.rank(numeric_only=True), mixed_frame()[:1], ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.x.rank(method="bogus"), frame)
    assert_same_error(lambda f: f.x.rank(na_option="bogus"), frame)
    assert_same_error(lambda f: f.x.rank(axis=1), frame)
    assert_same_error(lambda f: f.s.rank(numeric_only=True), frame)
