# SPDX-License-Identifier: Apache-2.0
"""round."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import floats, integers, mixed_frame
from frame_parity import assert_parity, assert_same_error

HALVES = pd.Series([0.5, 1.5, 2.5, -0.5, -1.5, 0.125, 0.375, 1e300, np.nan, -np.inf])


def test_halves_go_to_the_even_neighbour():
    assert_parity(lambda s: (s.round(), s.round(1), s.round(2)), HALVES, ways=["eager"])
    assert_parity(lambda s: s.round(2), HALVES[:7].astype("float32"), ways=["eager"])


def test_negative_decimals_round_before_the_point():
    def rounded(s):
        return s.round(-1), s.round(-3)

    assert_parity(rounded, mixed_frame()["x"] * 1000, ways=["eager"])
    assert_parity(rounded, mixed_frame()["i"], ways=["eager"])
    assert_parity(lambda s: s.round(5), integers("int8"), ways=["eager"])
    assert_parity(lambda f: f.round(), mixed_frame()[["s", "c"]], ways=["eager"])


def test_each_column_may_have_its_own_decimals():
    frame = mixed_frame()[["x", "f", "k", "s", "b"]]
    decimals = pd.Series({"f": 0, "x": 3})
    assert_parity(lambda f: (f.round({"x": 1, "q": 2}), f.round({})), frame, ways=["jit"])
    assert_parity(lambda f: (f.round(decimals), f.round(1)), frame, ways=["eager"])


def test_it_is_idempotent_of_few_rows_too():
    assert_parity(lambda s: s.round(2).round(2), floats(), ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(lambda s: s.round(2), floats()[:num_rows], ways=["eager"])


@pytest.mark.checks_arguments
def test_decimals_must_be_integers():
    frame = mixed_frame()[["x", "k"]]
    assert_same_error(lambda f: f.round(1.5), frame)
    assert_same_error(lambda f: f.round({"x": "a"}), frame)
    assert_same_error(lambda s: s.round("a"), frame["x"])


def test_objects_of_a_series():
    assert_parity(lambda s: s.round(1), pd.Series([1.26, 2, 3.0], dtype=object), ways=["eager"])
