# SPDX-License-Identifier: Apache-2.0
"""groupby.last."""

import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_it_is_the_first_of_the_rows_in_reverse():
    frame = mixed_frame()[["k", "x", "s"]]
    reverse = JaxFrame(frame[::-1]).groupby("k").first().to_pandas()
    pd.testing.assert_frame_equal(JaxFrame(frame).groupby("k").last().to_pandas(), reverse)


def test_arguments_of_a_series():
    def last(f):
        grouped = f.groupby("b", sort=False).x
        return grouped.last(skipna=False), grouped.last(min_count=15), grouped.last()

    frame = mixed_frame()[["b", "x"]]
    assert_parity(last, frame, ways=["jit"])
    for num_rows in (0, 1):
        assert_parity(last, frame[:num_rows], ways=["eager"])


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()[["k", "s"]]
    assert_same_error(lambda f: f.groupby("k").s.last(numeric_only=True), frame)
    assert_same_error(lambda f: f.groupby("k").last(ddof=1), frame)
