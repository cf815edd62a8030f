# SPDX-License-Identifier: Apache-2.0
"""kurt."""

import numpy as np
import pandas as pd
from frame_examples import finite, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_of_integers_floats_and_bools():
    frame = mixed_frame()[["k", "i", "b"]].assign(x=finite(), f=finite("float32"))
    assert_parity(lambda f: f.kurt(), frame[["k", "i", "b", "x"]], ways=["eager", "jit"], ulps=256)
    assert_parity(lambda f: f.f.kurt(), frame, ways=["eager"], ulps=1024)


def test_neither_too_few_values_nor_equal_ones_have_any():
    series = finite().dropna()[:5]
    for num_rows in range(6):
        assert_parity(lambda s: s.kurt(), series[:num_rows], ways=["eager"], ulps=256)
    assert_parity(lambda s: s.kurt(), pd.Series([0.1] * 9), ways=["eager"])
    equal = pd.DataFrame({"a": [0.1] * 5, "b": [0.1] * 5, "c": [0.1] * 5, "d": [0.1] * 4 + [0.2]})
    assert_parity(lambda f: f.kurt(axis=1), equal, ways=["eager"], ulps=256)


def test_missing_values_are_left_out_or_make_it_missing():
    frame = pd.DataFrame({"x": finite(), "y": finite(seed=5).fillna(0.5)})
    assert_parity(lambda f: (f.kurt(), f.kurt(skipna=False)), frame, ways=["eager"], ulps=256)
    assert_parity(lambda f: f.kurt(), frame.assign(y=np.inf), ways=["eager"], ulps=256)


def test_the_scale_does_not_matter():
    column = on_device(finite())
    np.testing.assert_allclose((column * 4.0).kurt(), column.kurt(), rtol=1e-12)


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert "'s'" in assert_same_error(lambda f: f[["x", "s"]].kurt(), frame)
    assert_same_error(lambda f: f.x.kurt(skipna="yes"), frame)
    assert_same_error(lambda f: f.x.kurt(axis=2), frame)
