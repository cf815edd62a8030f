# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity
from jaxframes.frame import JaxFrame, _group_sums

ULPS = 256


@pytest.fixture(autouse=True)
def one_pass_for_few_rows(monkeypatch):
    # 64 rows in 4 blocks.
    monkeypatch.setattr(_group_sums, "LEAST_ROWS", 64)
    monkeypatch.setattr(_group_sums, "BLOCK_ROWS", 16)


@pytest.mark.parametrize("how", [{"by": "k"}, {"by": ["c", "s"], "dropna": False}, {"by": "s"}])
def test_one_pass_matches_pandas(how):
    def sums(f):
        grouped = f.groupby(**how)
        return (
            grouped[["i", "x", "b"]].agg(["sum", "mean", "count", "size"]),
            f.groupby(**how)[["i", "x"]].mean(),
            f.groupby(**how).x.count(),
            grouped.x.max(),
        )

    assert_parity(sums, mixed_frame(), ways=["eager"], ulps=ULPS)


def test_nan_is_found_in_the_sums():
    k = np.array([3, 1, 3, 2, 1, 2])
    for x in (
        [1.0, 2, 4, 8, 16, 32],
        [1, np.nan, 4, 8, 16, 32],
        [np.inf, np.nan, -np.inf, 1, 2, 3],
    ):
        frame = pd.DataFrame({"k": k, "x": np.array(x)})
        for op in ("sum", "mean", "count"):
            actual = getattr(JaxFrame(frame).groupby("k").x, op)().to_pandas()
            pd.testing.assert_series_equal(actual, getattr(frame.groupby("k").x, op)())


def test_slots_are_found_when_they_are_asked_for():
    grouped = JaxFrame(mixed_frame()[["k", "i"]]).groupby("k")
    grouped.sum()
    frame = mixed_frame()[["k", "i"]]
    pd.testing.assert_frame_equal(
        grouped.cumsum().to_pandas(), frame.groupby("k").cumsum(), check_exact=True
    )


def test_the_range_of_a_key_is_that_of_its_rows():
    # Arrays of one buffer and other lengths have other ranges.
    frame = JaxFrame({"k": np.array([5, 6, 7, 100]), "x": np.arange(4)})
    assert frame[:3].groupby("k").x.sum().tolist() == [0, 1, 2]
    assert frame.groupby("k").x.sum().tolist() == [0, 1, 2, 3]
    assert frame.groupby("k").x.sum().tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("how", [{}, {"sort": False}, {"dropna": False}, {"observed": False}])
def test_one_pass_by_numbers_of_keys(how):
    spread = mixed_frame()
    spread["far"] = spread.i.astype("int64") * 2**40

    def sums(f):
        grouped = f.groupby("far", **how)
        return (
            grouped[["i", "x", "b"]].agg(["sum", "mean", "count", "size"]),
            grouped.x.mean(),
            f.groupby(["far", "x"], **how).i.sum(),
            f.groupby("x", **how)[["i", "x"]].sum(),
        )

    assert_parity(sums, spread, ways=["eager"], ulps=ULPS)


@pytest.mark.parametrize("last", [69_999, 65_536, 3])
def test_groups_that_show_late_are_found(last):
    k = np.tile(np.array([7 << 40, -(1 << 50)]), 35_000)
    k[last] = 1
    frame = pd.DataFrame({"k": k, "x": np.arange(70_000)})
    assert_parity(lambda f: f.groupby("k", sort=False).x.sum(), frame, ways=["eager"])
    assert_parity(lambda f: f.groupby("k").x.first(), frame, ways=["eager"])
    small = frame.assign(k=k // 2**40)
    assert_parity(lambda f: f.groupby("k", sort=False).x.sum(), small, ways=["eager"])
