# SPDX-License-Identifier: Apache-2.0
"""groupby.quantile."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_the_ends_are_the_least_and_the_greatest():
    grouped = JaxFrame(mixed_frame()[["k", "x"]]).groupby("k").x
    pd.testing.assert_series_equal(grouped.quantile(0).to_pandas(), grouped.min().to_pandas())
    pd.testing.assert_series_equal(grouped.quantile(1.0).to_pandas(), grouped.max().to_pandas())


def test_interpolations_of_times():
    def quantiles(f):
        grouped = f.groupby("k").d
        return tuple(grouped.quantile(0.25, name) for name in ("linear", "lower", "midpoint"))

    assert_parity(quantiles, mixed_frame()[["k", "d"]], ways=["eager"])


def test_the_part_of_the_distance_is_rounded_before_it_is_added():
    """As in pandas. A fused product and sum differ in the last bit, or cut a unit of time off."""
    rng = np.random.default_rng(0)
    tenths = rng.integers(0, 10**11, 2000) * 100
    frame = pd.DataFrame({"k": rng.integers(0, 150, 2000), "x": rng.normal(size=2000)})
    frame["d"] = pd.to_timedelta(tenths, unit="us")
    assert_parity(lambda f: f.groupby("k").quantile(0.37), frame, ways=["eager", "jit"], ulps=0)


def test_integers_stay_integers_only_where_nothing_is_interpolated():
    frame = pd.DataFrame({"k": [1, 1, 1, 2], "i": [1, 2, 4, 9]})

    def quantiles(f):
        names = ("linear", "lower", "higher", "nearest")
        return tuple(f.groupby("k").quantile(0.6, interpolation=name) for name in names)

    assert_parity(quantiles, frame, ways=["jit"], ulps=2)
    for num_rows in (0, 1):
        assert_parity(lambda f: f.groupby("k").quantile(), frame[:num_rows], ways=["eager"])


def test_one_number_between_zero_and_one():
    frame = mixed_frame()[["k", "x"]]
    assert "-0.1" in assert_same_error(lambda f: f.groupby("k").x.quantile(-0.1), frame)
    assert_same_error(lambda f: f.groupby("k").x.quantile(0.1, interpolation="bogus"), frame)
    with pytest.raises(NotImplementedError, match="q must be one number inside jit"):
        jax.jit(lambda f: f.groupby("k").quantile([0.1, 0.9]))(JaxFrame(frame))


def test_nullable_floats_keep_their_dtype():
    for dtype in ("Float32", "float[pyarrow]", "Float64", "Int64"):
        frame = pd.DataFrame({"k": [1, 1, 2], "x": pd.array([1, 2, 3], dtype=dtype)})
        assert_parity(lambda f: f.groupby("k")["x"].quantile(0.25), frame, ways=["eager"])
