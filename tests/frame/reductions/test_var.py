# SPDX-License-Identifier: Apache-2.0
"""var."""

import numpy as np
import pandas as pd
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_of_integers_bools_and_float32():
    frame = pd.DataFrame(
        {
            "i": np.array([-3, 1, 5, 9], "int16"),
            "b": [True, False, True, True],
            "f": np.array([0.5, 1.5, np.nan, 2.5], "float32"),
        }
    )
    assert_parity(lambda f: (f.var(), f.var(ddof=0), f.b.var(), f.f.var()), frame, ulps=4)
    assert_parity(lambda f: f.var(numeric_only=True), mixed_frame()[["k", "s"]], ways=["eager"],
                  ulps=64)  # fmt: skip


def test_too_few_values_have_none():
    holes = pd.DataFrame({"x": [2.0, np.nan, np.nan], "n": [np.nan] * 3})
    assert_parity(
        lambda f: (f.var(), f.var(ddof=0), f.var(axis=1, ddof=0), f.x.var(skipna=False)),
        holes,
        ways=["eager"],
    )


def test_far_from_zero_and_of_equal_values():
    ours = on_device(pd.DataFrame({"x": [1e9 + 1, 1e9 + 2, 1e9 + 3], "y": [0.1, 0.1, 0.1]}))
    assert ours.x.var() == 1.0
    assert ours.y.var() < 1e-30
    assert (ours.x - 1e9).var() == ours.x.var()


def test_is_what_cov_gives_of_a_column_with_itself():
    ours = on_device(mixed_frame()[["k", "i"]])
    np.testing.assert_allclose(ours.i.cov(ours.i), ours.i.var(), rtol=1e-14)
    spread = (ours.i - ours.i.mean()) ** 2
    np.testing.assert_allclose(ours.i.var(ddof=0), spread.mean(), rtol=1e-14)


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.t.var(), frame)
    assert_same_error(lambda f: f.d.var(), frame)
    assert_same_error(lambda f: f.s.var(), frame)
    assert_same_error(lambda f: f[["k", "d"]].var(), frame)
