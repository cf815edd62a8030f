# SPDX-License-Identifier: Apache-2.0
"""Sums and counts of groups over batches whose keys are integers of a range that footers tell."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import scan_parquet
from jaxframes.frame.stream import _groups_in_range, _plan_stage, _steps
from jaxframes.frame.stream._groups import GroupState
from jaxframes.shardings import make_mesh, row_sharded

pytestmark = pytest.mark.usefixtures("nothing_is_left")

NUM_ROWS = 900
BATCH_ROWS = 60


def rows():
    rng = np.random.default_rng(43)
    frame = pd.DataFrame(
        {
            "k": rng.integers(-6, 9, NUM_ROWS),
            "tiny": rng.choice(np.array([-128, -125, -120], "int8"), NUM_ROWS),
            "small": rng.choice(np.array([-100, 7, 100], "int8"), NUM_ROWS),
            "far": np.uint64(2**64 - 1) - rng.integers(0, 13, NUM_ROWS).astype("uint64"),
            "least": np.int32(-(2**31)) + rng.integers(0, 15, NUM_ROWS).astype("int32"),
            "two": rng.integers(0, 2, NUM_ROWS),
            "wide": rng.integers(-90, 10, NUM_ROWS).astype("int16"),
            "holes": pd.array(rng.integers(0, 9, NUM_ROWS), "Int64"),
            # Their sums are exact in any order.
            "x": rng.choice([0.5, -0.0, np.nan, 2.25], NUM_ROWS),
            "f": rng.integers(-9, 9, NUM_ROWS).astype("float32") / 4,
            "n": rng.integers(-(2**62), 2**62, NUM_ROWS),
            "u": rng.integers(0, 2**32, NUM_ROWS).astype("uint32"),
            "b": rng.random(NUM_ROWS) < 0.5,
            "s": rng.choice(["a", "b", None], NUM_ROWS),
        }
    )
    frame.loc[::7, "holes"] = pd.NA
    frame.loc[:99, "x"] = 1.5
    frame.loc[frame.k == 3, "x"] = np.nan
    frame.loc[200, "x"], frame.loc[300, "x"] = np.inf, -np.inf
    return frame


FRAME = rows()
KNOWN = {
    "a sum": lambda f: f.groupby("k").x.sum(),
    "sums": lambda f: f.groupby("k")[["x", "f", "n", "u", "b"]].sum(),
    "means": lambda f: f.groupby("k")[["x", "f", "u", "b"]].mean(),
    "counts": lambda f: f.groupby("k")[["x", "n", "holes"]].count(),
    "sizes": lambda f: f.groupby("k").size(),
    "named": lambda f: f.groupby("k", as_index=False).agg(
        n=("x", "count"), a=("x", "mean"), b=("n", "sum")
    ),
    "int8": lambda f: f[f.two > 0].groupby("tiny")[["n"]].sum(),
    "a range that its dtype does not hold": lambda f: f.groupby("small")[["x", "n"]].sum(),
    "the greatest integers": lambda f: f.groupby("far")[["x"]].sum(),
    "the least integers": lambda f: f.groupby("least")[["u"]].sum(),
    "two keys": lambda f: f.groupby(["wide", "two"]).agg(a=("x", "sum"), b=("u", "mean")),
    "after steps": lambda f: f[f.x > 0].rename(columns={"k": "j"}).groupby("j")[["n"]].sum(),
    "no rows": lambda f: f[f.x > 1e9].groupby("k")[["n"]].sum(),
    "before steps": lambda f: f.groupby("k", as_index=False)[["n"]].sum().sort_values("n"),
}
UNKNOWN = {
    "a wide range": lambda f: f.groupby("wide")[["x"]].sum(),
    "another reduction": lambda f: f.groupby("k").agg(a=("x", "sum"), b=("x", "max")),
    "distinct values": lambda f: f.groupby("k").agg(a=("x", "sum"), b=("n", "nunique")),
    "in order of appearance": lambda f: f.groupby("k", sort=False)[["n"]].sum(),
    "nulls": lambda f: f.groupby("holes")[["n"]].sum().reset_index(drop=True),
    "new values": lambda f: f.assign(k=f.k * 2).groupby("k")[["n"]].sum(),
    "strings as keys": lambda f: f.groupby("s")[["n"]].sum(),
    "strings as values": lambda f: f.groupby("k").agg(a=("s", "count")),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    # Without pandas' notes the integers with missing values are float64, as everywhere else.
    table = pa.Table.from_pandas(FRAME).replace_schema_metadata()
    pq.write_table(table, path, row_group_size=110)
    return path


@pytest.mark.parametrize("name", KNOWN)
def test_groups_are_those_of_pandas(name, path, monkeypatch):
    if name in ("a range that its dtype does not hold", "two keys"):
        # A batch of 60 rows has no table for their 201 and 200 combinations.
        monkeypatch.setattr(_groups_in_range, "LEAST_ROWS_OF_SLOT", 0.25)
    monkeypatch.setattr(GroupState, "reduced", None)
    result = KNOWN[name](scan_parquet(path)).collect(batch_rows=BATCH_ROWS)
    assert_same(result, KNOWN[name](FRAME.astype({"holes": "float64"})))


@pytest.mark.parametrize("name", UNKNOWN)
def test_other_groups_take_no_table(name, path, monkeypatch):
    monkeypatch.setattr(_groups_in_range.GroupsInRange, "add", None)
    expected = UNKNOWN[name](FRAME.astype({"holes": "float64"}))
    assert_same(UNKNOWN[name](scan_parquet(path)).collect(batch_rows=BATCH_ROWS), expected)


def test_a_mesh_takes_no_table(path, monkeypatch):
    monkeypatch.setattr(_groups_in_range.GroupsInRange, "add", None)
    plan = scan_parquet(path, sharding=row_sharded(make_mesh(4)))
    assert_same(KNOWN["sums"](plan).collect(batch_rows=BATCH_ROWS), KNOWN["sums"](FRAME))


def test_batches_with_and_without_nulls(tmp_path):
    values = pa.array([1, 2, 3, 4, None, 6, None, 8], pa.int32())
    pq.write_table(
        pa.table({"k": [0, 1, 0, 1, 0, 1, 1, 1], "n": values}), tmp_path / "rows.parquet"
    )
    groups = scan_parquet(tmp_path / "rows.parquet").groupby("k")
    result = groups.agg(total=("n", "sum"), count=("n", "count"), mean=("n", "mean"))
    expected = pd.DataFrame(
        {"total": [4.0, 20.0], "count": [2, 4], "mean": [2.0, 5.0]}, pd.Index([0, 1], name="k")
    )
    assert_same(result.collect(batch_rows=4), expected)


@pytest.mark.parametrize("bounds", [(-6, 7), (-5, 8)])
def test_a_key_outside_of_its_range_is_an_error(bounds, path, monkeypatch):
    monkeypatch.setattr(_groups_in_range, "key_bounds", lambda *_: [bounds])
    plan = scan_parquet(path).groupby("k")[["n"]].sum()
    with pytest.raises(OSError, match="groupby: the footer of a file must give the range"):
        plan.collect(batch_rows=BATCH_ROWS)


def test_an_interrupted_job_goes_on(path, tmp_path, monkeypatch):
    plan = scan_parquet(path).groupby("k").agg(a=("x", "mean"), b=("n", "sum"))
    add, num_added = _groups_in_range.GroupsInRange.add, 0

    def interrupted(self, rows):
        nonlocal num_added
        num_added += 1
        if num_added == 12:
            raise KeyboardInterrupt
        add(self, rows)

    monkeypatch.setattr(_groups_in_range.GroupsInRange, "add", interrupted)
    monkeypatch.setattr(_steps, "EVERY", 4)
    options = {"batch_rows": BATCH_ROWS, "checkpoint": tmp_path / "job"}
    with pytest.raises(KeyboardInterrupt):
        plan.collect(**options)
    assert_same(plan.collect(**options), plan.collect().to_pandas())
    # The first eight batches are not read again.
    assert num_added == 12 + NUM_ROWS // BATCH_ROWS - 8


def test_batches_are_row_groups_that_jax_reads_in_place(tmp_path, monkeypatch):
    monkeypatch.setattr(_groups_in_range, "LEAST_IN_PLACE", 128)
    rng = np.random.default_rng(44)
    frame = pd.DataFrame({"k": rng.integers(0, 9, 500), "n": np.arange(500), "x": rng.random(500)})
    frame["t"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(frame.n, "D")
    seen, add = [], _groups_in_range.GroupsInRange.add

    def watched(self, rows):
        seen.append(len(rows))
        add(self, rows)

    monkeypatch.setattr(_groups_in_range.GroupsInRange, "add", watched)
    for group_rows, expected in ((128, [128] * 3 + [116]), (100, [300, 200]), (320, [300, 200])):
        monkeypatch.setattr(_plan_stage, "rows_of_batches", lambda *_: 300)
        path = tmp_path / f"{group_rows}.parquet"
        frame.to_parquet(path, row_group_size=group_rows)
        rows = scan_parquet(path)
        rows = rows[rows.t > pd.Timestamp("2020-01-01")]
        seen.clear()
        result = rows.groupby("k")[["n"]].sum().collect(memory_limit="1GiB")
        assert_same(result, frame.groupby("k")[["n"]].sum())
        assert seen == expected
        # Rows that are kept are in batches of the given size.
        assert_same(rows.sort_values("x").collect(memory_limit="1GiB"), frame.sort_values("x"))
