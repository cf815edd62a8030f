# SPDX-License-Identifier: Apache-2.0
"""cumsum."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def steps():
    return pd.DataFrame({"i": [3, -1, 4], "x": [0.5, np.nan, 2.0]}, index=["p", "q", "r"])


def test_keeps_labels_and_leaves_out_missing_values_or_stops_there():
    assert_parity(
        lambda f: (f.cumsum(), f.cumsum(skipna=False), f.cumsum(axis=1), f.x.cumsum(0, False)),
        steps(),
        ways=["eager"],
    )


def test_narrow_integers_and_bools_are_added_in_64_bits():
    narrow = pd.DataFrame({"i": np.array([100, 100, -5], "int8"), "b": [True, True, False]})
    assert_parity(lambda f: (f.cumsum(), f.b.cumsum()), narrow, ways=["jit"])


def test_its_last_is_the_sum_and_its_changes_are_the_values():
    column = on_device(mixed_frame()).i
    sums = column.cumsum()
    assert int(sums.iloc[-1]) == column.sum()
    assert sums.diff()[1:].tolist() == column[1:].tolist()


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.cumsum(), frame[["k", "t"]])
    assert_same_error(lambda f: f.k.cumsum(axis="columns"), frame)
