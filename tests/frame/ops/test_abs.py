# SPDX-License-Identifier: Apache-2.0
"""abs."""

import numpy as np
import pandas as pd
import pytest
from frame_examples import complexes, integers, mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


@pytest.mark.parametrize("dtype", ["int8", "uint64", "int64"])
def test_the_least_integer_has_no_opposite_and_stays(dtype):
    assert_parity(lambda s: (s.abs(), s.abs().abs()), integers(dtype), ways=["eager"])


def test_zero_loses_its_sign_and_nan_stays():
    frame = mixed_frame()[["y", "f", "b", "d"]]
    assert_parity(lambda f: (f.abs(), f.d.abs(), abs(f.y)), frame, ways=["jit"])
    zeros = on_device(pd.Series([-0.0, -np.inf, np.nan])).abs().to_numpy()
    np.testing.assert_array_equal(np.signbit(zeros[:2]), [False, False])


def test_of_complex_numbers_it_is_the_real_magnitude():
    frame = complexes()[["z", "w"]]
    assert_parity(lambda f: f.abs(), frame, ways=["eager"], ulps=4)
    assert on_device(frame).w.abs().dtype == np.float32


def test_few_rows():
    frame = mixed_frame()[["i", "x"]]
    assert_parity(lambda f: (f[:0].abs(), f[:1].abs(), f[[]].abs()), frame, ways=["eager"])


def test_what_has_no_magnitude_is_refused():
    for label in ("c", "t"):
        assert_same_error(lambda s: s.abs(), mixed_frame()[label])
    with pytest.raises(TypeError, match="str"):
        on_device(mixed_frame()["s"]).abs()
