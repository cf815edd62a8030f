# SPDX-License-Identifier: Apache-2.0
"""case_when, first_valid_index and last_valid_index."""

import itertools

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from frame_examples import mixed_frame
from frame_parity import assert_parity, assert_same, assert_same_error, on_device

FRAME = mixed_frame()[["k", "x", "y"]]


def test_the_first_condition_that_is_true():
    assert_parity(
        lambda f: (
            f.k.case_when([(f.k > 3, 0), (f.k > 1, 9)]),
            f.x.case_when([(lambda s: s > 0, f.y), (f.k == 0, 0.5)]),
        ),
        FRAME,
    )


@pytest.mark.parametrize("dtype", ["int8", "uint64", "int64", "float32"])
@pytest.mark.parametrize("value", [5, 0.5, np.float32(0.5), np.int8(3)])
def test_the_dtype_is_common_to_all_replacements(dtype, value):
    frame = pd.DataFrame({"x": np.array([0, 1], dtype)})
    assert_parity(lambda f: f.x.case_when([(f.x > 0, value), (f.x < 0, 1)]), frame)


def test_first_and_last_valid_labels():
    assert_parity(
        lambda f: (
            f.x.first_valid_index(),
            f.x.last_valid_index(),
            f[["x"]].first_valid_index(),
            f[["x", "y"]].last_valid_index(),
            f.x[:0].first_valid_index(),
        ),
        FRAME,
        ways=["eager"],
    )


def test_wrong_uses_are_pandas_errors():
    assert_same_error(lambda f: f.k.case_when([]), FRAME)
    assert_same_error(lambda f: f.k.case_when((f.k > 1, 0)), FRAME)


def test_replacements_of_other_kinds_than_an_arrow_column():
    flags = pd.Series([True, False, False])
    texts = pd.Series(["a", None, "b"], dtype=pd.ArrowDtype(pa.string()))
    money = pd.Series(["1.50", None, "2"], dtype="string").astype(
        pd.ArrowDtype(pa.decimal128(9, 2))
    )
    for column, values in ((texts, [1, 2, 3]), (money, [0.125, 1, 2])):
        ours = on_device(column).case_when([(on_device(flags), on_device(pd.Series(values)))])
        assert_same(ours, column.case_when([(flags, pd.Series(values))]))


COLUMNS = {
    "int64": [1, 2, 3], "int8": [1, 2, 3], "float64": [1.0, None, 3.0], "bool": [True, False, True],
    "str": ["a", "b", None], "datetime64[us]": ["2020-01-01", None, "2020-01-03"],
}  # fmt: skip


@pytest.mark.parametrize("dtype", COLUMNS)
@pytest.mark.parametrize("rows", [3, 0])
def test_the_dtype_is_that_of_all_values_whichever_are_taken(dtype, rows):
    column = pd.Series(COLUMNS[dtype]).astype(dtype)[:rows]
    others = [pd.Series([7, 8, 9]), pd.Series([True, True, False]), pd.Series(["p", "q", "r"])]
    values = [
        5,
        1.5,
        True,
        "x",
        None,
        np.nan,
        pd.Timestamp("2021"),
        *(one[:rows] for one in others),
    ]
    for value, taken in itertools.product(values, (False, True)):
        flags = pd.Series([taken] * rows, dtype=bool)
        given = on_device(value) if isinstance(value, pd.Series) else value
        ours = on_device(column).case_when([(on_device(flags), given)])
        assert_same(ours, column.case_when([(flags, value)]))
