# SPDX-License-Identifier: Apache-2.0
"""groupby.std."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame

# The rounding of a square root and of a sum of squares in another order.
ULPS = 64


def test_it_is_the_root_of_the_variance():
    grouped = JaxFrame(mixed_frame()[["k", "i", "x"]]).groupby("k")
    roots = np.sqrt(grouped.var(ddof=2).to_pandas())
    pd.testing.assert_frame_equal(grouped.std(ddof=2).to_pandas(), roots, rtol=1e-15)


def test_ddof_of_as_many_as_there_are_values_gives_missing():
    frame = pd.DataFrame({"k": [1, 1, 1, 2, 2, 3], "x": [1.0, 3, 8, 5, np.nan, np.nan]})

    def deviations(f):
        return tuple(f.groupby("k").x.std(ddof=ddof) for ddof in (0, 1, 3, 9))

    assert_parity(deviations, frame, ways=["jit"], ulps=4)
    for num_rows in (0, 1):
        assert_parity(lambda f: f.groupby("k").std(), frame[:num_rows], ways=["eager"])


def test_the_deviation_of_datetimes_is_a_timedelta():
    frame = mixed_frame()[["k", "t", "d"]]
    assert_parity(lambda f: f.groupby("k").std(ddof=0), frame, ways=["eager"])


def test_numeric_only_and_skipna():
    def deviations(f):
        return f.groupby("k").std(numeric_only=True), f.groupby("k").x.std(skipna=False)

    frame = mixed_frame()[["k", "x", "s"]]
    assert_parity(deviations, frame, ways=["eager"], ulps=ULPS)
    assert "'s'" in assert_same_error(lambda f: f.groupby("k").std(), frame)
    assert_same_error(lambda f: f.groupby("k").s.std(numeric_only=True), frame)


def test_deviations_of_arrows_times_are_arrows_durations():
    times = pd.Series(pd.to_datetime(["2024-01-01", "2024-01-03", None]))
    frame = pd.DataFrame({"k": [1, 1, 1], "t": times.astype("timestamp[us][pyarrow]")})
    assert_parity(
        lambda f: (f.groupby("k").t.std(), f.groupby("k").sem(), f[["t"]].std()),
        frame,
        ways=["eager"],
    )


def test_decimals_and_dates_of_arrow_are_cast_first():
    for dtype in (pa.decimal128(10, 0), pa.date32()):
        column = pd.Series([1, 2], dtype="int32[pyarrow]").astype(pd.ArrowDtype(dtype))
        groups = JaxFrame(pd.DataFrame({"k": [1, 1], "v": column})).groupby("k")
        for method in (groups.mean, groups.v.std):
            with pytest.raises(NotImplementedError, match=r"held as whole counts. Cast it with"):
                method()
