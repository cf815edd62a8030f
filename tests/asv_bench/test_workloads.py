# SPDX-License-Identifier: Apache-2.0
"""The questions of the workloads on a few rows: all engines but this library agree.

`make bench-smoke` asks this library too, and runs TPC-H, whose tables need a generator.
"""

from importlib import import_module

import pytest
from workloads.answers import WrongAnswer
from workloads.engines import ENGINES
from workloads.process import measure, write_tables
from workloads.workload import Workload

OTHERS = [engine for engine in ENGINES if engine not in ("jaxframes", "pandas")]
PACKAGES = ("calls", "dbbench")
ROWS = 1000


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables")
    for package in PACKAGES:
        write_tables(package, folder / package, ROWS)
    return folder


@pytest.mark.parametrize("package", PACKAGES)
def test_engines_agree(package, folder):
    for workload in import_module(f"workloads.{package}").WORKLOADS:
        measured, expected = measure(workload, "pandas", False, folder / package, 1, None)
        assert list(measured.questions) == list(expected)
        assert measured.load_seconds > 0
        assert measured.peak_bytes > 2**20
        for engine in OTHERS:
            measured, _ = measure(workload, engine, False, folder / package, 1, expected)
            assert list(measured.questions) == list(expected)


@pytest.mark.parametrize("engine", ["pandas", "polars"])
def test_categories_give_the_answers_of_strings(engine, folder):
    for package in PACKAGES:
        for workload in import_module(f"workloads.{package}").WORKLOADS:
            _, expected = measure(workload, "pandas", False, folder / package, 1, None)
            measure(workload, engine, True, folder / package, 1, expected)


def test_a_wrong_answer_ends_the_measurement(folder):
    (workload,) = import_module("workloads.calls").WORKLOADS
    _, expected = measure(workload, "pandas", False, folder / "calls", 1, None)
    expected["rank"] = expected["filter"]
    with pytest.raises(WrongAnswer, match=r"^rank of polars, rows: expected 6 columns, got 1\.$"):
        measure(workload, "polars", False, folder / "calls", 1, expected)


@pytest.mark.parametrize("package", [*PACKAGES, "tpch"])
def test_engines_answer_the_same_questions(package):
    workloads: tuple[Workload, ...] = import_module(f"workloads.{package}").WORKLOADS
    named, *others = (
        list(import_module(f"workloads.{package}.{style}").QUESTIONS)
        for style in ("pandas_style", "polars_style", "sql")
    )
    assert all(names == named for names in others)
    for workload in workloads:
        assert {*workload.ordered, *workload.in_place} <= set(named)
    assert all(sum(name.startswith(each.prefix) for each in workloads) == 1 for name in named)
