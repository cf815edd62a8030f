# SPDX-License-Identifier: Apache-2.0
"""groupby.count."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_every_type_is_counted_in_int64():
    assert_parity(lambda f: f.groupby("k").count(), mixed_frame(), ways=["jit"])


def test_counts_and_missing_values_make_up_the_sizes():
    frame = mixed_frame()[["k", "x"]]
    grouped = JaxFrame(frame).groupby("k").x
    missing = frame.x.isna().groupby(frame.k).sum()
    assert (grouped.count().to_pandas() + missing).tolist() == grouped.size().tolist()


def test_categories_without_rows_have_a_count_of_zero():
    def counts(f):
        return f.groupby("c", observed=False).x.count(), f.groupby("c", as_index=False).count()

    frame = mixed_frame()[["c", "x"]]
    for num_rows in (37, 1, 0):
        assert_parity(counts, frame[:num_rows], ways=["eager"])


def test_objects_that_stand_for_none_do_not_count():
    objects = pd.Series([None, [1], np.nan, {}, pd.NaT], dtype=object)
    frame = pd.DataFrame({"k": [1, 1, 2, 1, 2], "o": objects})
    assert_parity(lambda f: f.groupby("k").count(), frame, ways=["eager"])


def test_it_takes_no_arguments():
    assert_same_error(lambda f: f.groupby("k").count(numeric_only=True), mixed_frame()[["k", "x"]])
