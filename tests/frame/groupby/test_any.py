# SPDX-License-Identifier: Apache-2.0
"""groupby.any."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error


def test_a_missing_value_is_true_only_where_skipna_is_false():
    frame = pd.DataFrame(
        {
            "k": [1, 1, 2, 3],
            "x": [np.nan, 0.0, np.nan, -1.0],
            "s": pd.array(["", None, None, "a"], "str"),
        }
    )
    assert_parity(
        lambda f: (f.groupby("k").any(), f.groupby("k").any(skipna=False)), frame, ways=["jit"]
    )
    for num_rows in (0, 1):
        assert_parity(lambda f: f.groupby("k").any(), frame[:num_rows], ways=["eager"])


def test_it_is_no_all_of_the_opposite():
    def both(f):
        return f.groupby("k").b.any(), ~(~f.b).groupby(f.k).all()

    assert_parity(both, mixed_frame()[["k", "b"]], ways=["eager"])


def test_datetimes_are_neither_true_nor_false():
    frame = mixed_frame()[["k", "t"]]
    assert "'t'" in assert_same_error(lambda f: f.groupby("k").any(), frame)
    assert_same_error(lambda f: f.groupby("k").any(numeric_only=True), frame)
