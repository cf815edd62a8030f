# SPDX-License-Identifier: Apache-2.0
"""median."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device
from jaxframes.frame import JaxSeries


@pytest.mark.parametrize("num_rows", [4, 5])
def test_the_middle_value_or_what_lies_between_the_two(num_rows):
    frame = pd.DataFrame(
        {
            "i": [9, 2, 4, 7, 1],
            "b": [True, False, True, False, True],
            "u": np.array([3, 200, 255, 0, 7], "uint8"),
        }
    )[:num_rows]
    assert_parity(lambda f: (f.median(), f.i.median(), f.b.median()), frame)


def test_missing_values_are_left_out_or_make_it_missing():
    holes = pd.DataFrame({"x": [np.nan, 3.0, 1.0, np.nan, 2.0], "n": [np.nan] * 5})
    assert_parity(
        lambda f: (f.median(), f.median(skipna=False), f.median(axis=1), f[:0].median()),
        holes,
        ways=["eager"],
    )


def test_infinities_are_ordered_as_numbers():
    assert_parity(lambda s: (s.median(), s[s > 0].median(), s[s < 0].median()), floats())


def test_is_the_quantile_of_a_half_and_moves_with_the_values():
    ours = on_device(mixed_frame())
    assert ours.k.median() == ours.k.quantile(0.5)
    assert (ours.i * 2 + 3).median() == ours.i.median() * 2 + 3
    assert ours.i.median() == ours.i.sort_values(ascending=False).median()
    assert JaxSeries([2**62, 2**62]).median() == 2.0**62


def test_numbers_only_of_a_series_of_times_is_heeded_for_objects_alone():
    times = mixed_frame()[["d"]]
    assert_parity(lambda f: f.d.median(numeric_only=True), times.iloc[:1], ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.c.median(), frame)
    assert_same_error(lambda f: f.s.median(numeric_only=True), frame)
    assert_same_error(lambda f: f.median(axis=3), frame[["k"]])
    assert_same_error(lambda f: f.k.median(skipna=1), frame)
