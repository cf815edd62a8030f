# SPDX-License-Identifier: Apache-2.0
"""isin."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_takes_anything_that_lists_values():
    numbers = pd.Series([1, 2, 3, 4])
    assert_parity(
        lambda s: (
            s.isin((1, 9)),
            s.isin({2}),
            s.isin(np.array([3.0, np.nan])),
            s.isin(pd.Index([4])),
            s.isin(range(2)),
            s[:0].isin([1]),
        ),
        numbers,
        ways=["eager"],
    )


def test_a_missing_value_is_found_if_it_is_listed():
    frame = pd.DataFrame({"x": [np.nan, 0.0, -0.0], "s": ["", None, "a"]})
    assert_parity(
        lambda f: (f.isin([np.nan]), f.isin([0.0, ""]), f.isin({"x": [0], "other": [1]})), frame
    )


def test_rows_are_listed_or_not():
    ours = on_device(mixed_frame())
    assert bool(ours.k.isin(ours.k.tolist()).all())
    low, high = ours.k.isin([0, 1]), ours.k.isin([2, 3, 4])
    assert bool((low != high).all())
    assert low.equals((ours.k == 0) | (ours.k == 1))


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda f: f.isin("b"), frame)
    assert_same_error(lambda f: f.k.isin(None), frame)
    assert_same_error(lambda f: f.k.isin(), frame)
