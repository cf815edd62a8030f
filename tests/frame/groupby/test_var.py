# SPDX-License-Identifier: Apache-2.0
"""groupby.var."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_a_shift_changes_nothing_and_a_factor_is_squared():
    # The means and all terms of the sums are whole numbers.
    x = np.array([1.0, 2, 6, 7, 7, 10])
    frame = pd.DataFrame({"k": [1, 1, 1, 2, 2, 2], "x": x, "y": x + 2.0**30, "z": x * 8})
    found = JaxFrame(frame).groupby("k").var().to_pandas()
    np.testing.assert_array_equal(found.y, found.x)
    np.testing.assert_array_equal(found.z, found.x * 64)


def test_equal_values_have_none_and_one_value_is_missing():
    frame = pd.DataFrame({"k": [1, 1, 2, 3, 3], "x": [0.1, 0.1, 5.0, np.nan, 4.0]})
    assert_parity(
        lambda f: tuple(f.groupby("k").x.var(ddof=ddof) for ddof in (0, 1, 2)), frame, ways=["jit"]
    )
    assert_parity(lambda f: f.groupby("k").var(), frame[:0], ways=["eager"])


def test_numbers_of_each_kind_give_float64():
    def variances(f):
        grouped = f.groupby("k")
        return grouped[["i", "x", "b"]].var(), grouped.x.var(skipna=False)

    assert_parity(variances, mixed_frame()[["k", "i", "x", "b"]], ways=["eager"], ulps=128)


def test_times_and_strings_have_no_variance():
    frame = mixed_frame()[["k", "t", "d", "s"]]
    assert "'t'" in assert_same_error(lambda f: f.groupby("k").t.var(), frame)
    assert_same_error(lambda f: f.groupby("k").s.var(numeric_only=True), frame)
