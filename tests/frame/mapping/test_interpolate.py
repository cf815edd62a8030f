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


@pytest.mark.parametrize(
    "dtype", ["Int64", "UInt8", "Float32", "Float64", "int32[pyarrow]", "double[pyarrow]"]
)
def test_nullable_columns(dtype):
    frame = pd.DataFrame(
        {"a": pd.array([None, 1, None, None, 4, 9, None], dtype=dtype), "whole": range(7)}
    )
    frame["whole"] = frame["whole"].astype(dtype)
    assert_parity(
        lambda f: (
            f.interpolate(),
            f.a.interpolate(limit=1, limit_direction="both"),
            f.interpolate(limit_area="inside"),
            f[:0].interpolate(),
        ),
        frame,
        ways=["eager", "mesh"],
    )
    assert_parity(lambda f: f.interpolate(), frame, ways=["jit"])


def test_nullable_bools():
    for dtype in ("boolean", "bool[pyarrow]"):
        frame = pd.DataFrame({"a": pd.array([True, None], dtype=dtype)})
        with pytest.raises(NotImplementedError, match="interpolate is not implemented"):
            on_device(frame).interpolate()
    assert_same_error(lambda s: s.interpolate(), pd.Series([True, None], dtype="boolean"))
