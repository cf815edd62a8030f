# SPDX-License-Identifier: Apache-2.0
"""replace."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device


def test_all_are_replaced_at_once():
    def swapped(f):
        return f.k.replace({1: 2, 2: 1}), f.s.replace({"a": "b", "b": "a"})

    frame = mixed_frame()[["k", "s"]]
    assert_parity(swapped, frame, ways=["jit"])
    assert_same(on_device(frame).k.replace({1: 2, 2: 1}).replace({1: 2, 2: 1}), frame["k"])


def test_lists_pair_up_or_share_one_value():
    def replaced(f):
        return (
            f.k.replace([0, 1, 2], [10, 11, 12]), f.k.replace([0, 3], 9), f.replace([1, 2], 0),
            f.s.replace(["a", "b"], "c"), f.k.replace(99, 5), f.k.replace({}),
        )  # fmt: skip

    assert_parity(replaced, mixed_frame()[["k", "s"]], ways=["eager"])


def test_missing_values_and_infinities_are_values_here():
    def replaced(s):
        return s.replace(np.nan, 0.0), s.replace([np.inf, -np.inf], np.nan), s.replace(0.0, 7.0)

    assert_parity(replaced, floats(), ways=["eager"])
    for num_rows in (0, 1):
        assert_parity(replaced, floats()[:num_rows], ways=["eager"])


def test_dicts_of_dicts_name_columns():
    frame = mixed_frame()[["k", "s", "x"]]

    def replaced(f):
        return f.replace({"k": {1: 5}, "s": {"a": "z"}}), f.replace({"k": 1, "q": 2}, 8)

    assert_parity(replaced, frame, ways=["eager"])


def test_wrong_arguments():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda s: s.replace([1, 2], [3]), frame["k"])
    assert_same_error(lambda f: f.replace({"k": {1: 2}, "s": 1}), frame)
    with pytest.raises(NotImplementedError, match=r"str\.replace"):
        on_device(frame).s.replace("^[ab]", "X", regex=True)
    with pytest.raises(NotImplementedError):
        on_device(pd.Series([1, 2])).replace(1, "a")


def test_values_of_each_kind_replaced():
    def each(f):
        return (
            f.k.replace(1, 100),
            f.k.replace([1, 2], 0),
            f.k.replace([1, 2], [2, 1]),
            f.k.replace({1: 10, 2: 20}),
            f.k.replace({1: 1.5}),
            f.x.replace(np.nan, 0.0),
            f.y.replace([np.inf, -np.inf], np.nan),
            f.s.replace({"b": "B", "a": "b"}),
            f[["k", "s"]].replace({"k": {1: 5}, "s": {"b": "x"}}),
            f[["k", "x"]].replace({"k": 1}, 7),
            f.b.replace({True: 1, False: 0}),
            f.b.replace(True, value=False),
        )

    assert_parity(each, mixed_frame())
