# SPDX-License-Identifier: Apache-2.0
"""groupby.cummax and cummin."""

import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity
from jaxframes.frame import JaxFrame


def test_it_is_idempotent():
    frame = JaxFrame(mixed_frame()[["k", "i", "x"]])
    once = frame.groupby("k").cummax()
    twice = once.groupby(frame.k).cummax()
    pd.testing.assert_frame_equal(twice.to_pandas(), once.to_pandas())


def test_without_skipna_all_behind_a_missing_value_is_missing():
    def extremes(f):
        grouped = f.groupby("k")
        return grouped.cummax(skipna=False), grouped.cummin(skipna=False), grouped.cummin()

    assert_parity(extremes, mixed_frame()[["k", "x", "t", "d"]], ways=["jit"])


def test_dtypes_stay_and_few_rows():
    frame = mixed_frame()[["k", "i", "b", "f"]].astype({"i": "int16"})
    for num_rows in (37, 1, 0):
        assert_parity(lambda f: f.groupby("k").cummin(), frame[:num_rows], ways=["eager"])


@pytest.mark.parametrize("dtype", ["boolean", "bool[pyarrow]"])
def test_nullable_bools_stay_nullable(dtype):
    flags = pd.Series([True, None, False, True, False], dtype=dtype)
    keys = [0, 0, 1, 1, 1]
    assert_parity(
        lambda s: (s.groupby(keys).cummax(), s.groupby(keys).cummin()), flags, ways=["eager"]
    )
