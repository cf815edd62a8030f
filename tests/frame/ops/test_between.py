# SPDX-License-Identifier: Apache-2.0
"""between."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


@pytest.mark.parametrize("inclusive", ["both", "neither", "left", "right"])
def test_says_which_bounds_belong_to_it(inclusive):
    values = pd.Series([1, 2, 3, 4])
    assert_parity(lambda s: s.between(2, 3, inclusive), values, ways=["eager"])


def test_missing_values_lie_between_no_bounds():
    frame = pd.DataFrame({"x": [np.nan, -np.inf, 0.5, np.inf], "low": [0.0, np.nan, 0.5, 1.0]})
    assert_parity(
        lambda f: (f.x.between(-np.inf, np.inf), f.x.between(f.low, np.inf), f.x.between(1, 0)),
        frame,
    )
    assert_parity(lambda f: (f.x[:0].between(0, 1), f.x.between(0, np.nan)), frame, ways=["eager"])


def test_what_it_leaves_out_is_below_or_above():
    ours = on_device(mixed_frame()).i
    inside = ours.between(-100, 200)
    assert inside.equals(~((ours < -100) | (ours > 200)))
    assert bool(ours.between(ours.min(), ours.max()).all())
    assert not bool(ours.between(ours.min(), ours.min(), inclusive="neither").any())


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.k.between(0, 1, inclusive=True), frame)
    assert_same_error(lambda f: f.k.between("a", "b"), frame)
    assert_same_error(lambda f: f.between(0, 1), frame)


def test_the_ends_that_belong_to_it_have_names():
    frame = mixed_frame()
    assert "Inclusive" in assert_same_error(lambda f: f.x.between(0, 1, inclusive="no"), frame)
