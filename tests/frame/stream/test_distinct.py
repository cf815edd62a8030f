# SPDX-License-Identifier: Apache-2.0
"""Distinct rows, counts of them and groups in the order of rows, larger than memory."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame.stream import _distinct, _distinct_in_range, _partitions, _runs
from larger_than_memory import BATCH_ROWS, left_rows, plan_of

pytestmark = pytest.mark.usefixtures("nothing_is_left")

FRAME = left_rows()

QUERIES = {
    "drop_duplicates": lambda f: f[["k", "few"]].drop_duplicates(),
    "drop_duplicates of some columns": lambda f: f.drop_duplicates(["s", "few"]),
    "drop_duplicates last": lambda f: f.drop_duplicates(["hot"], keep="last"),
    "drop_duplicates missing": lambda f: f.drop_duplicates(["f"])[["f", "n"]],
    "drop_duplicates of a column": lambda f: f.s.drop_duplicates(),
    "unique": lambda f: f.s.unique(),
    "unique floats": lambda f: f.f.unique(),
    "value_counts": lambda f: f[["k", "few"]].value_counts(),
    "value_counts of a column": lambda f: f.hot.value_counts(ascending=True),
    "value_counts missing": lambda f: f.s.value_counts(dropna=False),
    "value_counts normalize": lambda f: f.f.value_counts(normalize=True),
    "value_counts unsorted": lambda f: f.s.value_counts(sort=False),
    "nunique": lambda f: f.k.nunique(),
    "nunique of columns": lambda f: f[["k", "f", "hot"]].nunique(),
    "nunique of few groups": lambda f: f.groupby("few").agg(
        k=("k", "nunique"), s=("s", "nunique"), m=("n", "max")
    ),
    "nunique of many groups": lambda f: f.groupby("hot", sort=False).agg(
        k=("few", "nunique"), f=("f", "nunique"), sum=("n", "sum")
    ),
    "nunique of missing groups": lambda f: f.groupby("f", dropna=False).s.nunique(),
    "groups in the order of rows": lambda f: f.groupby("k", sort=False).agg(
        mean=("f", "mean"), first=("n", "first"), size=("n", "size")
    ),
    "two keys": lambda f: f.groupby(["s", "few"], sort=False, as_index=False).n.sum(),
    "strings of groups": lambda f: f.groupby("hot", sort=False).s.max(),
    "sorted after groups": lambda f: f.groupby("k", as_index=False).n.sum().sort_values(
        ["n"], kind="stable"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("distinct")


@pytest.fixture(autouse=True)
def four_parts(monkeypatch):
    """Parts of few rows test nothing that fewer parts do not."""
    monkeypatch.setattr(_partitions, "FAN_OUT_BITS", 2)


@pytest.fixture(autouse=True)
def no_table(monkeypatch):
    """Rows go by the hash of their keys, also where a table would have room for these."""
    monkeypatch.setattr(_distinct_in_range, "SLOTS_PER_ROW", 0)


@pytest.mark.parametrize("name", QUERIES)
def test_spilled_rows_give_what_pandas_gives(name, folder):
    plan = plan_of(FRAME, folder, "rows")
    assert_same(QUERIES[name](plan).collect(batch_rows=BATCH_ROWS), QUERIES[name](FRAME), ulps=8)


def test_on_a_mesh(tmp_path):
    frame = FRAME[["k", "few", "n"]].iloc[:300]
    plan = plan_of(frame, tmp_path, "rows", devices=4)
    result = plan.groupby("k", sort=False).few.nunique().collect(batch_rows=75)
    assert_same(result, frame.groupby("k", sort=False).few.nunique())


def test_parts_are_divided_again(folder, monkeypatch):
    levels = set()

    class Watched(_partitions.Partitions):
        def __init__(self, keys, files, level=0, **options):
            levels.add(level)
            super().__init__(keys, files, level, **options)

    monkeypatch.setattr(_distinct, "Partitions", Watched)
    plan = plan_of(FRAME, folder, "rows")
    assert_same(plan.n.drop_duplicates().collect(batch_rows=40), FRAME.n)
    assert levels == {0, 1}


def test_rows_that_fit_are_not_written(folder, monkeypatch):
    for module in (_runs, _partitions):
        monkeypatch.setattr(module, "SpillWriter", None)
    plan = plan_of(FRAME, folder, "rows")
    result = plan.drop_duplicates(["few"]).collect(batch_rows=BATCH_ROWS)
    assert_same(result, FRAME.drop_duplicates(["few"]))


def test_distinct_rows_are_written_in_pieces(folder, tmp_path):
    path = tmp_path / "distinct.parquet"
    plan_of(FRAME, folder, "rows").drop_duplicates("k").to_parquet(path, batch_rows=BATCH_ROWS)
    pd.testing.assert_frame_equal(pd.read_parquet(path), FRAME.drop_duplicates("k"))


def test_batches_without_rows(folder):
    plan = plan_of(FRAME, folder, "rows")
    none, expected = plan[plan.n < 0], FRAME[FRAME.n < 0]
    assert_same(none.drop_duplicates("k").collect(batch_rows=100), expected)
    assert none.k.nunique().collect(batch_rows=100) == 0
    late = plan[plan.n > 650]
    result = late.groupby("k", sort=False).n.min().collect(batch_rows=20)
    assert_same(result, FRAME[FRAME.n > 650].groupby("k", sort=False).n.min())


def test_integers_with_missing_values_in_some_batches(tmp_path):
    values = pd.array(np.arange(3000) % 1100, dtype="Int64")
    values[1500:1600] = pd.NA
    frame = pd.DataFrame({"x": values, "n": np.arange(3000)})
    # Without pandas' notes they are float64, as everywhere else.
    table = pa.Table.from_pandas(frame).replace_schema_metadata()
    pq.write_table(table, tmp_path / "rows.parquet", row_group_size=500)
    plan = plan_of(None, tmp_path, "rows")
    pandas = frame.astype({"x": "float64"})
    result = plan.drop_duplicates("x").collect(batch_rows=BATCH_ROWS)
    assert_same(result, pandas.drop_duplicates("x"))
