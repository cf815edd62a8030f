# SPDX-License-Identifier: Apache-2.0
"""Plans on files read what they need, and give what reading everything gives."""

from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds
import pytest
from exact_numbers import NUMBERS, are_listed
from frame_parity import assert_same
from jaxframes.frame import col, from_arrow, read_parquet, scan_arrow, scan_csv, scan_parquet
from jaxframes.frame.plan._row_groups import as_filter, row_groups
from jaxframes.shardings import make_mesh, row_sharded

NUM_ROWS = 4000
# Sorted by `t`, so that the statistics of row groups exclude most of them.
WIDE = pd.DataFrame(
    {f"c{place}": np.random.default_rng(place).normal(size=NUM_ROWS) for place in range(18)}
    | {"t": np.arange(NUM_ROWS) // 2, "s": np.repeat(["a", "b", "c", "d"], NUM_ROWS // 4)}
)
MASK = (WIDE.t >= 500) & (WIDE.t < 660)
SELECTIVE = (col("t") >= 500) & (col("t") < 660)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    path = tmp_path_factory.mktemp("files") / "wide.parquet"
    WIDE.to_parquet(path, row_group_size=200)
    return path


def bytes_read(function):
    """The bytes that a function asks the system for: the least of a few calls.

    Other threads of the process may read meanwhile, such as compiled programs.
    """
    io = Path("/proc/self/io")
    if not io.exists():
        pytest.skip("the system does not count what a process reads")
    read = []
    for _ in range(4):
        before = int(io.read_text().split()[1])
        function()
        read.append(int(io.read_text().split()[1]) - before)
    return min(read)


def test_a_selective_query_reads_what_arrow_reads_when_told(path):
    plan = scan_parquet(path)[SELECTIVE][["c3", "c7"]]
    condition = (ds.field("t") >= 500) & (ds.field("t") < 660)

    def by_hand():
        ds.dataset(path).to_table(columns=["c3", "c7", "t"], filter=condition)

    assert_same(plan.collect(), WIDE[MASK][["c3", "c7"]])
    by_hand()
    wanted, all_bytes = bytes_read(by_hand), bytes_read(lambda: read_parquet(path))
    assert bytes_read(plan.collect) <= 1.1 * wanted < 0.3 * all_bytes
    without = {"predicate_pushdown": False, "projection_pushdown": False}
    assert bytes_read(lambda: plan.collect(optimizations=without)) > 0.8 * all_bytes


def test_row_groups_are_chosen_by_statistics(path):
    dataset = ds.dataset(path)

    def kept(predicate, limit=None):
        condition = None if predicate is None else as_filter(predicate, dataset.schema)
        return [start // 200 for start in row_groups(dataset, condition, limit).positions]

    assert kept(None) == list(range(20))
    assert kept(None, limit=201) == [0, 1]
    assert kept(SELECTIVE) == [5, 6]
    assert kept(col("t") < 250) == [0, 1, 2]
    assert kept(col("t").isin([5, 1999]) | (col("t") == 1000)) == [0, 10, 19]
    assert kept(col("s") == "d") == [15, 16, 17, 18, 19]
    # Not known from statistics: NaN satisfies a negation, and so do rows with other columns.
    assert len(kept(~(col("t") < 1500))) == 20
    assert len(kept((col("t") < 5) | (col("c0") > col("c1")))) == 20


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_times_are_compared_in_the_unit_of_the_column(tmp_path, unit):
    days = pd.date_range("2024-01-01", periods=40, unit=unit)
    frame = pd.DataFrame({"day": days, "x": np.arange(40)})
    frame.to_parquet(tmp_path / "days.parquet", row_group_size=10, version="2.6")
    dataset = ds.dataset(tmp_path / "days.parquet")
    all_or_fewer = [20, 30] if unit == "ns" else [0, 10, 20, 30]
    for first, kept in (
        (datetime(2024, 1, 25), [20, 30]),
        (pd.Timestamp("2024-01-25").as_unit("ns"), [20, 30]),
        (pd.Timestamp("2024-01-25 00:00:00.000000001"), all_or_fewer),
    ):
        condition = as_filter(col("day") >= first, dataset.schema)
        assert list(row_groups(dataset, condition, None).positions) == kept
        plan = scan_parquet(tmp_path / "days.parquet")[col("day") >= first]
        assert_same(plan.collect(), frame[frame.day >= first])


def test_statistics_do_not_hide_missing_values(tmp_path):
    path = tmp_path / "nan.parquet"
    frame = pd.DataFrame({"x": [np.nan, 5.0, np.nan, 1.0], "n": [None, 2, 3, None]})
    frame.to_parquet(path, row_group_size=2)
    for predicate in (
        lambda f: ~(f.x > 3),
        lambda f: f.x != 5,
        lambda f: f.x.isna(),
        lambda f: (f.n >= 2) | (f.x == 1),
        lambda f: f.n != 2,
    ):
        plan = scan_parquet(path)
        assert_same(plan[predicate(plan)].collect(), frame[predicate(frame)])


@pytest.mark.parametrize("num_devices", [None, 4])
def test_rows_keep_the_labels_of_the_whole_file(path, num_devices):
    sharding = None if num_devices is None else row_sharded(make_mesh(num_devices))
    plan = scan_parquet(path, sharding=sharding)[SELECTIVE].assign(c=col("c3") * 2)
    assert_same(plan[["c", "t"]].collect(), WIDE[MASK].assign(c=WIDE.c3 * 2)[["c", "t"]])


def test_stored_labels_and_several_files(tmp_path):
    frame = WIDE[["t", "c1", "s"]].iloc[::40]
    for name, piece in (("a", frame[:50]), ("b", frame[50:])):
        piece.to_parquet(tmp_path / f"{name}.parquet", row_group_size=10)
    expected = frame[frame.t > 900][["s"]]
    for given in (
        tmp_path,
        tmp_path / "*.parquet",
        [tmp_path / "a.parquet", tmp_path / "b.parquet"],
    ):
        path = str(given) if "*" in str(given) else given
        assert_same(scan_parquet(path)[col("t") > 900][["s"]].collect(), expected)
    WIDE[["t", "s"]].to_parquet(tmp_path / "parts", partition_cols=["s"])
    assert_same(
        scan_parquet(tmp_path / "parts")[col("s") == "b"].t.collect(), WIDE[WIDE.s == "b"].t
    )
    plan = scan_parquet(tmp_path / "parts")[col("t") < 3]
    assert plan.collect().t.tolist() == [0, 0, 1, 1, 2, 2]
    assert plan[["s"]].collect().s.astype(str).tolist() == ["a"] * 6


def test_the_first_rows_read_the_first_row_groups(path):
    plan = scan_parquet(path)[["c1", "t"]].assign(u=col("t") * 2).head(150)
    assert "the first 150 rows" in plan.explain()
    assert_same(plan.collect(), WIDE[["c1", "t"]].assign(u=WIDE.t * 2).head(150))
    # Rows removed afterwards may be any: the limit stays above the filter.
    assert "the first" not in scan_parquet(path)[SELECTIVE].head(3).explain()
    assert_same(scan_parquet(path)[SELECTIVE][["t"]].head(3).collect(), WIDE[MASK][["t"]].head(3))
    assert_same(scan_parquet(path)[["t"]].head(300)[SELECTIVE].collect(), WIDE[["t"]][:0])


def test_no_rows_and_no_columns(path):
    assert_same(scan_parquet(path)[col("t") > 10**6][["c1", "s"]].collect(), WIDE[:0][["c1", "s"]])
    assert scan_parquet(path).groupby("s").size().collect().tolist() == [1000] * 4
    assert_same(scan_parquet(path, columns=["s"]).head(2).collect(), WIDE[["s"]].head(2))


def test_csv(tmp_path):
    frame = WIDE[["t", "s", "c1"]].head(100)
    frame.to_csv(tmp_path / "f.csv", index=False, sep=";")
    plan = scan_csv(tmp_path / "f.csv", sep=";")[lambda f: f.t > 20][["s"]]
    assert "columns ['t', 's']" in plan.explain()
    assert_same(plan.collect(), frame[frame.t > 20][["s"]])


def test_arrow():
    table = pa.Table.from_pandas(WIDE[["t", "s", "c1"]], preserve_index=False)
    for data in (table, table.to_reader(), ds.dataset(table)):
        plan = scan_arrow(data)[col("t") < 4][["s"]]
        for _ in range(2):
            assert_same(plan.collect(), from_arrow(table).to_pandas()[:8][["s"]])


def test_what_is_not_there(tmp_path, path):
    with pytest.raises(FileNotFoundError, match="no such file"):
        scan_parquet(tmp_path / "none.parquet")
    with pytest.raises(FileNotFoundError, match="no file matches"):
        scan_parquet(str(tmp_path / "*.parquet"))
    with pytest.raises(FileNotFoundError, match="no such file"):
        scan_csv(tmp_path / "none.csv")
    with pytest.raises(KeyError, match="bogus"):
        scan_parquet(path, columns=["bogus"])
    with pytest.raises(TypeError, match="__arrow_c_stream__"):
        scan_arrow([1, 2])


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_statistics_of_integers_of_64_bits(tmp_path, dtype):
    values = NUMBERS[dtype]
    frame = pd.DataFrame({"x": values, "n": np.arange(len(values))})
    frame.to_parquet(tmp_path / "x.parquet", row_group_size=1)
    plan = scan_parquet(tmp_path / "x.parquet")
    for key in (5, 0, -1, 2**53 + 1, 2**63, 2**64 - 1):
        for kept in (
            plan[plan.x == key], plan[plan.x >= key], plan[plan.x.between(0, key)],
            plan[plan.x.isin([key])], plan[plan.x.isin([key, None])], plan[~plan.x.isin([key])],
        ):  # fmt: skip
            eager = kept.collect(optimizations={"predicate_pushdown": False}).n.tolist()
            assert kept.collect().n.tolist() == kept.collect(batch_rows=2).n.tolist() == eager
        found = plan[plan.x.isin([key])].collect().n.tolist()
        assert found == np.flatnonzero(are_listed(values, [key])).tolist()


@pytest.mark.parametrize("extension", ["parquet", "csv"])
def test_a_file_that_was_written_anew_has_its_new_dtypes(tmp_path, extension):
    path = tmp_path / f"rows.{extension}"
    scan = scan_parquet if extension == "parquet" else scan_csv
    kept = []
    for values in ([1, 2], [1.5, 2.5, 3.5], ["a"]):
        frame = pd.DataFrame({"x": values, "k": 1})
        write = frame.to_parquet if extension == "parquet" else frame.to_csv
        write(path, index=False)
        for plan in (scan(path), scan(path).head(5), scan(path)[col("k") > 0]):
            kept.append(plan)
            assert plan.schema.to_list() == plan.collect().dtypes.to_list() == [*frame.dtypes]
    assert kept[-1] == scan(path)[col("k") > 0]
    assert len({*kept}) == len(kept)
