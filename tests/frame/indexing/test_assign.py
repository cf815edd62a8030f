# SPDX-License-Identifier: Apache-2.0
"""assign."""

import datetime

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error
from jaxframes.frame import JaxFrame

TIMES = {
    "a": pd.NaT,
    "b": np.datetime64("NaT", "ms"),
    "c": np.timedelta64("NaT", "s"),
    "d": np.datetime64("2020-01-01", "ms"),
    "e": datetime.datetime(2020, 1, 2, 3),
    "f": datetime.timedelta(1),
    "g": pd.Timedelta(1, "s"),
    "h": pd.Timestamp("2020"),
    "i": np.timedelta64(5, "ms"),
}


@pytest.mark.parametrize("num_rows", [37, 1, 0])
def test_functions_are_given_the_columns_assigned_so_far(num_rows):
    def assigned(f):
        return f.assign(z=f.x * 2, k=lambda g: g.z + g.k, w=lambda g: g.k - g.z, s="a")

    frame = mixed_frame()[["k", "x"]][:num_rows]
    assert_parity(assigned, frame, ways=["eager", "jit"] if num_rows == 37 else ["eager"])


def test_values_by_place_and_by_label():
    other = pd.Series([1.5, 2.5], index=[36, 0])

    def assigned(f):
        return f.assign(
            a=list(range(37)), b=np.ones((37, 1)), c=other, d=f.k[::-1], e={3: 1}, f=f[["k"]]
        )

    assert_parity(assigned, mixed_frame()[["k"]], ways=["eager"])


def test_the_frame_itself_stays():
    frame = mixed_frame()[["k", "x"]]
    ours = JaxFrame(frame)
    ours.assign(k=0, new=1)
    assert_same(ours, frame)
    assert_same(ours.assign(), frame)


def test_wrong_lengths_are_pandas_errors():
    frame = mixed_frame()[["k"]]
    assert_same_error(lambda f: f.assign(a=[1, 2]), frame)
    assert_same_error(lambda f: f.assign(a=np.ones((37, 2))), frame)
    assert_same_error(lambda f: f.assign({"a": 1}), frame)
    assert_same_error(lambda f: f.assign(a=lambda g: g.no), frame)


@pytest.mark.parametrize("num_rows", [37, 1, 0])
def test_times_and_what_is_missing(num_rows):
    frame = mixed_frame()[["k"]][:num_rows]
    assert_parity(lambda f: f.assign(**TIMES), frame)
    others = {"none": None, "na": pd.NA, "nan": np.nan, "s": "x", "b": True, "n": np.int8(3)}
    assert_parity(lambda f: f.assign(**others), frame, ways=["eager"])


def test_a_time_on_a_mesh():
    assert_parity(lambda f: f.assign(q=pd.NaT), mixed_frame()[["k"]], ways=["mesh"])


def test_what_devices_do_not_hold_is_named():
    with pytest.raises(NotImplementedError, match="'q'"):
        JaxFrame({"x": [1]}).assign(q=pd.Interval(0, 1))
