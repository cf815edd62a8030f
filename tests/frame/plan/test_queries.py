# SPDX-License-Identifier: Apache-2.0
"""Sixty queries in the words of pandas give what pandas gives, however they are run.

These are the 22 of TPC-H, the 15 of db-benchmark, and those of `frame_queries`.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import jaxframes.frame
import pandas as pd
import pytest
from covering import RUNS_ALL
from frame_parity import Bound, assert_same
from frame_queries import QUERIES
from jaxframes.frame import read_parquet, scan_parquet
from jaxframes.shardings import make_mesh, row_sharded
from mode_runs import assert_schema, schema_of
from workloads.dbbench.pandas_style import QUESTIONS as DBBENCH
from workloads.process import write_tables
from workloads.tpch.pandas_style import QUESTIONS as TPCH

ALL = {
    **{f"tpch {name}": ("tpch", query) for name, query in TPCH.items()},
    **{
        f"dbbench {name}": ("dbbench", query)
        for name, query in DBBENCH.items()
        if not name.startswith("sort")
    },
    **{f"own {name}": ("tpch", query) for name, query in QUERIES.items()},
}
# The size of the tables. A batch of TPC-H's largest table is a sixth of its rows.
SIZES = {"tpch": 0.01, "dbbench": 30_000}
BATCH_ROWS = 10_000
# Sums of floats are added up in different orders, and a mean is rounded once more.
ROUNDING = Bound(ulps=256, magnitude=1.0)

# Few of each kind: strings and dates, semi-joins, groups and their transformations, windows.
QUICK = (
    "tpch q4", "tpch q8", "tpch q14", "tpch q17", "dbbench groupby q8", "dbbench groupby q9",
    "dbbench join q3", "own rolling over sorted rows", "own string expressions", "own outer join",
)  # fmt: skip
# Compiling for a mesh takes longest.
QUICK_ON_A_MESH = ("tpch q4", "own date expressions")


class Tables(NamedTuple):
    """The tables of one benchmark, as each way of running a query takes them."""

    pandas: Mapping[str, pd.DataFrame]
    eager: Mapping[str, Any]
    lazy: Mapping[str, Any]
    sharded: Mapping[str, Any]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    sharding = row_sharded(make_mesh(4))
    read = {}
    for package, size in SIZES.items():
        folder = tmp_path_factory.mktemp(package)
        write_tables(package, folder, size)
        paths = {path.stem: path for path in folder.glob("*.parquet")}
        read[package] = Tables(
            {name: pd.read_parquet(path) for name, path in paths.items()},
            {name: read_parquet(path) for name, path in paths.items()},
            {name: scan_parquet(path) for name, path in paths.items()},
            {name: scan_parquet(path, sharding=sharding) for name, path in paths.items()},
        )
    return read


@pytest.fixture
def asked(tables, name):
    """A query, its tables, and the answer of pandas."""
    package, query = ALL[name]
    return query, tables[package], query(pd, tables[package].pandas)


def test_there_are_sixty():
    assert len(ALL) == 60
    assert {*QUICK, *QUICK_ON_A_MESH} <= ALL.keys()


@pytest.mark.parametrize("name", ALL if RUNS_ALL else QUICK)
def test_eager(asked):
    query, tables, expected = asked
    assert_same(query(jaxframes.frame, tables.eager), expected, ROUNDING)


@pytest.mark.parametrize("name", ALL if RUNS_ALL else QUICK)
def test_lazy(asked):
    query, tables, expected = asked
    plan = query(jaxframes.frame, tables.lazy)
    assert_schema(schema_of(plan), expected)
    assert_same(plan.collect(), expected, ROUNDING)


@pytest.mark.parametrize("name", ALL if RUNS_ALL else QUICK)
def test_streamed(asked):
    query, tables, expected = asked
    plan = query(jaxframes.frame, tables.lazy)
    assert_same(plan.collect(batch_rows=BATCH_ROWS), expected, ROUNDING)


@pytest.mark.parametrize("name", ALL if RUNS_ALL else QUICK_ON_A_MESH)
def test_on_four_devices(asked):
    query, tables, expected = asked
    plan = query(jaxframes.frame, tables.sharded)
    assert_schema(schema_of(plan), expected)
    assert_same(plan.collect(), expected, ROUNDING)
