# SPDX-License-Identifier: Apache-2.0
import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, merge_asof
from pandas.errors import PerformanceWarning


def closest(left, right, **options):
    ours = isinstance(left, JaxFrame)
    return (merge_asof if ours else pd.merge_asof)(left, right, **options)


def sides(key):
    left, right = mixed_frame(37), mixed_frame(23, seed=7)
    left, right = (side.dropna(subset=[key]).sort_values(key) for side in (left, right))
    others = [label for label in ("k", "s", "x", "f") if label != key]
    return left[[key, "k", "s", "b"]], right[[key, *others]]


def test_each_direction():
    def in_each(left, right):
        return tuple(
            closest(left, right, on="i", direction=direction, **options)
            for direction in ("backward", "forward", "nearest")
            for options in ({}, {"by": "k"}, {"by": ["k", "s"], "tolerance": 300})
        )

    assert_parity(in_each, *sides("i"), ways=["eager"])


def test_times_and_floats_inside_jit():
    options = {"by": "s", "tolerance": pd.Timedelta(days=3000), "allow_exact_matches": False}
    assert_parity(lambda a, b: closest(a, b, on="t", **options), *sides("t"))
    left, right = sides("x")
    right = right[["k", "x"]].rename(columns={"x": "z"})
    assert_parity(lambda a, b: closest(a, b, left_on="x", right_on="z"), left, right)


def test_wrong_arguments_are_pandas_errors():
    left, right = sides("i")
    wrong = [
        {"on": "s"},
        {"on": "i", "direction": "bogus"},
        {"on": "i", "allow_exact_matches": "bogus"},
        {"on": ["i", "k"]},
        {"on": "i", "left_on": "i"},
        {"on": "i", "by": "k", "left_by": "k"},
        {"on": "i", "left_by": "k"},
        {"on": "i", "tolerance": -1},
        {"on": "i", "tolerance": 1.5},
        {"on": "bogus"},
        {"left_on": "i", "right_on": "x"},
    ]
    for options in wrong:
        assert_same_error(lambda a, b, options=options: closest(a, b, **options), left, right)
    assert_same_error(lambda a, b: closest(a, b, on="i"), left[::-1], right)
    nulls = pd.DataFrame({"x": [1.0, np.nan]})
    assert_same_error(lambda a, b: closest(a, b, on="x"), nulls, nulls)


def test_missing_times_are_refused_and_match_nothing_inside_jit():
    day, none = pd.Timestamp("2020-01-01"), pd.NaT
    times = {name: pd.DataFrame({"t": pd.Series(rows, dtype="datetime64[us]")})
             for name, rows in {"none": [none], "first": [none, day], "last": [day, none],
                                "day": [day], "empty": []}.items()}  # fmt: skip
    for name in ("none", "first", "last"):
        for other in ("day", "empty", "none"):
            for left, right in ((name, other), (other, name)):
                call = lambda a, b: closest(a, b, on="t")  # noqa: E731
                assert_same_error(call, times[left], times[right].assign(y=1.0))
    left, right = JaxFrame(times["first"]), JaxFrame(times["last"].assign(y=[2.0, 3.0]))
    for direction in ("backward", "forward", "nearest"):
        joined = jax.jit(lambda a, b, to=direction: merge_asof(a, b, on="t", direction=to))
        np.testing.assert_array_equal(joined(left, right).to_pandas()["y"], [np.nan, 2.0])


def test_labels_are_keys_on_the_host():
    left, right = pd.DataFrame({"x": [1, 2]}, [1, 5]), pd.DataFrame({"t": [0, 4], "y": [3, 4]})
    how = {"left_index": True, "right_on": "t"}
    with pytest.warns(PerformanceWarning, match="left_index="):
        found = merge_asof(on_device(left), on_device(right), **how)
    assert_same(found, pd.merge_asof(left, right, **how))


def test_labels_by_name_are_a_column_of_the_result():
    left = pd.DataFrame({"x": [10, 11, 12]}, index=pd.Index([1, 2, 3], name="t"))
    right = pd.DataFrame({"y": [20, 21, 22]}, index=pd.Index([0, 2, 3], name="t"))
    found = merge_asof(on_device(left), on_device(right), left_on="t", right_on="t")
    assert_same(found, pd.merge_asof(left, right, left_on="t", right_on="t"))
