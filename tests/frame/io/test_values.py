# SPDX-License-Identifier: Apache-2.0
"""values and array."""

import jax
import pytest
from frame_examples import INTEGERS, integers, mixed_frame
from frame_parity import assert_parity, on_device

FRAME = mixed_frame()


@pytest.mark.parametrize("label", FRAME.columns)
def test_a_series_has_those_of_its_dtype(label):
    for series in (FRAME[label], FRAME[label][:1], FRAME[label][:0]):
        assert_parity(lambda s: (s.values, s.array), series, ways=["eager"])


def test_integers_keep_their_width():
    for dtype in INTEGERS:
        assert_parity(lambda s: (s.values, s.array), integers(dtype), ways=["eager"])


def test_columns_of_a_frame_meet_in_one_dtype():
    def arrays(f):
        return f.values, f[["k"]].values, f[["k", "x"]].values, f[["k", "b"]].values, f[[]].values

    for num_rows in (0, 1, 37):
        assert_parity(arrays, FRAME[:num_rows], ways=["eager"])


def test_values_are_not_known_inside_jit():
    for use in (lambda f: f.values, lambda f: f.k.values, lambda f: f.k.array):
        with pytest.raises(NotImplementedError, match="jit"):
            jax.jit(use)(on_device(FRAME))
