# SPDX-License-Identifier: Apache-2.0
"""item."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same_error, on_device


def test_the_only_value_of_each_type():
    frame = mixed_frame()
    for label in frame:
        for row in (0, 1):
            one = frame[label].iloc[row : row + 1]
            assert_parity(lambda s: s.item(), one, ways=["eager"])
            assert type(on_device(one).item()) is type(one.item())
    for missing in (np.nan, None, pd.NaT):
        assert_parity(lambda s: s.item(), pd.Series([missing], dtype="M8[us]"), ways=["eager"])


@pytest.mark.parametrize("num_rows", [0, 2, 37])
def test_more_values_and_none_are_an_error(num_rows):
    assert_same_error(lambda s: s.item(), mixed_frame()["k"][:num_rows])


def test_the_number_of_rows_is_not_known_inside_jit():
    with pytest.raises(NotImplementedError, match="jit"):
        jax.jit(lambda s: s.item())(on_device(mixed_frame()["k"][:1]))
