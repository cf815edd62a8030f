# SPDX-License-Identifier: Apache-2.0
"""Values of one column in place of those of another of any dtype: `where`, `fillna`, combining."""

import itertools

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same, on_device

_TIMES = pd.Series(pd.to_datetime(["2020-01-01", None, "2021-01-01"]))
COLUMNS = {
    "bool": pd.Series([True, False, True]),
    "int8": pd.Series([1, 2, 3], dtype="int8"),
    "int64": pd.Series([1, 2, 3]),
    "float": pd.Series([1.5, None, 3.0]),
    "str": pd.Series(["a", None, "c"]),
    "object": pd.Series([(1,), None, "x"], dtype=object),
    "times": _TIMES,
    "zoned": _TIMES.dt.tz_localize("UTC"),
    "durations": _TIMES - pd.Timestamp("2019"),
    "months": _TIMES.dt.to_period("M"),
    "days": _TIMES.dt.to_period("D"),
    "Int64": pd.Series([1, None, 3], dtype="Int64"),
    "Float64": pd.Series([1.5, None, 3], dtype="Float64"),
    "boolean": pd.Series([True, None, False], dtype="boolean"),
    "string": pd.Series(["a", None, "c"], dtype="string"),
    "category": pd.Series(["a", None, "c"], dtype="category"),
    "numbers": pd.Series([1, None, 3], dtype="category"),
}
_KEPT = np.array([True, False, False])
CALLS = {
    "where": lambda one, other: one.where(_KEPT, other),
    "fillna": lambda one, other: one.fillna(other),
    "combine_first": lambda one, other: one.combine_first(other),
    "frames": lambda one, other: one.to_frame("x").combine_first(other.to_frame("x")),
    "rows with values": lambda one, other: (
        one[::2].to_frame("x").combine_first(other.to_frame("x")[::2])
    ),
}


@pytest.mark.filterwarnings("ignore:Silently casting", "ignore:.*not supported as a fill value")
@pytest.mark.parametrize("call", CALLS)
def test_each_pair(call):
    for (left, one), (right, values) in itertools.product(COLUMNS.items(), COLUMNS.items()):
        if left in ("times", "zoned") and call == "combine_first" and left != right:
            continue  # pandas is going to stop converting these to times.
        if left == "float" and call == "fillna" and right in ("Int64", "Float64"):
            continue  # In pandas the dtype depends on whether any value of the other is missing.
        if call == "combine_first" and {left, right} <= {"numbers", "int8", "int64"}:
            continue  # There integers beside categories are floats only if one stays missing.
        other = values.iloc[[2, 0, 1]].reset_index(drop=True)
        try:
            expected = CALLS[call](one, other)
        except (TypeError, ValueError, AssertionError):
            continue  # pandas fails for some pairs that it takes in the other order.
        assert_same(CALLS[call](on_device(one), on_device(other)), expected)


def test_values_that_are_no_categories():
    column = COLUMNS["category"]
    for call in ("where", "fillna"):
        with pytest.raises(TypeError, match="Cannot setitem on a Categorical with a new category"):
            CALLS[call](on_device(column), on_device(pd.Series(["x", "y", "z"])))
        with pytest.raises(TypeError, match="Cannot setitem on a Categorical with a new category"):
            getattr(on_device(column), call)(*([_KEPT] if call == "where" else []), 2**70)


def test_integers_past_the_range_of_a_nullable_dtype():
    column = on_device(COLUMNS["Int64"])
    with pytest.raises(TypeError, match="Invalid values of dtype uint64"):
        column.fillna(on_device(pd.Series([2**63] * 3, dtype="uint64")))
    with pytest.raises(TypeError, match="Invalid values of dtype int64 for dtype 'Int8'"):
        on_device(COLUMNS["Int64"].astype("Int8")).fillna(on_device(pd.Series([300] * 3)))
