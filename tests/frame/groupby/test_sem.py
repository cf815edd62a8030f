# SPDX-License-Identifier: Apache-2.0
"""groupby.sem."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_it_is_the_deviation_over_the_root_of_the_count():
    grouped = JaxFrame(mixed_frame()[["k", "x"]]).groupby("k").x
    expected = grouped.std().to_pandas() / np.sqrt(grouped.count().to_pandas())
    pd.testing.assert_series_equal(grouped.sem().to_pandas(), expected, rtol=1e-15)


def test_ddof_changes_the_deviation_and_not_the_count():
    frame = pd.DataFrame({"k": [1, 1, 1, 1, 2], "x": [0.0, 0.0, 4.0, 4.0, 1.0]})
    # A deviation of two over the square root of four.
    assert JaxFrame(frame).groupby("k").x.sem(ddof=0).tolist() == [1.0, 0.0]
    assert_parity(
        lambda f: tuple(f.groupby("k").x.sem(ddof=ddof) for ddof in (1, 4)),
        frame,
        ways=["jit"],
        ulps=4,
    )


def test_skipna_numeric_only_and_few_rows():
    def errors(f):
        return f.groupby("k").sem(numeric_only=True), f.groupby("k").x.sem(skipna=False)

    frame = mixed_frame()[["k", "x", "s"]]
    for num_rows in (37, 0):
        assert_parity(errors, frame[:num_rows], ways=["eager"], ulps=64)


def test_strings_have_no_error_of_a_mean():
    frame = mixed_frame()[["k", "s"]]
    assert "'s'" in assert_same_error(lambda f: f.groupby("k").sem(), frame)
    assert_same_error(lambda f: f.groupby("k").s.sem(numeric_only=True), frame)
