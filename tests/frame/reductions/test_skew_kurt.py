# SPDX-License-Identifier: Apache-2.0
"""skew and kurt."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import finite, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device

methods = pytest.mark.parametrize("name", ["skew", "kurt"])


@methods
def test_of_integers_floats_and_bools(name):
    frame = mixed_frame()[["k", "i", "b"]].assign(x=finite(), f=finite("float32"))
    assert_parity(
        lambda f: getattr(f, name)(), frame[["k", "i", "b", "x"]], ways=["eager", "jit"], ulps=256
    )
    assert_parity(lambda f: getattr(f.f, name)(), frame, ways=["eager"], ulps=1024)


@methods
def test_neither_too_few_values_nor_equal_ones_have_any(name):
    series = finite().dropna()[:5]
    for num_rows in range(6):
        assert_parity(lambda s: getattr(s, name)(), series[:num_rows], ways=["eager"], ulps=256)
    assert_parity(lambda s: getattr(s, name)(), pd.Series([0.1] * 9), ways=["eager"])
    equal = pd.DataFrame({"a": [0.1] * 5, "b": [0.1] * 5, "c": [0.1] * 5, "d": [0.1] * 4 + [0.2]})
    assert_parity(lambda f: getattr(f, name)(axis=1), equal, ways=["eager"], ulps=256)


@methods
def test_of_values_that_are_close(name):
    for values in (
        [1e10, 1e10 + 2e-6, *[1e10] * 3],
        [*[1e8] * 4, 1e8 + 1],
        [0.1, 0.1, 0.1, 0.1 + 2e-17],
    ):
        assert_parity(lambda s: getattr(s, name)(), pd.Series(values), ways=["eager"], ulps=256)


@methods
def test_missing_values_are_left_out_or_make_it_missing(name):
    frame = pd.DataFrame({"x": finite(), "y": finite(seed=5).fillna(0.5)})
    assert_parity(
        lambda f: (getattr(f, name)(), getattr(f, name)(skipna=False)),
        frame,
        ways=["eager"],
        ulps=256,
    )
    assert_parity(lambda f: getattr(f, name)(), frame.assign(y=np.inf), ways=["eager"], ulps=256)


@methods
def test_the_scale_does_not_matter(name):
    column = on_device(finite())
    np.testing.assert_allclose(getattr(column * 4.0, name)(), getattr(column, name)(), rtol=1e-12)


@methods
def test_wrong_uses_are_pandas_errors(name):
    frame = mixed_frame()
    assert "'s'" in assert_same_error(lambda f: getattr(f[["x", "s"]], name)(), frame)
    assert_same_error(lambda f: getattr(f.x, name)(skipna="yes"), frame)
    assert_same_error(lambda f: getattr(f.x, name)(axis=2), frame)
