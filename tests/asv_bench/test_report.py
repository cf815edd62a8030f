# SPDX-License-Identifier: Apache-2.0
"""The tables, ratios and bars of measurements."""

import pytest
from workloads.process import Answered, Measurement
from workloads.report import (
    Run,
    bars_of,
    call_lines,
    compile_lines,
    faster,
    ratios_of,
    record_of,
    time_lines,
)

COSTS = {
    "programs": 3,
    "traces": 2,
    "trace_seconds": 0.01,
    "lower_seconds": 0.02,
    "compile_seconds": 0.1,
}


def run(engine, first, warm, *, with_categories=False, costs=None):
    questions = {"rank": Answered(first, [first / 2, first / 4], warm, costs)}
    measurement = Measurement(0.5, 2_000_000, questions)
    return Run("calls", 1000, "rows", engine, with_categories, measurement)


OURS = run("jaxframes", 0.2, [0.002, 0.001, 0.004], costs=COSTS)
PANDAS = run("pandas", 0.02, [0.008, 0.009, 0.010])
CATEGORIES = run("pandas", 0.03, [0.006, 0.005, 0.005], with_categories=True)
POLARS = run("polars", 0.01, [0.020, 0.030, 0.030])
RUNS = [PANDAS, CATEGORIES, OURS, POLARS]


def test_the_faster_run_of_an_engine_counts():
    assert faster(RUNS)["pandas"]["rank"] == CATEGORIES.measurement.questions["rank"]


def test_table_has_medians_and_the_ratio_to_the_fastest_other_engine():
    lines = list(time_lines(RUNS))
    assert lines[0].startswith("calls, 1,000 rows: ")
    assert lines[1].split() == ["jaxframes", "pandas", "polars", "ratio"]
    assert lines[2].split() == ["rank", *["200.0", "2.00", "30.0", "5.00", "10.0", "30.00", "2.50"]]
    assert lines[3].split() == ["sum", *["200.0", "2.00", "30.0", "5.00", "10.0", "30.00"]]
    assert lines[5] == "pandas with categories: loading took 0.50 s, peak memory was 2 MB"


@pytest.mark.parametrize("runs", [[OURS], [PANDAS, POLARS]])
def test_table_of_some_engines_has_no_ratio(runs):
    lines = list(time_lines(runs))
    assert "ratio" not in lines[1]
    assert ratios_of(runs, with_first=True) == {}
    assert all(len(bars) == len(runs) for bars in bars_of(runs).values())


def test_ratios_compare_best_times():
    subject = "calls, 1,000 rows, rank"
    warm = {f"{subject}, warm": pytest.approx(5.0)}
    assert ratios_of(RUNS, with_first=False) == warm
    assert ratios_of(RUNS, with_first=True) == {**warm, f"{subject}, first": pytest.approx(0.05)}


def test_first_calls_show_what_was_compiled():
    lines = list(compile_lines(RUNS))
    assert lines[2].split() == ["rank", *["200", "3", "2", "10", "20", "100"]]
    assert lines[3].split() == ["sum", *["200", "3", "2", "10", "20", "100"]]


def test_record_and_bars():
    record = record_of(CATEGORIES)
    assert (record["rows"], record["engine"], record["strings"]) == (1000, "pandas", "categories")
    assert record["questions"]["rank"]["warm_seconds"] == [0.006, 0.005, 0.005]
    bars = bars_of(RUNS)["calls, 1,000 rows: the same calls, warm"]
    assert {bar.name: bar.milliseconds for bar in bars} == pytest.approx(
        {"jaxframes": 2.0, "pandas": 5.0, "polars": 30.0}
    )


def test_ratios_of_the_first_calls_in_a_row():
    first, second, third, below = call_lines([PANDAS, OURS])
    assert "call 1: " in first
    assert all("geometric mean 0.10, least 0.10 (rank)" in line for line in (first, second, third))
    assert below == "  below 0.3: rank, 0.10"
