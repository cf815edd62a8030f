# SPDX-License-Identifier: Apache-2.0
"""cummax."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def climbs():
    return pd.DataFrame({"x": [np.nan, 1.0, -np.inf, 3.0], "u": np.array([7, 2, 255, 0], "uint8")})


def test_keeps_the_dtype_and_starts_at_the_first_value():
    assert_parity(
        lambda f: (f.cummax(), f.u.cummax(), f.x.cummax(skipna=False), f[:1].cummax()),
        climbs(),
        ways=["eager"],
    )
    assert_parity(lambda f: (f.cummax(), f.x[1:].cummax(skipna=False)), climbs(), ways=["jit"])


def test_never_falls_and_a_second_time_changes_nothing():
    column = on_device(mixed_frame()).i
    highest = column.cummax()
    assert highest.is_monotonic_increasing
    assert bool((highest >= column).all())
    assert highest.equals(highest.cummax())
    assert highest.equals(-(-column).cummin())


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    unordered = frame.assign(c=frame.c.cat.as_unordered())
    assert_same_error(lambda f: f.c.cummax(), unordered)
    assert_same_error(lambda f: f.k.cummax(axis=1), frame)
    assert_same_error(lambda f: f.cummax(axis=2), frame[["k"]])
