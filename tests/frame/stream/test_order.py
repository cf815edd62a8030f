# SPDX-License-Identifier: Apache-2.0
"""Batches keep every order that an operation promises: of equal rows, and of missing values."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import from_pandas, scan_parquet

DAYS = pd.to_datetime(["2020-01-03", None, "2020-01-01", "2020-01-03", None, "2020-01-02"])
ROWS = pd.DataFrame(
    {
        "x": [3, 1, 1, 2, 1, 2, 3, 0],
        "v": range(8),
        "f": [2, np.nan, 1, 2, np.nan, 1, 2, np.nan],
        "s": ["b", None, "a", "b", None, "c", "a", "b"],
        "t": [*DAYS.as_unit("us"), *DAYS.as_unit("us")[[2, 0]]],
    }
)
ROWS["d"] = ROWS.t - pd.Timestamp("2020-01-01")
OTHER = pd.DataFrame(
    {
        "x": [1, 3, 5, 1],
        "f": [np.nan, 2, 5, np.nan],
        "s": ["a", None, "d", "a"],
        "t": pd.to_datetime(["2020-01-01", None, "2020-01-05", "2019-01-01"]).as_unit("us"),
        "w": [10, 20, 30, 40],
    }
)
OTHER["d"] = OTHER.t - pd.Timestamp("2020-01-01")
KEEPS = ("first", "last", "all")


def ranked(keep, column, count):
    return lambda f, o: f.nlargest(count, column, keep=keep)


QUERIES = {
    **{
        f"nlargest {keep} {column} {count}": ranked(keep, column, count)
        for keep in KEEPS
        for column in ("x", "f", "t")
        for count in (3, 7, 8)
    },
    "nsmallest": lambda f, o: f.nsmallest(3, "x", keep="last"),
    "nsmallest of a column": lambda f, o: f.f.nsmallest(6, keep="last"),
    "nlargest of none": lambda f, o: f.nlargest(0, "x", keep="last"),
    "nlargest of two columns": lambda f, o: f.nlargest(5, ["x", "v"], keep="last"),
    "nlargest of a filter": lambda f, o: f[f.v > 1].nlargest(3, "x", keep="last").head(2),
    "nlargest of sorted rows": lambda f, o: f.sort_values("v", ascending=False).nlargest(
        3, "x", keep="last"
    ),
    "nlargest with labels": lambda f, o: f.set_index("s").nlargest(3, "x", keep="last"),
    "nlargest of a join": lambda f, o: f.merge(o, on="t", how="outer").nsmallest(
        5, "v", keep="last"
    ),
    "tail": lambda f, o: f.tail(3),
    **{
        f"outer join by {on}": lambda f, o, on=on: f.merge(o, on=on, how="outer")
        for on in ("t", "d", "f", "s", ["x", "t"], ["t", "f"], ["s", "t"], ["t", "d"])
    },
    "outer join of other labels": lambda f, o: f.merge(
        o.rename(columns={"t": "u"}), left_on="t", right_on="u", how="outer"
    ),
    "right join": lambda f, o: f.merge(o, on="t", how="right"),
    "drop_duplicates": lambda f, o: f.drop_duplicates(["t", "s"], keep="last"),
    "sort_values": lambda f, o: f.sort_values(
        ["f", "x"], ascending=[False, True], na_position="first", kind="stable"
    ),
    "groupby": lambda f, o: f.groupby("t", sort=False, dropna=False).agg(
        a=("v", "first"), z=("s", "last")
    ),
    "value_counts": lambda f, o: f.t.value_counts(dropna=False),
    "unique": lambda f, o: f.t.unique(),
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("order")
    for name, rows in (("rows", ROWS), ("other", OTHER)):
        table = pa.Table.from_pandas(rows, preserve_index=False)
        pq.write_table(table, folder / name, row_group_size=2)
    return folder


@pytest.mark.parametrize("query", QUERIES)
def test_rows_are_in_the_order_of_pandas(query, files):
    expected = QUERIES[query](ROWS, OTHER)
    memory = from_pandas(ROWS).lazy(), from_pandas(OTHER).lazy()
    for plans in (memory, tuple(scan_parquet(files / name) for name in ("rows", "other"))):
        plan = QUERIES[query](*plans)
        assert_same(plan.collect(), expected)
        for batch_rows in (1, 3):
            assert_same(plan.collect(batch_rows=batch_rows), expected)


@pytest.mark.parametrize("how", ["outer", "left", "right"])
def test_sums_of_texts_join_them_in_the_order_of_a_join(how):
    left = pd.DataFrame({"u": [255, 7, 9], "s": ["a", "c", None], "g": [1, 1, 2]})
    right = pd.DataFrame({"u": [7, 255, 300], "k": [3, 2, 1]})
    expected = left.merge(right, on="u", how=how)
    plan = from_pandas(left).lazy().merge(from_pandas(right).lazy(), on="u", how=how)
    for batch_rows in (1, 2, 5):
        assert plan["s"].sum().collect(batch_rows=batch_rows) == expected.s.sum()
        groups = plan.groupby("g")[["s"]].sum().collect(batch_rows=batch_rows)
        assert_same(groups, expected.groupby("g")[["s"]].sum())
