# SPDX-License-Identifier: Apache-2.0
"""//, % of numbers and plain columns by nullable columns: Float64 if a divisor is zero."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from mode_runs import Modes


@pytest.mark.parametrize("mode", ["eager", "plan", "batches of 2", "mesh"])
@pytest.mark.parametrize("dtype", ["Int64", "UInt8", "boolean"])
def test_numbers_divided_by_nullable_zeros_are_floats(mode, dtype, tmp_path):
    divisor = [True, None, False, True, True] if dtype == "boolean" else [4, None, 0, 3, 7]
    frame = pd.DataFrame({"a": pd.array(divisor, dtype), "b": np.array([5, 9, 0, 7, 1])})

    def divided(f):
        # A nullable column of integers on the left keeps them: 0 by zero.
        return f.assign(n=10 // f.a, r=10 % f.a, c=f.b // f.a, d=f.b % f.a, e=f.b // (1 + f.a))

    tables = [pa.Table.from_pandas(frame, preserve_index=False)]
    pd.testing.assert_frame_equal(Modes(divided, tmp_path)(mode, tables), divided(frame))
    inside = Modes(divided, tmp_path)("jit", tables)
    assert {str(inside[label].dtype) for label in "nc"} == {"Float64"}


@pytest.mark.parametrize("mode", ["eager", "plan", "batches of 2"])
def test_missing_divisors_are_not_zeros(mode, tmp_path):
    frame = pd.DataFrame({"a": pd.array([4, None], "Int8") * np.array([1, 0], "int8")})
    tables = [pa.Table.from_pandas(frame, preserve_index=False)]
    result = Modes(lambda f: 10 // f.a, tmp_path)(mode, tables)
    pd.testing.assert_series_equal(result, pd.Series([2, None], dtype="Int8", name="a"))
