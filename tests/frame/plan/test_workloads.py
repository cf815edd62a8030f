# SPDX-License-Identifier: Apache-2.0
"""The questions of db-benchmark and TPC-H, as they are written for pandas, run on plans."""

import jaxframes.frame
import pytest
from covering import RUNS_ALL
from frame_parity import assert_same
from jaxframes.frame import read_parquet, scan_parquet
from workloads.dbbench.pandas_style import QUESTIONS as DBBENCH
from workloads.process import write_tables
from workloads.tpch.pandas_style import QUESTIONS as TPCH

# Those that combine several results; the others are methods that other tests call.
FEW = ("groupby q7", "groupby q8", "groupby q9", "join q3")


def check(question, folder):
    tables = {path.stem: path for path in folder.glob("*.parquet")}
    plan = question(jaxframes.frame, {name: scan_parquet(path) for name, path in tables.items()})
    eager = question(jaxframes.frame, {name: read_parquet(path) for name, path in tables.items()})
    answer = plan.collect()
    assert_same(answer, eager.to_pandas() if hasattr(eager, "to_pandas") else eager)


@pytest.fixture(scope="module")
def dbbench(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dbbench")
    write_tables("dbbench", folder, 1000)
    return folder


@pytest.fixture(scope="module")
def tpch(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tpch")
    try:
        write_tables("tpch", folder, 0.01)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    return folder


@pytest.mark.parametrize("name", DBBENCH if RUNS_ALL else FEW)
def test_db_benchmark(name, dbbench):
    check(DBBENCH[name], dbbench)


@pytest.mark.skipif(not RUNS_ALL, reason="compiles for minutes")
@pytest.mark.parametrize("name", TPCH)
def test_tpch(name, tpch):
    check(TPCH[name], tpch)
