# SPDX-License-Identifier: Apache-2.0
"""Tables that were filtered: their capacity, and what is calculated from them."""

import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same, on_device
from jaxframes.frame.table._filter import MOST_PADDED


def _rows(num_rows: int) -> pd.DataFrame:
    x = np.arange(num_rows)
    return pd.DataFrame({"x": x * 0.5, "k": x % 7, "s": [f"s{n % 3}" for n in x]})


@pytest.mark.parametrize("num_rows", [0, 1, 63, 64, 65, MOST_PADDED - 1, MOST_PADDED])
def test_small_tables_keep_their_capacity(num_rows):
    data = _rows(num_rows)
    ours = on_device(data)
    kept = ours[ours["k"] == 3]
    assert kept._table.capacity == ours._table.capacity
    assert len(kept) == int((data["k"] == 3).sum())
    assert_same(kept, data[data["k"] == 3])


def test_large_tables_have_the_capacity_of_their_rows():
    data = _rows(2 * MOST_PADDED)
    ours = on_device(data)
    assert ours[ours["x"] < 5]._table.capacity < MOST_PADDED
    assert_same(ours[ours["x"] < 5], data[data["x"] < 5])


@pytest.mark.parametrize(
    "of_rows",
    [
        lambda f: f[f["x"] > 5.0],
        lambda f: f.reset_index(),
        lambda f: f.iloc[::-1],
        lambda f: f.tail(3),
        lambda f: f.sort_values(["s", "x"], ascending=False),
        lambda f: f.groupby("s").sum(),
        lambda f: f.drop_duplicates("k"),
        lambda f: f["k"].value_counts(),
        lambda f: f.merge(f, on="k"),
        lambda f: f["x"].cumsum(),
        lambda f: f["x"].shift(1) + f["x"],
        lambda f: f["x"].rolling(2).sum(),
        lambda f: f.set_index("k").loc[5],
        lambda f: f.count(),
        lambda f: f["x"].rank(),
    ],
)
@pytest.mark.parametrize("least", [3, 94])
def test_calls_on_few_rows_of_a_small_table(of_rows, least):
    data = _rows(100)
    ours = on_device(data)
    kept, expected = ours[ours["x"] > least / 2], data[data["x"] > least / 2]
    assert_same(of_rows(kept), of_rows(expected))


def test_the_index_of_a_filtered_table():
    data = _rows(10).set_axis(pd.Index(list("abcdefghij"), name="row"))
    ours = on_device(data)
    assert_same(ours[ours["k"] < 2], data[data["k"] < 2])
    assert list(ours[ours["k"] > 9].index) == []
