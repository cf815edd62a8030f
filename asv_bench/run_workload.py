# SPDX-License-Identifier: Apache-2.0
"""Runs a workload on this library, pandas, Polars and DuckDB, each in a process of its own.

    python asv_bench/run_workload.py calls                      15 calls, three sizes
    python asv_bench/run_workload.py calls --sizes 1000 --engines jaxframes
    python asv_bench/run_workload.py calls --cache build/cache  with JAX's cache of programs on disk
    python asv_bench/run_workload.py queries                    200 questions, three calls in a row

Prints, for each question, the first call in a fresh process and the median of five or more warm
calls. The ratio is the fastest other engine's warm time divided by this library's: above 1 the
library is faster. pandas and Polars run with strings and with categories, and for each question the
faster run counts. A second table shows the programs that this library compiles in its first calls.

Each answer is compared with that of a reference engine; a wrong answer ends the run with an error.
The numbers go to a JSON file, and a chart of the largest size to an SVG file beside it. A ratio
that has fallen below three quarters of the one in `baseline.json` gives a warning.
"""

import argparse
import json
import os
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import baseline
from chart import chart
from machine import machine
from workloads.engines import ENGINES, WITH_CATEGORIES
from workloads.process import Measurement, in_fresh_process, measure, write_tables
from workloads.report import (
    OURS,
    Run,
    bars_of,
    call_lines,
    compile_lines,
    kept_lines,
    ratios_of,
    record_of,
    time_lines,
)
from workloads.workload import Workload

BUILD = Path(__file__).parents[1] / "build"
PACKAGES = ("calls", "dbbench", "queries", "tpch")


def runs_of(workload: Workload, size: float, engines: list[str], num_rounds: int) -> list[Run]:
    """Measures the engines one after the other, the reference first."""
    folder = BUILD / "workloads" / f"{workload.package}-{size:g}"
    in_fresh_process(write_tables, workload.package, folder, size)
    runs = []
    expected = None
    for engine in (workload.reference, *(name for name in engines if name != workload.reference)):
        variants = [False, True] if workload.categories and engine in WITH_CATEGORIES else [False]
        for with_categories in variants if engine in engines else [False]:
            rounds = num_rounds if engine in engines else 1
            measurement, digests = in_fresh_process(
                measure, workload, engine, with_categories, folder, rounds, expected
            )
            expected = expected or digests
            if engine in engines:
                size_unit = workload.size_unit
                run = Run(workload.name, size, size_unit, engine, with_categories, measurement)
                runs.append(run)
    return runs


def with_kept_programs(workload: Workload, size: float) -> Measurement:
    """Measures this library in two processes, the second with the programs that the first kept."""
    folder = BUILD / "workloads" / f"{workload.package}-{size:g}"
    with tempfile.TemporaryDirectory() as kept:
        os.environ["JAXFRAMES_CACHE"] = kept
        arguments = measure, workload, OURS, False, folder, 1, None
        in_fresh_process(*arguments)
        of_second, _ = in_fresh_process(*arguments)
    os.environ["JAXFRAMES_CACHE"] = "off"
    return of_second


def use_cache(folder: Path | None) -> None:
    """Has the processes of this library keep programs in a folder, or nowhere."""
    os.environ.pop("JAX_COMPILATION_CACHE_DIR", None)
    os.environ["JAXFRAMES_CACHE"] = "off"
    if folder is not None:
        os.environ["JAXFRAMES_CACHE"] = str(folder.resolve() / "jaxframes")
        os.environ["JAX_COMPILATION_CACHE_DIR"] = str(folder.resolve())
        os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
        os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workload", choices=PACKAGES)
    parser.add_argument("--sizes", type=float, nargs="+", help="numbers of rows, or TPC-H scales")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--rounds", type=int, default=5, help="warm calls of each question")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES))
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="JAX's cache of programs")
    parser.add_argument("--json", type=Path, metavar="PATH", help="default build/WORKLOAD.json")
    parser.add_argument("--store-baseline", action="store_true", help="store the ratios")
    arguments = parser.parse_args()
    arguments.json = arguments.json or BUILD / f"{arguments.workload}.json"
    return arguments


def main() -> None:
    arguments = parse_arguments()
    package = import_module(f"workloads.{arguments.workload}")
    sizes = arguments.sizes or (package.SMOKE_SIZES if arguments.quick else package.SIZES)
    use_cache(arguments.cache)
    report: dict[str, Any] = {"machine": in_fresh_process(machine), "runs": []}
    print(*(f"{name} {value}" for name, value in report["machine"].items()), sep=", ")
    ratios: dict[str, float] = {}
    groups = {}
    for workload in package.WORKLOADS:
        for size in sorted(sizes):
            size = int(size) if workload.size_unit == "rows" else size
            engines = [name for name in arguments.engines if name in workload.engines]
            runs = runs_of(workload, size, engines, arguments.rounds)
            print("", *time_lines(runs), sep="\n", flush=True)
            if workload.num_first_calls > 1 and OURS in engines and len(engines) > 1:
                print("", *call_lines(runs), sep="\n", flush=True)
                if arguments.cache is None:
                    kept = with_kept_programs(workload, size)
                    print(*kept_lines(runs, kept), sep="\n", flush=True)
            if OURS in arguments.engines:
                print("", *compile_lines(runs), sep="\n", flush=True)
            report["runs"] += map(record_of, runs)
            ratios |= ratios_of(runs, with_first=arguments.cache is None)
        groups |= bars_of(runs)

    print("", *baseline.warnings(ratios, baseline.read()), sep="\n")
    if arguments.store_baseline:
        baseline.store(ratios)
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    picture = arguments.json.with_suffix(".svg")
    picture.write_text(chart(groups, "Sums of the times of all questions", report["machine"]))
    print(f"written to {arguments.json} and {picture}")


if __name__ == "__main__":
    main()
