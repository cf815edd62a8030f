# SPDX-License-Identifier: Apache-2.0
"""A scalar assigned to a column."""

import datetime

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity
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
def test_times_and_what_is_missing(num_rows):
    frame = mixed_frame()[["k"]][:num_rows]
    assert_parity(lambda f: f.assign(**TIMES), frame)
    others = {"none": None, "na": pd.NA, "nan": np.nan, "s": "x", "b": True, "n": np.int8(3)}
    assert_parity(lambda f: f.assign(**others), frame, ways=["eager"])


def test_a_time_on_a_mesh():
    assert_parity(lambda f: f.assign(q=pd.NaT), mixed_frame()[["k"]], ways=["mesh"])


def test_what_devices_do_not_hold_is_named():
    with pytest.raises(NotImplementedError, match="'q'"):
        JaxFrame({"x": [1]}).assign(q=pd.Period("2020", "D"))
