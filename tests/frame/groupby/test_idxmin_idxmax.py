# SPDX-License-Identifier: Apache-2.0
"""groupby.idxmin and idxmax."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error
from jaxframes.frame import JaxFrame


def test_the_rows_found_hold_the_extremes():
    ours = JaxFrame(mixed_frame()[["k", "x"]])
    grouped = ours.groupby("k").x
    for places, values in ((grouped.idxmin(), grouped.min()), (grouped.idxmax(), grouped.max())):
        assert ours.x.take(places.tolist()).tolist() == values.tolist()


def test_of_equal_values_the_first_is_taken():
    frame = pd.DataFrame({"k": [1, 1, 1, 2], "x": [np.nan, 5.0, 5.0, -np.inf]}, index=list("dcba"))
    assert_parity(
        lambda f: (f.groupby("k").x.idxmin(), f.groupby("k").x.idxmax()), frame, ways=["jit"]
    )
    assert JaxFrame(frame).groupby("k").idxmax().x.tolist() == ["c", "a"]


def test_other_types_and_numeric_only():
    def places(f):
        grouped = f.groupby("k")
        return grouped[["t", "d", "b"]].idxmax(), grouped[["i", "s"]].idxmin(numeric_only=True)

    assert_parity(places, mixed_frame(), ways=["eager"])


def test_a_missing_value_that_is_not_skipped_is_an_error():
    frame = mixed_frame()[["k", "x", "s"]]
    assert_same_error(lambda f: f.groupby("k").x.idxmin(skipna=False), frame)
    assert_same_error(lambda f: f.groupby("k").s.idxmax(numeric_only=True), frame)


def test_labels_of_several_levels_are_tuples():
    frame = mixed_frame()[["k", "i", "x"]]
    frame.index = pd.MultiIndex.from_arrays([frame.index % 5, frame.index], names=["p", "q"])

    def labels(f):
        return f.groupby("k").i.idxmax(), f.groupby("k").idxmin(), f.groupby(level="p").i.idxmin()

    assert_parity(labels, frame, ways=["eager"])
    with pytest.raises(NotImplementedError, match="index of one level"):
        jax.jit(lambda f: f.groupby("k").i.idxmax())(JaxFrame(frame))
