# SPDX-License-Identifier: Apache-2.0
"""min."""

import numpy as np
import pandas as pd
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_keeps_the_dtype_of_the_column():
    numbers = {dtype: np.array([5, 3, 7], dtype) for dtype in ("int8", "uint64", "float32")}
    frame = pd.DataFrame(numbers)
    assert_parity(lambda f: tuple(f[[dtype]].min() for dtype in f.columns), frame, ways=["jit"])
    assert_parity(lambda f: (f.int8.min(), f.float32.min(), f.min()), frame, ways=["eager"])


def test_is_no_greater_than_any_value_and_one_of_them():
    ours = on_device(mixed_frame())
    for label in ("x", "s"):
        values = ours[label].dropna()
        assert bool((values >= values.min()).all())
        assert bool(values.isin([values.min()]).any())
    assert ours.i.min() == -(-ours.i).max()


def test_missing_and_infinite_values():
    assert_parity(
        lambda s: (s.min(), s.min(skipna=False), s[s > 0].min(), s[s.isna()].min(), s[:0].min()),
        floats(),
        ways=["eager"],
    )
    frame = mixed_frame()[["s", "t", "d", "c"]]
    assert_parity(
        lambda f: tuple(
            (f[n].min(skipna=False), f[n].min(numeric_only=True), f[n][:0].min(), f[n][:1].min())
            for n in "tdc"
        ),
        frame,
        ways=["eager"],
    )


def test_of_rows_and_of_all():
    frame = pd.DataFrame({"x": [1.0, np.nan, np.nan], "y": [2.0, -1.0, np.nan]})
    assert_parity(
        lambda f: (f.min(axis=1), f.min(axis="columns", skipna=False), f.min(axis=None)), frame
    )


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.min(), frame.assign(c=frame.c.cat.as_unordered())[["c"]])
    assert_same_error(lambda f: f.k.min(min_count=1), frame)
    assert_same_error(lambda f: f.k.min(axis="rows", skipna=None), frame)
