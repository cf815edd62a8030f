# SPDX-License-Identifier: Apache-2.0
"""Sorts and groups larger than a batch: sorted runs on disk, merged."""

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import scan_parquet
from jaxframes.frame.stream import _runs

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def rows(num_rows=600):
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "k": rng.integers(0, 400, num_rows),
            "few": rng.integers(0, 3, num_rows),
            "x": np.where(rng.random(num_rows) < 0.1, np.nan, rng.integers(-99, 99, num_rows) / 4),
            "s": rng.integers(0, 300, num_rows).astype(str),
            "n": np.arange(num_rows),
        }
    )


FRAME = rows()
SORTS = {
    "one key": {"by": "x"},
    "skewed keys": {"by": ["few", "s"], "ascending": [False, True]},
    "descending": {"by": ["x"], "ascending": False, "na_position": "first"},
    "sorted before": {"by": "n", "ignore_index": True},
    "one value": {"by": "one"},
}


@pytest.fixture(scope="module")
def plan(tmp_path_factory):
    path = tmp_path_factory.mktemp("spill") / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=150)
    return scan_parquet(path)


@pytest.mark.parametrize("name", SORTS)
def test_sorts_are_stable(name, plan):
    options = SORTS[name]
    expected = FRAME.assign(one=1).sort_values(kind="stable", **options)
    result = plan.assign(one=1).sort_values(**options).collect(batch_rows=120)
    assert_same(result, expected)


def test_many_runs_are_merged_in_passes(plan, monkeypatch):
    monkeypatch.setattr(_runs, "_FAN_IN", 2)
    monkeypatch.setattr(_runs, "_MOST_TABLES", 3)
    expected = FRAME.sort_values(["few", "x"], kind="stable")
    assert_same(plan.sort_values(["few", "x"]).collect(batch_rows=120), expected)


def test_pieces_are_read_once_in_one_pass(plan, monkeypatch):
    read = []

    class Watched(_runs.SpilledRows):
        def __getitem__(self, number):
            if number < len(self) - 1:
                read.append((self._path, number))
            return super().__getitem__(number)

    monkeypatch.setattr(_runs, "SpilledRows", Watched)
    assert_same(plan.sort_values("x").collect(batch_rows=40), FRAME.sort_values("x", kind="stable"))
    # Runs of 40 rows in pieces of 16.
    assert len(read) == len(set(read)) == 15 * 3


def test_a_sort_is_cut_off_by_head(plan):
    expected = FRAME[FRAME.k > 100].sort_values("s", kind="stable").head(30)
    assert_same(plan[plan.k > 100].sort_values("s").head(30).collect(batch_rows=120), expected)
    assert len(plan[plan.k > 999].sort_values("s").collect(batch_rows=120)) == 0


GROUPS = {
    "sums": lambda f: f.groupby("k")[["x", "n"]].sum(),
    "two keys": lambda f: f.groupby(["few", "s"], as_index=False).agg(
        m=("x", "mean"), v=("x", "var"), first=("n", "first"), size=("n", "size")
    ),
    "missing keys": lambda f: f.groupby("x", dropna=False).k.max(),
    "strings": lambda f: f.groupby("s").size(),
    "a sum of groups": lambda f: f.groupby("k").n.sum().max(),
    "first rows": lambda f: f.groupby("s", sort=False).n.sum(),
}


@pytest.mark.parametrize("name", GROUPS)
def test_many_groups(name, plan):
    assert_same(GROUPS[name](plan).collect(batch_rows=120), GROUPS[name](FRAME), ulps=8)


def test_first_and_last_of_groups_that_go_to_disk_by_two_ways(tmp_path):
    keys = np.concatenate([np.arange(30), np.full(10, 99), [99], np.arange(100, 109)])
    frame = pd.DataFrame({"k": keys, "x": np.arange(50.0)})
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=10)

    def query(rows):
        return rows.groupby("k", as_index=False).agg(first=("x", "first"), last=("x", "last"))

    assert_same(query(scan_parquet(tmp_path / "rows.parquet")).collect(batch_rows=10), query(frame))


def test_groups_are_written_in_pieces(plan, tmp_path):
    path = tmp_path / "groups.parquet"
    groups = plan.groupby("k", as_index=False).n.sum()
    groups.to_parquet(path, batch_rows=120)
    pd.testing.assert_frame_equal(pd.read_parquet(path), FRAME.groupby("k", as_index=False).n.sum())
    assert pq.ParquetFile(path).num_row_groups > 1
