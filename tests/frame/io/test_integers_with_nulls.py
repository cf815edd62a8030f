# SPDX-License-Identifier: Apache-2.0
"""Integers and bools with nulls: they compute in the dtype that they show, which is pandas'."""

import jax
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from frame_parity import assert_same
from jaxframes.frame import JaxFrame, from_arrow, read_csv, read_parquet, scan_csv, scan_parquet

TABLE = pa.table(
    {
        "u": pa.array([200, None, 3], pa.uint8()),
        "i8": pa.array([-128, None, 127], pa.int8()),
        "i": pa.array([2**62, None, 2**62]),
        "b": pa.array([True, None, False]),
    }
)
OPERATIONS = {
    "neg": lambda f: -f.u,
    "abs": lambda f: f.i8.abs(),
    "add": lambda f: f.u + f.u,
    "mul": lambda f: f.u * f.i8,
    "minus a larger number": lambda f: f.i8 - 200,
    "floordiv": lambda f: f.u // -3,
    "mod": lambda f: f.u % -3,
    "compared": lambda f: f.i8 < 300,
    "isin": lambda f: f.u.isin([np.nan, 3]),
    "map": lambda f: f.u.map({200: 1.5, np.nan: 3}),
    "replace": lambda f: f.i8.replace(-128, 1000),
    "where": lambda f: f.u.where(f.u > 100, -1),
    "clip": lambda f: f.u.clip(-5, 1000),
    "round": lambda f: f.i8.round(-1),
    "sum": lambda f: f.i.sum(),
    "mean": lambda f: f.i.mean(),
    "cumsum": lambda f: f.i.cumsum(),
    "fillna": lambda f: f.u.fillna(-1),
    "diff": lambda f: f.u.diff(),
    "groups": lambda f: f.assign(k=1).groupby("k")[["u", "i8", "i"]].sum(),
    "rows with a value": lambda f: -f[f.u > 0].u,
    "labels": lambda f: f.set_index("u").index,
    "astype": lambda f: f.u.fillna(0).astype("int16"),
}


def as_pandas(table):
    """pandas' frame, with NaN for missing bools as ours has."""
    return table.to_pandas().fillna({"b": np.nan})


def test_the_dtypes_are_those_of_pandas():
    frame, expected = from_arrow(TABLE), as_pandas(TABLE)
    assert frame.dtypes.tolist() == expected.dtypes.tolist()
    assert_same(frame, expected)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("way", ["arrow", "parquet", "plan", "batches", "csv", "jit"])
def test_calculations_are_those_of_the_dtype_shown(name, way, tmp_path):
    run, table = OPERATIONS[name], TABLE.drop_columns(["b"])
    expected = run(table.to_pandas())
    if way == "arrow":
        got = run(from_arrow(table))
    elif way == "csv":
        table.to_pandas().to_csv(tmp_path / "rows.csv", index=False)
        wide = pd.read_csv(tmp_path / "rows.csv")
        got, expected = run(read_csv(tmp_path / "rows.csv")), run(wide)
    elif way == "jit":
        keys = JaxFrame({"k": [0, 1, 2]}), _with_keys(table)

        def joined(left, right):
            return left.merge(right, on="k", how="left", capacity=4)[table.column_names]

        returned = jax.jit(joined)(*keys)
        got = run(returned)
    else:
        pq.write_table(table, tmp_path / "rows.parquet", row_group_size=1)
        if way == "parquet":
            got = run(read_parquet(tmp_path / "rows.parquet"))
        elif name in ("labels", "cumsum", "diff"):
            return
        else:
            plan = run(scan_parquet(tmp_path / "rows.parquet"))
            got = plan.collect() if way == "plan" else plan.collect(batch_rows=1)
    assert_same(got, expected)


def _with_keys(table):
    """The rows with a value and their positions; a left join on these gives all rows."""
    frame = table.to_pandas().assign(k=[0, 1, 2]).dropna()
    kinds = {name: table.schema.field(name).type.to_pandas_dtype() for name in table.column_names}
    return JaxFrame(frame.astype(kinds))


def test_a_column_is_a_float_in_all_row_groups(tmp_path):
    pq.write_table(TABLE, tmp_path / "rows.parquet", row_group_size=1)
    plan = scan_parquet(tmp_path / "rows.parquet")
    assert plan.schema.tolist() == as_pandas(TABLE).dtypes.tolist()
    batches = [batch.dtypes.tolist() for batch in plan.batches(1)]
    assert batches == [plan.schema.tolist()] * 3
    # The row group with the null is not read.
    kept = plan[plan.i8 > 0]
    assert_same(kept.collect(), as_pandas(TABLE).query("i8 > 0"))
    assert_same((-kept.u).collect(), -as_pandas(TABLE).query("i8 > 0").u)


def test_files_without_statistics_are_read_for_nulls(tmp_path):
    pq.write_table(TABLE, tmp_path / "rows.parquet", write_statistics=False)
    plan = scan_parquet(tmp_path / "rows.parquet")
    assert plan.schema.tolist() == as_pandas(TABLE).dtypes.tolist()


def test_a_null_in_a_later_block_of_lines(tmp_path):
    lines = "x,b\n" + "1,true\n" * 200_000
    (tmp_path / "rows.csv").write_text(lines + ",\n")
    plan = scan_csv(tmp_path / "rows.csv")
    assert [str(dtype) for dtype in plan.schema] == ["float64", "object"]
    assert {str(batch.dtypes["x"]) for batch in plan.batches(100_000)} == {"float64"}


def test_bools_with_nulls_stay_objects():
    frame, expected = from_arrow(TABLE), as_pandas(TABLE)
    assert_same(frame[frame.b.notna()].b, expected[expected.b.notna()].b)
    assert_same(frame.head(1).b, expected.head(1).b)
    # A missing bool of Arrow is None, which is false.
    assert frame.b.astype(bool).tolist() == [True, False, False]


def test_a_result_of_jit_has_the_dtypes_of_its_values():
    left = JaxFrame({"k": [1, 3]})
    right = JaxFrame({"k": [1, 2], "u": np.array([200, 100], "uint8"), "b": [True, False]})
    merged = jax.jit(lambda a, b: a.merge(b, on="k", how="left", capacity=4))
    expected = left.to_pandas().merge(right.to_pandas(), on="k", how="left")
    assert_same(merged(left, right), expected)
    assert_same(-merged(left, right).u, -expected.u)
    whole = JaxFrame({"k": [1, 2]})
    assert_same(merged(whole, right), whole.to_pandas().merge(right.to_pandas(), on="k"))
    assert_same(-merged(whole, right).u, -right.to_pandas().u)
