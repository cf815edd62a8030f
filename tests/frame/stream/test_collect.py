# SPDX-License-Identifier: Apache-2.0
"""A plan over batches gives what pandas gives for all rows."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import col, concat, from_arrow, from_pandas, scan_arrow, scan_csv, scan_parquet


def rows(num_rows=300):
    rng = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "k": rng.integers(0, 5, num_rows),
            "x": rng.integers(-40, 40, num_rows) / 8,
            "y": rng.integers(0, 9, num_rows).astype(np.int32),
            "s": rng.choice(["a", "b", "é"], num_rows),
            "f": np.where(rng.random(num_rows) < 0.2, np.nan, rng.integers(0, 5, num_rows)),
        }
    )


FRAME = rows()
OTHER = pd.DataFrame({"k": [0, 1, 1, 7], "x": [1.0, 2.0, 3.0, 4.0], "z": [5, 6, 7, 8]})

# Functions of two frames that pandas and plans take alike.
QUERIES = {
    "all": lambda f, o: f,
    "mask": lambda f, o: f[f.x > 1],
    "columns": lambda f, o: f[f.s == "a"][["s", "x"]],
    "assign": lambda f, o: f.assign(a=f.x * 2 + f.y)[lambda g: g.a > 3],
    "strings": lambda f, o: f.assign(u=f.s.str.upper()).rename(columns={"y": "yy"}),
    "astype": lambda f, o: f.astype({"k": "float64"}).fillna({"f": 9.0}),
    "dropna": lambda f, o: f.dropna(ignore_index=True),
    "reset_index": lambda f, o: f[f.x > 1].reset_index(),
    "set_index": lambda f, o: f.set_index("s")[["x"]],
    "a column": lambda f, o: f.x * 2 - f.y,
    "head": lambda f, o: f[f.x > 0].head(120),
    "head of few": lambda f, o: f.head(3).assign(a=1),
    "tail": lambda f, o: f.tail(130),
    "nlargest": lambda f, o: f.nlargest(9, "x"),
    "nsmallest": lambda f, o: f.nsmallest(9, ["y", "x"]),
    "drop_duplicates": lambda f, o: f.drop_duplicates(["k", "s"]),
    "drop_duplicates last": lambda f, o: f.drop_duplicates(["k", "s"], keep="last"),
    "unique": lambda f, o: f.s.unique(),
    "value_counts": lambda f, o: f[["k", "s"]].value_counts(),
    "value_counts of a column": lambda f, o: f.f.value_counts(normalize=True),
    "value_counts ascending": lambda f, o: f.s.value_counts(ascending=True),
    "sum": lambda f, o: f[["x", "y"]].sum(),
    "mean": lambda f, o: f[["x", "f"]].mean(),
    "count": lambda f, o: f.count(),
    "max of a column": lambda f, o: f[f.k == 2].x.max(),
    "std of a column": lambda f, o: f.f.std(),
    "median of a column": lambda f, o: f.f.median(),
    "nunique of a column": lambda f, o: f.f.nunique(),
    "sum of nothing": lambda f, o: f[f.x > 99].y.sum(),
    "groupby": lambda f, o: f.groupby("k")[["x", "f"]].sum(),
    "groupby mean": lambda f, o: f[f.x > 0].groupby(["k", "s"])["x"].mean(),
    "groupby agg": lambda f, o: f.groupby("s").agg(
        a=("x", "max"), n=("y", "count"), m=("f", "mean"), v=("f", "var"), d=("f", "std"),
        u=("y", "nunique"), first=("f", "first"), last=("s", "last"), size=("x", "size"),
    ),
    "groupby agg of a dict": lambda f, o: f.groupby("s").agg({"x": ["sum", "min"], "y": "min"}),
    "groupby without index": lambda f, o: f[["k", "x", "y"]].groupby("k", as_index=False).max(),
    "groupby with a key among the values": lambda f, o: (
        f.groupby(["s", "k"], as_index=False)[["y", "k"]].nunique()
    ),
    "groupby of a key": lambda f, o: f.groupby(["k", "s"], as_index=False)["s"].max(),
    "groupby unsorted": lambda f, o: f.groupby("s", sort=False).x.min(),
    "groupby missing keys": lambda f, o: f.groupby("f", dropna=False).k.sum(),
    "groupby size": lambda f, o: f.groupby(["k", "s"]).size(),
    "groupby nothing": lambda f, o: f[f.x > 99].groupby("k")[["x"]].sum(),
    "after groups": lambda f, o: f.groupby("k", as_index=False)["x"].sum().sort_values("x"),
    "merge": lambda f, o: f.merge(o, on="k"),
    "merge outer": lambda f, o: f.merge(o, on="k", how="outer"),
    "merge left": lambda f, o: f.merge(o, on="k", how="left", suffixes=("", "_o"))[["x_o", "y"]],
    "groups of a join": lambda f, o: f.merge(o, on="k")[lambda g: g.z > 5].groupby("s").x_x.sum(),
}  # fmt: skip

# Each names the method that needs all rows at once.
UNSTREAMED = {
    "sort_values": lambda f, o: f.x.sort_values(),
    "median": lambda f, o: f.x.median(skipna=False),
    "merge": lambda f, o: f.merge(o, on="k", how="outer", indicator=True),
    "astype": lambda f, o: f.astype({"s": "category"}),
    "drop_duplicates": lambda f, o: f.drop_duplicates("k", keep=False),
    "sum": lambda f, o: f[["x"]].sum(min_count=3),
}  # fmt: skip


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    FRAME.to_parquet(path, row_group_size=70)
    return path


@pytest.mark.parametrize("query", QUERIES)
def test_batches_give_what_pandas_gives(query, file):
    result = QUERIES[query](scan_parquet(file), from_pandas(OTHER).lazy())
    expected = QUERIES[query](FRAME, OTHER)
    assert_same(result.collect(batch_rows=100), expected, ulps=8)


@pytest.mark.parametrize("method", UNSTREAMED)
def test_what_needs_all_rows_raises_before_reading(method, file):
    plan = UNSTREAMED[method](scan_parquet(file), from_pandas(OTHER).lazy())
    with pytest.raises(NotImplementedError, match=rf"({method}).*collect\(\)"):
        plan.collect(batch_rows=100)


def test_other_sources_run_over_batches(tmp_path):
    path = tmp_path / "rows.csv"
    FRAME.to_csv(path, index=False)
    expected = FRAME[FRAME.x > 1][["s", "y"]].astype({"y": "int64"})
    assert_same(scan_csv(path)[lambda f: f.x > 1][["s", "y"]].collect(batch_rows=100), expected)
    arrow = scan_arrow(pa.Table.from_pandas(FRAME))
    assert_same(arrow.groupby("s").k.sum().collect(batch_rows=100), FRAME.groupby("s").k.sum())
    memory = from_pandas(FRAME).lazy()
    assert_same(memory[memory.k > 2].collect(batch_rows=100), FRAME[FRAME.k > 2])
    both = concat([memory, scan_csv(path)], ignore_index=True)[["s", "x"]]
    expected = pd.concat([FRAME, FRAME], ignore_index=True)[["s", "x"]]
    assert_same(both.collect(batch_rows=100), expected)


def test_row_groups_that_the_filter_excludes_are_not_read(tmp_path):
    path = tmp_path / "sorted.parquet"
    frame = FRAME.sort_values("x", ignore_index=True)
    frame.to_parquet(path, row_group_size=50)
    plan = scan_parquet(path).filter((col("x") < -3) | (col("x") > 3))
    assert_same(plan.collect(batch_rows=40), frame[(frame.x < -3) | (frame.x > 3)])


def test_integers_with_missing_values_in_some_batches(tmp_path):
    path = tmp_path / "missing.parquet"
    table = pa.table({"k": [1, 2] * 100, "x": [*range(150), *[None] * 50]})
    pq.write_table(table, path)
    plan = scan_parquet(path)
    assert_same(plan.collect(batch_rows=100), pd.read_parquet(path))
    result = plan.groupby("k").agg(s=("x", "sum"), c=("x", "count"), m=("x", "mean"))
    assert_same(result.collect(batch_rows=100), result.collect().to_pandas())


def test_files_in_a_folder_follow_each_other(tmp_path):
    for number, start in enumerate(range(0, 300, 100)):
        part = FRAME.iloc[start : start + 100].reset_index(drop=True)
        part.to_parquet(tmp_path / f"{number}.parquet")
    plan = scan_parquet(tmp_path / "*.parquet")
    assert_same(plan[plan.x > 0].collect(batch_rows=70), FRAME[FRAME.x > 0])


def test_limits_and_their_errors(file):
    plan = scan_parquet(file)
    for limit in ("1 GiB", "100MB", 10**6):
        assert plan.x.max().collect(memory_limit=limit).item() == FRAME.x.max()
    with pytest.raises(ValueError, match="'lots'"):
        plan.collect(memory_limit="lots")
    with pytest.raises(ValueError, match="batch_rows: must be a positive integer, got 0"):
        plan.collect(batch_rows=0)
    with pytest.raises(ValueError, match="not both"):
        plan.collect(batch_rows=10, memory_limit="1GiB")


def test_progress_counts_rows_and_bytes_of_a_step(file, capsys):
    plan = scan_parquet(file)
    plan.x.max().collect(batch_rows=100, progress=True)
    shown = capsys.readouterr().err
    assert "rows.parquet') > max: 100%" in shown
    assert "| 300/300 [" in shown
    assert "2.40kB" in shown
    # The condition may leave out rows of the file: how many are left is not known before.
    plan[plan.x > 0].groupby("k").x.sum().collect(batch_rows=100, progress=True)
    assert "> groupby.sum: 300 rows" in capsys.readouterr().err
    plan.x.max().collect(batch_rows=100)
    assert not capsys.readouterr().err


@pytest.mark.parametrize(
    "values", [[True, None, False, True, False], [1, 2, 2, 1, 3], ["a", None, "b", "a", 1.5]]
)
@pytest.mark.parametrize("batch_rows", [2, 4])
def test_counts_of_objects_have_labels_of_objects(values, batch_rows):
    series = pd.Series(values, dtype=object, name="v")
    plan = from_pandas(series.to_frame()).lazy().v
    for options in ({}, {"normalize": True}):
        counts = plan.value_counts(**options)
        if batch_rows == 2 and "a" in values:
            continue  # Arrow has no type for numbers beside strings on disk.
        assert_same(counts.collect(batch_rows=batch_rows), series.value_counts(**options))


@pytest.mark.parametrize(
    "values",
    [[None] * 4, [None, np.nan, None, "a"], [pd.NaT, None, pd.NA, pd.NaT], ["b", np.nan, "b", "a"]],
)
def test_counts_of_missing_objects_keep_their_labels(values):
    series = pd.Series(values, dtype=object, name="v")
    for options in ({}, {"ascending": True, "normalize": True}):
        plan = from_pandas(series.to_frame()).lazy().v.value_counts(dropna=False, **options)
        expected = series.value_counts(dropna=False, **options)
        got = plan.collect(batch_rows=3)
        assert_same(got, expected)
        assert list(map(repr, got.index)) == list(map(repr, expected.index))


def test_counts_of_a_null_column_of_arrow():
    table = pa.table({"n": pa.nulls(3), "x": [1, 2, 1]})
    series = table.to_pandas().n
    plan = from_arrow(table).lazy().n
    for ways in ({}, {"batch_rows": 1}, {"batch_rows": 2}):
        counts = plan.value_counts(dropna=False).collect(**ways)
        assert_same(counts, series.value_counts(dropna=False))
        assert_same(plan.value_counts().collect(**ways), series.value_counts())


def test_reductions_over_batches_have_the_types_of_eager_ones():
    frame = pd.DataFrame(
        {
            "b": [1, 2, 3], "c": [1.0, 2.0, None], "t": ["a_b", "c", None],
            "s": pd.Series(["a_b", "c", "d"], dtype=object),
            "i": pd.Series([1, None, 3], dtype="Int64"),
            "a": pd.Series([1, None, 3], dtype="int64[pyarrow]"),
            "d": pd.to_timedelta([1, 7, None], unit="us"),
            "w": pd.to_datetime(["2024-01-01", None, "2025-01-01"]),
            "z": pd.to_datetime(["2024-01-01", None, "2025-01-01"]).tz_localize("UTC"),
        }
    )  # fmt: skip
    plan = from_pandas(frame).lazy()
    for columns in (["b", "d"], ["c", "d", "b"], ["b", "w"], ["b", "z"], ["d", "w"]):
        for name in ("max", "min", *(["sum"] if {"w", "z"}.isdisjoint(columns) else [])):
            expected = getattr(frame[columns], name)()
            got = getattr(plan[columns], name)().collect(batch_rows=2).to_pandas()
            assert [(type(one), one) for one in got] == [(type(one), one) for one in expected]
    for columns in (["b", "t"], ["b", "s"], ["b", "a", "i", "c"], ["b", "c"], ["b"]):
        for name in ("sum", "max", "count", "nunique", *(["mean"] if len(columns) != 2 else [])):
            expected = getattr(frame[columns], name)()
            got = getattr(plan[columns], name)().collect(batch_rows=1).to_pandas()
            assert_same(got, expected)
            assert [type(one) for one in got] == [type(one) for one in expected], (columns, name)
    for column in frame:
        for name in ("nunique", "count"):
            got = getattr(plan[column], name)().collect(batch_rows=2)
            expected = getattr(frame[column], name)()
            assert (got, type(got)) == (expected, type(expected))


@pytest.mark.parametrize("values", [[3, 1, None, 2], [3.5, None, 1, 2], [True, None, False, True]])
def test_objects_that_become_labels_stay_objects(values):
    frame = pd.DataFrame({"k": pd.Series(values, dtype=object), "v": [1, 2, 3, 4]})
    plan = from_pandas(frame).lazy().set_index("k")
    for batch_rows in (1, 2, 3):
        labels = plan.collect(batch_rows=batch_rows).to_pandas().index
        pd.testing.assert_index_equal(labels, frame.set_index("k").index)
