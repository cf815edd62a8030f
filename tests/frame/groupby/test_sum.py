# SPDX-License-Identifier: Apache-2.0
"""groupby.sum."""

import math

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def quarters():
    # The sums are exact in every order.
    frame = mixed_frame()
    return frame.assign(x=(frame.i / 4).where(frame.x.notna()))[["k", "i", "x", "d"]]


def test_sums_of_groups_add_up_to_the_sum_of_the_column():
    frame = quarters()
    sums = JaxFrame(frame).groupby("k").sum()
    assert sums.x.sum() == frame.x.sum()
    assert sums.i.sum() == frame.i.sum()
    assert sums.d.to_pandas().sum() == frame.d.sum()


def test_min_count_is_of_values_and_not_of_rows():
    frame = pd.DataFrame({"k": [1, 1, 2, 3, 3], "x": [np.nan, np.nan, 1.0, np.nan, 2.0]})
    assert_parity(
        lambda f: tuple(f.groupby("k").x.sum(min_count=least) for least in (-1, 0, 1, 2)),
        frame,
        ways=["jit"],
    )
    got = JaxFrame(frame.assign(i=range(5))).groupby("k").sum(min_count=2).to_pandas()
    # A group without a sum converts integers to floats.
    assert got["i"].dtype == np.float64
    assert got["i"].isna().tolist() == [False, True, False]


@pytest.mark.parametrize("keys", ["small", "large", "words"])
def test_sums_of_cents_are_exact(keys):
    # By a direct index, by hash tables and by codes; pandas keeps what it rounds away as well.
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 50, 70_000)
    known = {"small": numbers, "large": numbers * 10**12, "words": numbers.astype(str)}
    cents = rng.integers(1, 100_000, len(numbers)) / 100
    frame = JaxFrame(pd.DataFrame({"k": known[keys], "x": cents}))
    exact = [math.fsum(cents[numbers == number]) for number in np.unique(numbers)]
    if keys == "words":
        exact = [exact[place] for place in np.argsort(np.unique(numbers).astype(str))]
    for sums in (frame.groupby("k").x.sum(), jax.jit(lambda f: f.groupby("k").x.sum())(frame)):
        np.testing.assert_array_equal(sums.to_numpy(), exact)
    means = frame.groupby("k").x.mean().to_numpy()
    sizes = frame.groupby("k").size().to_numpy()
    np.testing.assert_array_equal(means, np.array(exact) / sizes)
    assert float(frame.x.sum()) == math.fsum(cents)


def test_missing_values_count_as_nothing_unless_skipna_is_false():
    def sums(f):
        grouped = f.groupby("k")
        return grouped.sum(skipna=False), grouped.d.sum(min_count=7), grouped.sum(numeric_only=True)

    assert_parity(sums, quarters(), ways=["eager"])
    opposite = pd.DataFrame({"k": [1, 1, 2, 2], "x": [np.inf, -np.inf, np.inf, np.nan]})
    assert_parity(lambda f: f.groupby("k").x.sum(), opposite, ways=["eager"])


def test_sums_of_no_rows_keep_their_dtypes():
    for num_rows in (0, 1):
        assert_parity(lambda f: f.groupby("k").sum(), quarters()[:num_rows], ways=["eager"])


def test_numeric_only_is_a_bool_and_of_no_series_of_strings():
    frame = mixed_frame()[["k", "s", "x"]]
    assert "str" in assert_same_error(lambda f: f.groupby("k").s.sum(numeric_only=True), frame)
    assert_same_error(lambda f: f.groupby("k").sum(numeric_only=None), frame)
    assert_same_error(lambda f: f.groupby("k").sum(ddof=1), frame)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_sum_of_times_past_int64_raises(sign):
    times = sign * np.array([2**62, 2**62 - 1, 2**62, 3], "timedelta64[us]")
    frame = pd.DataFrame({"k": [1, 1, 2, 2], "t": times})
    assert_parity(lambda f: f.groupby("k").sum(), frame, ways=["eager", "mesh"])
    frame["t"] = sign * np.array([2**62, 2**62, 2**62, 3], "timedelta64[us]")
    assert_same_error(lambda f: f.groupby("k").sum(), frame)
    assert_same_error(lambda f: f.groupby("k").t.agg(["max", "sum"]), frame)
