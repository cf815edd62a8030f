# SPDX-License-Identifier: Apache-2.0
"""interpolate."""

import jax
import numpy as np
import pandas as pd
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["x", "f", "k"]]


@pytest.mark.parametrize(
    "how",
    [
        {"limit": 1},
        {"limit_direction": "both"},
        {"limit_direction": "backward", "limit": 1},
        {"limit_direction": "both", "limit": 1, "limit_area": "inside"},
        {"limit_area": "outside"},
    ],
    ids=str,
)
def test_limits(how):
    assert_parity(lambda f: f.interpolate(**how), FRAME, ways=["eager"], ulps=4)


def test_rows_between_valid_ones_lie_on_a_line():
    assert_parity(lambda f: f.interpolate(), FRAME, ulps=4)
    assert_parity(lambda f: f.x.interpolate(), FRAME, ways=["mesh"], ulps=4)


@pytest.mark.parametrize("how", [{}, {"limit": 1, "limit_direction": "both"}], ids=str)
def test_along_rows(how):
    assert_parity(lambda f: f.interpolate(axis=1, **how), FRAME, ways=["eager"], ulps=4)
    assert_parity(lambda f: f.interpolate(axis="columns"), FRAME[["x", "f"]][:1], ways=["eager"])


def test_few_rows():
    assert_parity(
        lambda f: (f[:0].interpolate(), f[:1].interpolate(), (f * float("nan")).interpolate()),
        FRAME,
        ways=["eager"],
    )


def test_wrong_uses_are_pandas_errors():
    for how in (
        {"limit": 0},
        {"limit": 1.5},
        {"limit_direction": "none"},
        {"limit_area": "none"},
    ):
        assert_same_error(lambda f, o=how: f.interpolate(**o), FRAME)
    assert_same_error(lambda f: f.interpolate(), mixed_frame()[["s"]])
    with pytest.raises(NotImplementedError, match="other than 'linear'"):
        jax.jit(lambda f: f.interpolate("time"))(on_device(FRAME))


@pytest.mark.filterwarnings("ignore:interpolate. complex numbers")
def test_complex_numbers():
    column = pd.Series([1 + 1j, np.nan, 2 + 2j])
    assert_same(on_device(column).interpolate(), column.interpolate())
