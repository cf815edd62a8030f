# SPDX-License-Identifier: Apache-2.0
"""Sums by key of rows that a mask selects, without moving the rows; pandas is the oracle."""

import numpy as np
import pandas as pd
import pytest
from jaxframes.frame import JaxFrame
from jaxframes.frame.groupby import _base
from jaxframes.frame.table import _defer

NUM_ROWS = 90


@pytest.fixture(autouse=True)
def always(monkeypatch, selections_are_deferred):
    """Defers expressions, too."""
    monkeypatch.setattr(_defer, "LEAST_MAPPED", 0)
    monkeypatch.setattr(_base, "LEAST_ROWS", 0)


@pytest.fixture
def found(monkeypatch):
    """Records whether columns were read over all rows of their source."""
    calls = []

    def unfiltered(columns, num_rows):
        rows = original(columns, num_rows)
        calls.append(rows is not None)
        return rows

    original = _base.unfiltered
    monkeypatch.setattr(_base, "unfiltered", unfiltered)
    return calls


def example():
    rng = np.random.default_rng(0)
    strings = rng.choice(["a", "b", "c", None], NUM_ROWS)
    return pd.DataFrame(
        {
            "s": pd.Series(strings, dtype="str"),
            "c": pd.Categorical(rng.choice(["u", "v", None], NUM_ROWS)),
            "i": rng.integers(-5, 5, NUM_ROWS),
            "f": rng.choice([0.0, -0.0, 1.5, np.nan], NUM_ROWS),
            "b": rng.random(NUM_ROWS) < 0.5,
            "d": pd.to_datetime(rng.choice([0, 1, 2], NUM_ROWS), unit="D"),
            "x": np.where(rng.random(NUM_ROWS) < 0.1, np.nan, rng.normal(size=NUM_ROWS)),
            "n": rng.integers(0, 100, NUM_ROWS),
            "mask": np.arange(NUM_ROWS) % 9 != 4,
        }
    )


def selected(frame):
    frame = frame[frame["mask"]]
    frame = frame.assign(y=frame["x"] * (1.0 - frame["n"]))
    return frame.assign(z=frame["y"] * (2.0 + frame["n"]))


def summed(frame, keys):
    return frame.groupby(keys, as_index=False).agg(
        n=("n", "sum"), x=("x", "mean"), y=("y", "sum"), z=("z", "sum"), size=("x", "count")
    )


def same(ours, theirs):
    pd.testing.assert_frame_equal(ours.to_pandas(), theirs, check_dtype=False, rtol=1e-12)


KEYS = ["s", "c", "i", "f", "b", "d"]


@pytest.mark.parametrize("keys", [[key] for key in KEYS] + [["s", "i"], ["i", "b"], ["f", "d"]])
def test_sums(found, keys):
    pandas = example()
    # Both sides have observed groups only.
    pandas["c"] = pandas["c"].astype("str") if "c" in keys else pandas["c"]
    frame = selected(JaxFrame(pandas))
    same(summed(frame, keys), summed(selected(pandas), keys))
    assert found == [True]
    assert frame._stored.columns[list(frame.columns).index("x")].node is not None


def test_a_second_pass_moves_the_rows(found):
    pandas = example()
    frame = selected(JaxFrame(pandas))
    for _ in range(3):
        same(summed(frame, ["s"]), summed(selected(pandas), ["s"]))
    assert found == [True, False, False]


def test_missing_keys_are_kept_with_dropna_false(found):
    pandas = example()
    ours, theirs = (
        selected(f).groupby("s", dropna=False)["x"].sum() for f in (JaxFrame(pandas), pandas)
    )
    pd.testing.assert_series_equal(ours.to_pandas(), theirs, rtol=1e-12)
    assert not any(found)


@pytest.mark.parametrize("every", [1, 2, 10**6])
def test_few_rows_are_moved(found, every):
    pandas = example().assign(mask=np.arange(NUM_ROWS) % every == 0)
    frame = selected(JaxFrame(pandas))
    same(summed(frame, ["s"]), summed(selected(pandas), ["s"]))
    assert found == [every == 1]


def test_columns_in_place_and_of_other_selections_are_moved(found):
    pandas = example()
    frame = selected(JaxFrame(pandas))
    frame["n"].to_pandas()
    same(summed(frame, ["s"]), summed(selected(pandas), ["s"]))
    frame, pandas = selected(JaxFrame(pandas)), selected(pandas)
    frame, pandas = (f[f["n"] > 5].assign(w=1.5) for f in (frame, pandas))
    same(summed(frame, ["s"]), summed(pandas, ["s"]))
    assert found == [False, False]


def test_the_source_may_be_gone(found):
    pandas = example()
    frame = selected(JaxFrame(pandas))
    grouped = frame.groupby("s", as_index=False)
    del frame
    theirs = selected(pandas).groupby("s", as_index=False)
    same(grouped["z"].sum(), theirs["z"].sum())
