# SPDX-License-Identifier: Apache-2.0
"""The comparison of answers before their times are reported."""

import numpy as np
import pandas as pd
import pytest
from workloads.answers import WrongAnswer, check, compared, digest, table_of
from workloads.workload import Workload

RNG = np.random.default_rng(0)
ANSWER = pd.DataFrame(
    {
        "key": RNG.integers(0, 50, 100),
        "name": pd.array(RNG.choice(["a", "b", None], 100), dtype="str"),
        "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(np.arange(100), unit="D"),
        "x": np.where(np.arange(100) % 7, RNG.standard_normal(100), np.nan),
    }
)
WORKLOAD = Workload(package="calls", name="calls", tables=(), ordered={"sort": (0,)})


def differs(answer, *, is_ordered=False):
    expected = digest(table_of(ANSWER), is_ordered=is_ordered)
    found = digest(table_of(answer), kinds=expected.kinds, is_ordered=is_ordered)
    try:
        check(found, expected, "q1 of polars")
    except WrongAnswer:
        return True
    return False


def test_the_order_of_rows_matters_only_on_request():
    shuffled = ANSWER.sample(frac=1, random_state=0)
    assert not differs(shuffled)
    assert differs(shuffled, is_ordered=True)


def test_types_and_rounding_of_another_engine_are_equal():
    other = ANSWER.assign(
        key=ANSWER["key"] + 1e-9,
        name=ANSWER["name"].astype("category"),
        day=ANSWER["day"].astype("datetime64[s]"),
        x=ANSWER["x"] * (1 + 1e-15),
    )
    assert not differs(other)


@pytest.mark.parametrize("column", ANSWER.columns)
def test_two_values_in_each_others_rows_are_found(column):
    swapped = ANSWER.copy()
    swapped.loc[[1, 2], column] = ANSWER.loc[[2, 1], column].array
    assert not ANSWER[column].equals(swapped[column])
    assert differs(swapped)


@pytest.mark.parametrize("column", ANSWER.columns)
def test_a_null_is_found(column):
    other = ANSWER.copy()
    other[column] = ANSWER[column].mask(np.arange(100) == 3)
    assert differs(other)


def test_a_null_in_another_row_is_found():
    x = ANSWER["x"].fillna(0.0)
    assert differs(ANSWER.assign(x=x.mask(x.index == 1)))


def test_a_missing_row_is_named():
    expected = digest(table_of(ANSWER), is_ordered=False)
    found = digest(table_of(ANSWER[1:]), kinds=expected.kinds, is_ordered=False)
    with pytest.raises(WrongAnswer, match=r"^q1 of polars: expected 100 rows, got 99\.$"):
        check(found, expected, "q1 of polars")


def test_a_named_index_is_compared_and_others_are_not():
    by_key = ANSWER.set_index("key")
    assert not differs(by_key)
    assert not differs(ANSWER.set_axis(range(5, 105)))
    assert table_of(by_key["x"]).shape == (100, 2)
    assert table_of(1.5).iloc[0, 0] == 1.5


def test_sorted_answers_are_compared_in_order():
    ordered = ANSWER.sort_values("key", kind="stable")
    expected = compared(WORKLOAD, "pandas", [("sort", ordered)], None)
    # Equal keys may change places.
    unstable = ANSWER[::-1].sort_values("key", kind="stable")
    compared(WORKLOAD, "polars", [("sort", unstable)], expected)
    with pytest.raises(WrongAnswer, match=r"^sort of polars, order: .* differ, or their order\.$"):
        compared(WORKLOAD, "polars", [("sort", ordered[::-1])], expected)
