# SPDX-License-Identifier: Apache-2.0
"""idxmax."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import floats, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_labels_of_several_levels_are_tuples():
    levels = pd.MultiIndex.from_tuples([("a", 1), ("a", 2), ("b", 1)])
    scores = pd.Series([3.0, np.nan, 7.0], levels)
    label = on_device(scores).idxmax()
    assert tuple(label) == scores.idxmax() == ("b", 1)


def test_infinities_zeros_and_bools():
    assert_parity(lambda s: (s.idxmax(), s[s < 1].idxmax()), floats(), ways=["eager"])
    flags = pd.DataFrame({"b": [False, True, True], "u": np.array([0, 255, 255], "uint8")})
    assert_parity(lambda f: (f.b.idxmax(), f.u.idxmax(), f.idxmax()), flags, ways=["eager"])


def test_is_where_the_opposite_is_least_and_where_argmax_points():
    ours = on_device(mixed_frame().set_index("t"))
    assert ours.i.idxmax() == (-ours.i).idxmin()
    assert ours.i.idxmax() == ours.index[ours.i.argmax()]


def test_across_columns_it_is_a_label_of_theirs():
    frame = pd.DataFrame({"x": [1.0, np.nan], "y": [1.0, -1.0], "z": [0.0, 5.0]})
    assert_parity(lambda f: (f.idxmax(axis=1), f[["y", "x"]].idxmax(axis="columns")), frame)


def test_inside_jit_no_label_is_known():
    with pytest.raises(NotImplementedError, match="argmax"):
        jax.jit(lambda s: s.idxmax())(on_device(floats()))


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.x.idxmax(skipna=False), frame)
    assert_same_error(lambda f: f.x[f.x > 99].idxmax(), frame)
    assert_same_error(lambda f: f[["k", "x"]].idxmax(skipna=False), frame)
    assert_same_error(lambda f: f.idxmax(axis=2), frame[["k"]])
