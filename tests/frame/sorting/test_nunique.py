# SPDX-License-Identifier: Apache-2.0
"""nunique."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_zeros_of_both_signs_are_one_value_and_so_are_all_missing_ones():
    values = pd.DataFrame({"x": [0.0, -0.0, np.nan, -np.nan, np.inf], "n": [np.nan] * 5})
    assert_parity(
        lambda f: (f.nunique(), f.nunique(dropna=False), f.x.nunique(), f.n.nunique(dropna=False)),
        values,
    )
    assert_parity(lambda f: (f[:0].nunique(), f[:1].nunique()), values, ways=["eager"])


def test_categories_that_do_not_occur_are_not_counted():
    letters = pd.Categorical(["u", None, "u", "v"], categories=["w", "v", "u"])
    assert_parity(
        lambda s: (s.nunique(), s.nunique(dropna=False), s[:2].nunique()),
        pd.Series(letters),
        ways=["eager"],
    )


def test_is_the_length_of_what_is_unique():
    ours = on_device(mixed_frame())
    for label in ("k", "s"):
        column = ours[label]
        assert column.nunique(dropna=False) == len(column.unique())
        assert column.nunique() == len(column.drop_duplicates().dropna())
        assert column.nunique() == len(column.value_counts())


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.nunique(axis=2), frame[["k"]])
    assert_same_error(lambda f: f.k.nunique(axis=0), frame)
    assert_same_error(lambda f: f.nunique(), frame[["k"]].assign(o=[[1]] * 37))
