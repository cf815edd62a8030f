# SPDX-License-Identifier: Apache-2.0
"""is_unique."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import integers, mixed_frame
from frame_parity import assert_parity, on_device

FRAME = mixed_frame()


@pytest.mark.parametrize("label", FRAME.columns)
def test_columns_of_each_kind(label):
    for series in (FRAME[label], FRAME[label].drop_duplicates(), FRAME[label].dropna()):
        assert_parity(lambda s: s.is_unique, series, ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(lambda s: s.is_unique, FRAME[label][:num_rows], ways=["eager"])


def test_extremes_of_integers():
    for dtype in ("int8", "uint64"):
        series = integers(dtype).drop_duplicates()
        assert_parity(lambda s: s.is_unique, series, ways=["eager"])


def test_missing_values_and_zeros_are_equal():
    for values in ([np.nan, 1.0], [np.nan, np.nan], [0.0, -0.0], [np.inf, -np.inf]):
        assert_parity(lambda s: s.is_unique, pd.Series(values), ways=["eager"])


def test_inside_jit():
    assert_parity(lambda s: s.is_unique, FRAME["x"], ways=["jit"])
    # Padding does not count.
    assert bool(jax.jit(lambda s: s.is_unique)(on_device(pd.Series(range(5)))))
