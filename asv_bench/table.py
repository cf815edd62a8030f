# SPDX-License-Identifier: Apache-2.0
"""One table: this library side by side with `jnp`, NumPy, pandas and Polars, in one run.

    python asv_bench/table.py                   10 million rows, about 25 minutes
    python asv_bench/table.py --quick           small inputs: does everything run?
    python asv_bench/table.py --rows 1000000 --json mine.json
    python asv_bench/table.py --chart           the ops of the chart only

`scenarios.py` lists the measurements and explains them. Columns: `ratio` is the median divided by
this library's median, so above 1 the library is faster. `MB` is the memory traffic of the op by the
model of `memory_traffic.py`. `of copy` is the resulting rate as a share of the machine's rate of
copying memory in the same run; more than 100% means that the rows fit the cache, or that skewed
keys save a pass.

The claims of `claims.py` follow, each with its measurement. The exit status is 0 even if some do
not hold: a benchmark is not a test. The numbers go to a JSON file, and a chart of some of them to
an SVG file beside it.
"""

import argparse
import json
import multiprocessing
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from chart import GROUPS, chart_of_table
from claims import CLAIM_ROWS, CLAIMS
from machine import machine
from memory_traffic import bytes_moved, copy_bytes_per_second
from scenarios import (
    MESH_SCENARIOS,
    SCENARIOS,
    Timing,
    local_timings,
    mesh_timings,
)

# Rows over 8 devices for each row on one: 4 million for 10 million.
MESH_SHARE = 0.4
QUICK_ROWS = 50_000
DEFAULT_JSON = Path(__file__).parents[1] / "build" / "bench.json"
HEADER = (
    f"{'op':<30}{'dtype':<9}{'distribution':<14}{'rows':>10}  {'implementation':<14}"
    f"{'median ms':>10}{'best ms':>10}{'ratio':>9}{'MB':>9}{'of copy':>9}"
)


def table_lines(timings: list[Timing], copy_rate: float) -> Iterator[str]:
    """The rows of one scenario, this library's first."""
    ours = timings[0]
    for timing in timings:
        operation, dtype, distribution, implementation = timing.case
        moved = moved_by(timing)
        yield (
            f"{operation:<30}{dtype:<9}{distribution:<14}{timing.num_rows:>10,}  "
            f"{implementation:<14}{timing.median * 1e3:>10.2f}{timing.best * 1e3:>10.2f}"
            f"{timing.median / ours.median:>9.2f}{moved / 1e6:>9.1f}"
            f"{moved / timing.median / copy_rate:>9.1%}"
        )


def moved_by(timing: Timing) -> int:
    key_bytes = np.dtype(timing.case.dtype).itemsize
    return bytes_moved(timing.case.operation, timing.num_rows, key_bytes)


def claim_results(timings: list[Timing], copy_rate: float) -> Iterator[dict[str, Any]]:
    """The measured claims, each with its ratio and the memory bound of the faster side."""
    by_case = {timing.case: timing for timing in timings}
    for claim in CLAIMS:
        if claim.fast not in by_case or claim.slow not in by_case:
            continue
        fast = by_case[claim.fast]
        ratio = by_case[claim.slow].median / fast.median
        yield {
            "claim": str(claim),
            "factor": claim.factor,
            "ratio": ratio,
            "measured": claim.measured(ratio),
            "holds": ratio >= claim.factor,
            "median_ms": fast.median * 1e3,
            "copy_ms": moved_by(fast) / copy_rate * 1e3,
        }


def claim_line(result: dict[str, Any], is_judged: bool) -> str:
    """A claim in words; a missed one also gives the time of a copy of its bytes."""
    line = f"{result['claim']}: {result['measured']}"
    if not is_judged:
        return line
    if result["holds"]:
        return f"{line} ok"
    return (
        f"{line} missed ({result['median_ms']:.1f} ms; its bytes, at the rate of a copy, "
        f"take {result['copy_ms']:.1f} ms)"
    )


def record_of(timing: Timing) -> dict[str, Any]:
    return {
        **timing.case._asdict(),
        "rows": timing.num_rows,
        "median_ms": timing.median * 1e3,
        "best_ms": timing.best * 1e3,
        "seconds": timing.seconds,
        "bytes_moved": moved_by(timing),
    }


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small inputs and few rounds")
    parser.add_argument("--rows", type=int, help=f"rows on one device (default {CLAIM_ROWS:,})")
    parser.add_argument(
        "--rounds",
        type=int,
        help="turns of each implementation (default 5), three times as many if they are short",
    )
    parser.add_argument("--chart", action="store_true", help="measure the ops of the chart only")
    parser.add_argument(
        "--json",
        type=Path,
        default=DEFAULT_JSON,
        metavar="PATH",
        help="where the numbers are written (default build/bench.json)",
    )
    arguments = parser.parse_args()
    arguments.rows = arguments.rows or (QUICK_ROWS if arguments.quick else CLAIM_ROWS)
    arguments.rounds = arguments.rounds or (1 if arguments.quick else 5)
    return arguments


def main() -> None:
    arguments = parse_arguments()
    num_rows, num_rounds = arguments.rows, arguments.rounds
    mesh_rows = max(int(num_rows * MESH_SHARE) // 8, 1) * 8
    timings: list[Timing] = []
    copy_rates = [copy_bytes_per_second()]

    def show(scenario_timings: list[Timing]) -> None:
        timings.extend(scenario_timings)
        print(*table_lines(scenario_timings, copy_rates[0]), "", sep="\n", flush=True)

    print(*(f"{name} {value}" for name, value in machine().items()), sep=", ")
    print(f"a copy reads and writes {copy_rates[0] / 1e9:.1f} GB/s\n\n{HEADER}")
    for scenario in GROUPS if arguments.chart else SCENARIOS:
        show(local_timings(scenario, num_rows, num_rounds))
    # JAX fixes the number of devices when it starts, so eight devices need another process.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        for scenario in () if arguments.chart else MESH_SCENARIOS:
            show(pool.submit(mesh_timings, scenario, mesh_rows, num_rounds).result())

    copy_rates.append(copy_bytes_per_second())
    print(f"a copy now reads and writes {copy_rates[1] / 1e9:.1f} GB/s")
    is_judged = num_rows == CLAIM_ROWS
    if not is_judged:
        print(f"claims apply to {CLAIM_ROWS:,} rows and are not judged at {num_rows:,}")
    results = list(claim_results(timings, max(copy_rates)))
    print(*(claim_line(result, is_judged) for result in results), sep="\n")

    report = {
        "machine": machine(),
        "copy_bytes_per_second": copy_rates,
        "timings": [record_of(timing) for timing in timings],
        "claims": results,
    }
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps(report, indent=2) + "\n")
    picture = arguments.json.with_suffix(".svg")
    picture.write_text(chart_of_table(report))
    print(f"\nwritten to {arguments.json} and {picture}")


if __name__ == "__main__":
    main()
