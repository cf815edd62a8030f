# SPDX-License-Identifier: Apache-2.0
"""max."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device
from jaxframes.frame import JaxFrame, from_arrow


def test_of_every_kind_alone_and_beside_others():
    frame = pd.DataFrame(
        {
            "u": np.array([2**64 - 1, 0, 2**63], "uint64"),
            "b": [False, False, True],
            "s": ["b", None, "Z"],
            "t": pd.to_datetime(["2020-01-01", None, "1960-01-01"]),
        }
    )
    assert_parity(
        lambda f: (f.u.max(), f.b.max(), f.s.max(), f.t.max(), f.max(), f.s.max(skipna=False)),
        frame,
        ways=["eager"],
    )


@pytest.mark.parametrize("bools", [[None, None], [True, None], [True, False]])
@pytest.mark.parametrize("op", ["max", "min", "sum"])
def test_bools_with_missing_values_make_a_row_of_objects(op, bools):
    columns = {"i": pa.array([1, 2], "uint8"), "x": [0.5, None], "b": pa.array(bools, "bool")}
    table = pa.table(columns)
    expected = getattr(table.to_pandas(), op)()
    if expected.dtype == object:
        # A missing bool of Arrow is NaN, also beside other results.
        values = [np.nan if value is None else value for value in expected]
        expected = pd.Series(values, expected.index, dtype=object)
    frame = from_arrow(table)
    plan = getattr(frame.lazy(), op)()
    assert plan.dtype == expected.dtype
    for got in (getattr(frame, op)(), plan.collect(), plan.collect(batch_rows=1)):
        assert_same(got, expected)


def test_the_row_of_narrow_columns_is_as_narrow_over_batches():
    frame = JaxFrame({"i": np.array([7, 9], np.int8), "x": np.array([0.5, 2], np.float32)})
    plan = frame.lazy().max()
    assert plan.dtype == frame.max().dtype == np.float32
    assert plan.collect(batch_rows=1).dtype == np.float32
    assert plan.collect(batch_rows=1).tolist() == [9, 2]


def test_ordered_categories_have_their_own_order():
    sizes = pd.Categorical(["s", "l", None, "m"], categories=["s", "m", "l", "xl"], ordered=True)
    assert_parity(
        lambda s: (s.max(), s.min(), s.max(skipna=False), s[2:3].max(), s[:0].max()),
        pd.Series(sizes),
        ways=["eager"],
    )


def test_the_greatest_of_two_parts_is_that_of_one_of_them():
    ours = on_device(mixed_frame()[["x", "i"]])
    assert ours.x.max() == max(ours.x[:20].max(), ours.x[20:].max())
    assert ours.max(axis=1).max() == ours.max().max() == ours.max(axis=None)
    assert ours.x.cummax().max() == ours.x.max()


def test_rows_and_missing_values():
    frame = pd.DataFrame({"x": [1.0, np.nan, -np.inf], "y": [2.0, np.nan, np.nan]})
    assert_parity(
        lambda f: (f.max(), f.max(skipna=False), f.max(axis=1), f[1:2].max(), f[:0].max()), frame
    )


def test_wrong_uses_are_pandas_errors():
    frame = mixed_frame()
    assert_same_error(lambda f: f.assign(c=f.c.cat.as_unordered()).max(), frame[["k", "c"]])
    assert_same_error(lambda f: f.k.max(axis="columns"), frame)
    assert_same_error(lambda f: f.k.max(ddof=1), frame)
