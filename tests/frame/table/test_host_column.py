# SPDX-License-Identifier: Apache-2.0
"""Columns of few rows stay in the memory of the host until a program needs them."""

import copy
import pickle

import jax
import numpy as np
import pandas as pd
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, JaxSeries
from jaxframes.frame.table import _host_column
from jaxframes.frame.table._host_column import HostColumn

PANDAS = pd.DataFrame(
    {
        "x": [1.5, np.nan, -4.0, np.nan, 2.0, 0.5],
        "i": np.array([5, 3, 8, 1, 9, 7], np.int16),
        "b": [True, False, True, True, False, True],
        "s": ["b", "a", None, "c", "a", "d"],
        "c": pd.Categorical(["u", "v", None, "u", "u", "v"]),
        "t": pd.to_datetime(
            ["2024-01-02", "2024-01-01", None, "2024-03-01", "2024-01-05", "2024-01-06"]
        ),
        "n": pd.array([1, None, 3, 4, 5, 6], "Int64"),
        "o": [1, "a", None, 2.5, (1, 2), "b"],
    }
)


def columns_of(frame):
    table = frame._stored
    return [column.stored for column in (*table.columns, *table.index.stored)]


def are_on_host(frame):
    """Whether all columns are on the host, and nowhere else."""
    return all(
        isinstance(column, HostColumn) and column.placed_array is None
        for column in columns_of(frame)
    )


SELECTIONS = {
    "a slice": lambda f: f.iloc[1:4],
    "the end": lambda f: f.iloc[2:],
    "no rows": lambda f: f.iloc[3:3],
    "the first rows": lambda f: f.head(2),
    "the last rows": lambda f: f.tail(2),
    "a slice of a slice": lambda f: f.iloc[1:5].iloc[1:3],
    "positions": lambda f: f.take([4, 0, -1]),
    "repeated positions": lambda f: f.iloc[[1, 1, 2]],
    "no positions": lambda f: f.take([]),
    "every second row": lambda f: f.iloc[::2],
    "rows in reverse": lambda f: f.iloc[::-1],
    "a slice of positions": lambda f: f.take([4, 0, 2, 1]).iloc[1:3],
}


@pytest.mark.parametrize("labels", ["range", "strings", "a part of a range"])
@pytest.mark.parametrize("name", SELECTIONS)
def test_selected_rows_stay_on_the_host(name, labels):
    data = PANDAS
    if labels == "strings":
        data = data.set_index(pd.Index(list("pqrstu"), name="label"))
    frame = JaxFrame(data)
    if labels == "a part of a range":
        data, frame = data.iloc[[5, 1, 2, 0]], frame.take([5, 1, 2, 0])
        if name.startswith(("positions", "repeated", "a slice of positions")):
            data, frame = pd.concat([data, data]), frame.take([0, 1, 2, 3, 0, 1, 2, 3])
    select = SELECTIONS[name]
    got = select(frame)
    assert are_on_host(got)
    assert_same(got, select(data))
    # Reading does not place them.
    assert are_on_host(got)
    assert_same(got["x"] * 2, select(data)["x"] * 2)
    assert_same(jax.jit(lambda f: f)(got), select(data))


def test_a_series_is_selected_on_the_host():
    got = JaxSeries(PANDAS["s"]).iloc[1:4]
    assert are_on_host(got)
    assert_same(got, PANDAS["s"].iloc[1:4])


def test_many_rows_are_selected_on_the_device(monkeypatch):
    monkeypatch.setattr(_host_column, "MOST_ROWS", 5)
    got = JaxFrame(PANDAS).iloc[1:4]
    assert not any(isinstance(column, HostColumn) for column in columns_of(got))
    assert_same(got, PANDAS.iloc[1:4])


def test_rows_of_another_device_stay_there():
    device = jax.devices()[1]
    frame = jax.device_put(JaxFrame(PANDAS[["x", "i"]]), device)
    for got in (frame.iloc[1:4], frame.take([3, 1])):
        assert {column.data.device for column in got._table.columns} == {device}


def test_arrays_are_placed_once_and_told_when_they_are_gone():
    got = JaxFrame(PANDAS[["x", "i"]]).iloc[1:4]
    leaves = jax.tree.leaves(got)
    assert all(a is b for a, b in zip(leaves, jax.tree.leaves(got), strict=True))
    assert_same(got, PANDAS[["x", "i"]].iloc[1:4])
    jax.jit(lambda f: f + 1, donate_argnums=0)(got)
    with pytest.raises(RuntimeError, match="has lost its arrays"):
        got.to_pandas()


def test_rows_are_captured_by_a_trace():
    got = JaxFrame(PANDAS[["x", "i"]]).iloc[1:4]
    total = jax.jit(lambda factor: (got["x"] * factor).sum())(2.0)
    assert float(total) == -8.0
    # What a trace placed is not its own.
    assert_same(got["x"] + 1, PANDAS["x"].iloc[1:4] + 1)


def test_what_is_read_cannot_be_written():
    got = JaxFrame(PANDAS).iloc[1:4]
    values = got["i"].to_numpy()
    with pytest.raises(ValueError, match="read-only"):
        values[0] = 100


def test_copies():
    got = JaxFrame(PANDAS).iloc[1:4]
    for again in (copy.copy, copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))):
        assert_same(again(got), PANDAS.iloc[1:4])
