# SPDX-License-Identifier: Apache-2.0
"""cov."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

ULPS = 64


def pairs():
    return pd.DataFrame({"x": [1.0, 2.0, np.nan, 4.0], "y": [2.0, np.nan, 0.0, 7.0], "n": np.nan})


def test_counts_rows_where_both_have_a_value():
    assert_parity(
        lambda f: (f.cov(), f.cov(min_periods=3), f.cov(ddof=2), f.x.cov(f.y, min_periods=3)),
        pairs(),
        ways=["eager"],
        ulps=ULPS,
    )
    assert_parity(lambda f: (f.x.cov(f.y, ddof=0), f.x.cov(f.n)), pairs(), ways=["jit"], ulps=ULPS)


def test_is_symmetric_with_variances_on_its_diagonal():
    ours = on_device(mixed_frame()[["k", "i"]])
    matrix = ours.cov().to_pandas().to_numpy()
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_allclose(np.diag(matrix), ours.var().to_pandas(), rtol=1e-14)
    np.testing.assert_allclose((ours.k * 3).cov(ours.i), 3 * matrix[0, 1], rtol=1e-13)


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.cov(), frame[["k", "s"]])
    for time in ("t", "d"):
        assert_same_error(lambda f: f.cov(), frame[["k", time]])
        assert_same_error(lambda f: f.cov(numeric_only=True), frame[["k", time]])
    assert_same_error(lambda f: f.k.cov(), frame)


@pytest.mark.parametrize("values", [[None, None], [3, None, 5.0, 1], [True, None, False]])
def test_objects_are_converted_to_numbers(values):
    frame = pd.DataFrame({"o": pd.Series(values, dtype=object), "x": np.arange(len(values)) ** 2.0})
    assert_parity(lambda f: (f.cov(), f.corr(), f.o.cov(f.x)), frame, ways=["eager"], ulps=ULPS)


def test_objects_that_are_no_numbers_are_pandas_errors():
    frame = pd.DataFrame({"o": pd.Series([b"a", b"b"], dtype=object), "x": [1.0, 2.0]})
    assert_same_error(lambda f: f.cov(), frame)
