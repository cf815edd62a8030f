# SPDX-License-Identifier: Apache-2.0
"""groupby.nunique."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error


def test_missing_values_are_one_more_where_dropna_is_false():
    def counts(f):
        grouped = f.groupby("b")
        return grouped.nunique(dropna=False), grouped.nunique()

    frame = mixed_frame()[["b", "x", "s", "c", "t"]]
    for num_rows in (37, 0):
        assert_parity(counts, frame[:num_rows], ways=["eager"])


def test_zeros_of_both_signs_are_one_value():
    frame = pd.DataFrame({"k": [1, 1, 1, 2, 2], "x": [0.0, -0.0, np.nan, np.inf, -np.inf]})
    assert_parity(
        lambda f: (f.groupby("k").x.nunique(), f.groupby("k").x.nunique(dropna=False)),
        frame,
        ways=["jit"],
    )


def test_the_key_has_one_value_in_each_group():
    assert_parity(
        lambda f: (f.groupby("k").k.nunique(), f.groupby("k", as_index=False).nunique()),
        mixed_frame()[["k", "i"]],
        ways=["eager"],
    )


def test_it_knows_no_numeric_only():
    frame = mixed_frame()[["k", "x"]]
    assert_same_error(lambda f: f.groupby("k").nunique(numeric_only=True), frame)
