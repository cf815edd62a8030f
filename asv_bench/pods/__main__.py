# SPDX-License-Identifier: Apache-2.0
"""Compiles the calls for slices of TPU, and writes what they use beside the documentation.

    python asv_bench/pods                        # all that build/pods does not hold yet
    python asv_bench/pods --only radix_sort      # these calls again
    python asv_bench/pods --table                # the page alone, from the stored figures

A run that was interrupted goes on where it ended: each result lies in `build/pods`.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from compiling import ROOT, Batch, compile_all, tpu_environment

from pods.figures import STORED, figure_name, load, write
from pods.page import write_tables
from pods.plan import SLICES, Compilation, compilations

RESULTS = ROOT / "build/pods/results.jsonl"


class Settings(NamedTuple):
    """How the compilations run."""

    workers: int
    seconds: float


def main() -> None:
    arguments = parsed_arguments()
    if not arguments.table:
        known = {case for case, used in recorded(RESULTS).items() if "error" not in used}
        pending = [
            compilation
            for compilation in compilations()
            if (not arguments.only or compilation.name in arguments.only)
            and (not arguments.rows or compilation.rows in arguments.rows)
            and compilation.slice_name in arguments.slices
            and (arguments.only or compilation.argument not in known)
        ]
        run_all(pending, Settings(arguments.workers, arguments.seconds))
        figures = load() | {
            figure_name(used): used for used in recorded(RESULTS).values() if "error" not in used
        }
        write(figures)
        failed = [used for used in recorded(RESULTS).values() if "error" in used]
        for used in failed:
            print(f"{used['case']}: {used['error']}", file=sys.stderr)
    write_tables(load())


def parsed_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", default=[], help="calls to compile again")
    parser.add_argument("--rows", nargs="+", type=int, default=[], help="rows a chip")
    parser.add_argument("--slices", nargs="+", default=list(SLICES), help="such as v5e-64")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--seconds", type=float, default=1800, help="most seconds of a call")
    parser.add_argument("--table", action="store_true", help=f"only read {STORED.name}")
    return parser.parse_args()


def recorded(path: Path) -> dict[str, dict[str, Any]]:
    """The results so far; of several for one compilation the last."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {used["case"]: used for used in map(json.loads, lines)}


def run_all(pending: Sequence[Compilation], settings: Settings) -> None:
    """Compiles everything, each call of one size in a process of its own."""
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    # One process compiles a call for several slices: half a minute of imports is shared.
    batches: dict[tuple[str, int, str], list[str]] = {}
    for compilation in pending:
        kind = SLICES[compilation.slice_name].accelerator
        batches.setdefault((compilation.name, compilation.rows, kind), []).append(
            compilation.argument
        )

    def record(used: dict[str, Any]) -> None:
        with RESULTS.open("a") as results:
            results.write(json.dumps(used) + "\n")
        print(json.dumps(used), flush=True)

    compile_all(
        Path(__file__).with_name("compile_cases.py"),
        [Batch(names, tpu_environment(kind)) for (_, _, kind), names in batches.items()],
        settings.workers,
        settings.seconds,
        record,
    )


if __name__ == "__main__":
    main()
