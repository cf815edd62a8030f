# SPDX-License-Identifier: Apache-2.0
"""isin."""

import numpy as np
import pandas as pd
from frame_examples import floats, integers, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_takes_anything_that_lists_values():
    numbers = pd.Series([1, 2, 3, 4])
    assert_parity(
        lambda s: (
            s.isin((1, 9)),
            s.isin({2}),
            s.isin(np.array([3.0, np.nan])),
            s.isin(pd.Index([4])),
            s.isin(range(2)),
            s[:0].isin([1]),
        ),
        numbers,
        ways=["eager"],
    )


def test_a_missing_value_is_found_if_it_is_listed():
    frame = pd.DataFrame({"x": [np.nan, 0.0, -0.0], "s": ["", None, "a"]})
    assert_parity(
        lambda f: (f.isin([np.nan]), f.isin([0.0, ""]), f.isin({"x": [0], "other": [1]})), frame
    )


def test_rows_are_listed_or_not():
    ours = on_device(mixed_frame())
    assert bool(ours.k.isin(ours.k.tolist()).all())
    low, high = ours.k.isin([0, 1]), ours.k.isin([2, 3, 4])
    assert bool((low != high).all())
    assert low.equals((ours.k == 0) | (ours.k == 1))


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda f: f.isin("b"), frame)
    assert_same_error(lambda f: f.k.isin(None), frame)
    assert_same_error(lambda f: f.k.isin(), frame)


def test_values_of_each_kind_among_others():
    def each(f):
        return (
            f.k.isin([1, 3]),
            f.k.isin([1.0, 2.5, 1000]),
            f.k.isin(["1", "b"]),
            f.k.isin([]),
            f.y.isin([np.nan, 0.0]),
            f.f.isin([0.1]),
            f.s.isin(["b", "nowhere", ""]),
            f.s.isin([None, "b"]),
            f.c.isin(["u"]),
            f.b.isin([True]),
            f.b.isin([1]),
            f.t.isin([f_time, pd.NaT]),
            f.t.isin(["b"]),
            f[["k", "s"]].isin([1, "b"]),
            f.isin({"k": [1], "s": ["b"]}),
        )

    f_time = mixed_frame().t.dropna().iloc[0]
    assert_parity(each, mixed_frame())
    assert_parity(lambda f: (f.k.isin([1]), f.s.isin(["b"])), mixed_frame(), ways=["mesh"])
    for dtype in ("int8", "uint64", "int64"):
        listed = [-1, 2.0, 2**63 - 1, 127, np.nan]
        assert_parity(lambda s: s.isin(listed), integers(dtype), ways=["eager"])  # noqa: B023
    assert_parity(lambda s: s.isin({1.5, np.inf}), floats("float32"), ways=["eager"])
