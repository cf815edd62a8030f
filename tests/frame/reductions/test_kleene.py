# SPDX-License-Identifier: Apache-2.0
"""any and all of nullable values with skipna=False: NA, unless the values decide."""

import functools
import itertools
import operator
from typing import Any

import jax
import pandas as pd
import pytest
from frame_parity import assert_parity, assert_same
from jaxframes.frame import JaxFrame, JaxSeries

# All rows of up to two values.
ROWS = [row for length in range(3) for row in itertools.product([1, 0, pd.NA], repeat=length)]


@pytest.mark.parametrize("dtype", ["boolean", "Int64", "Float64", "bool[pyarrow]"])
@pytest.mark.parametrize("op", ["any", "all"])
def test_a_missing_value_makes_the_result_missing_unless_others_decide(op, dtype):
    for row in ROWS:
        series = pd.Series(row, dtype=dtype)
        expected = getattr(series, op)(skipna=False)
        got: Any = getattr(JaxSeries(series), op)(skipna=False)
        assert got is expected or bool(got) == bool(expected), row


@pytest.mark.parametrize("op", ["any", "all"])
def test_groups_and_batches(op):
    rows = [(number, value) for number, row in enumerate(ROWS) for value in row]
    frame = pd.DataFrame({"k": [key for key, _ in rows]})
    for dtype in ("boolean", "Int64", "Float64", "bool[pyarrow]"):
        frame[dtype] = pd.array([value for _, value in rows], dtype=dtype)
    expected = getattr(frame.groupby("k"), op)(skipna=False)
    grouped = JaxFrame(frame).groupby("k")
    assert_same(getattr(grouped, op)(skipna=False), expected)
    plan = getattr(JaxFrame(frame).lazy().groupby("k"), op)(skipna=False)
    assert_same(plan.collect(batch_rows=3), expected)


@pytest.mark.parametrize("op", ["any", "all"])
def test_frames(op):
    columns = [pd.array(pair, dtype="boolean") for pair in ROWS if len(pair) == 2]
    frame = pd.DataFrame(dict(enumerate(columns)))
    assert_parity(lambda f: getattr(f, op)(skipna=False), frame)
    both = JaxFrame(frame.T.astype("boolean"))
    logic = operator.or_ if op == "any" else operator.and_
    expected = functools.reduce(logic, (frame.T[label].astype("boolean") for label in (0, 1)))
    assert_same(getattr(both, op)(axis=1, skipna=False), expected.rename(None))


def test_no_scalar_is_missing_inside_jit():
    series = JaxSeries(pd.array([True, pd.NA], dtype="boolean"))
    with pytest.raises(NotImplementedError, match="inside jit a scalar cannot be NA"):
        jax.jit(lambda s: s.all(skipna=False))(series)
