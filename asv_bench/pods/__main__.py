# SPDX-License-Identifier: Apache-2.0
"""Compiles the calls for slices of TPU, and writes what they use beside the documentation.

    python asv_bench/pods                        # all that build/pods does not hold yet
    python asv_bench/pods --only radix_sort      # these calls again
    python asv_bench/pods --table                # the page alone, from the stored figures

A run that was interrupted goes on where it ended: each result lies in `build/pods`.
"""

import argparse
import json
import os
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from pods.figures import STORED, figure_name, load, write
from pods.page import write_tables
from pods.plan import SLICES, Compilation, compilations

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "build/pods/results.jsonl"
# The compiler itself: outside the environment, where JAX would look for a TPU with it.
LIBTPU = ROOT / "build/libtpu"


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
    batches: dict[tuple[str, int, str], list[Compilation]] = {}
    for compilation in pending:
        kind = SLICES[compilation.slice_name].accelerator
        batches.setdefault((compilation.name, compilation.rows, kind), []).append(compilation)
    waiting: queue.SimpleQueue[list[Compilation]] = queue.SimpleQueue()
    for batch in batches.values():
        waiting.put(batch)
    lock = threading.Lock()

    def work() -> None:
        while True:
            try:
                batch = waiting.get_nowait()
            except queue.Empty:
                return
            for used in compiled(batch, settings.seconds):
                with lock, RESULTS.open("a") as results:
                    results.write(json.dumps(used) + "\n")
                print(json.dumps(used), flush=True)

    threads = [threading.Thread(target=work) for _ in range(settings.workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def compiled(batch: Sequence[Compilation], seconds: float) -> Iterator[dict[str, Any]]:
    """Yields a result for each compilation; a process that dies or hangs is started again."""
    left = list(batch)
    while left:
        with tempfile.TemporaryFile("w+") as errors:
            for line in lines_of(left, seconds, errors):
                left.pop(0)
                yield json.loads(line)
            if left:
                errors.seek(0)
                what = f"the compiler ended, or took more than {seconds:.0f} s: "
                yield {"case": left.pop(0).argument, "error": what + errors.read()[-500:]}


def lines_of(batch: Sequence[Compilation], seconds: float, errors: IO[str]) -> Iterator[str]:
    """Yields what a process prints, until it ends or prints nothing for so many seconds."""
    process = subprocess.Popen(
        [
            sys.executable,
            str(Path(__file__).with_name("compile_cases.py")),
            *(compilation.argument for compilation in batch),
        ],
        env=environment_of(batch[0]),
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
    )
    assert process.stdout is not None
    try:
        while True:
            timer = threading.Timer(seconds, process.kill)
            timer.start()
            line = process.stdout.readline()
            timer.cancel()
            if not line:
                return
            yield line
    finally:
        process.kill()
        process.wait()


def environment_of(compilation: Compilation) -> dict[str, str]:
    paths = [str(LIBTPU), os.environ.get("PYTHONPATH", "")]
    return os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path),
        "JAX_PLATFORMS": "cpu",
        "TPU_ACCELERATOR_TYPE": SLICES[compilation.slice_name].accelerator,
        "TPU_WORKER_HOSTNAMES": "localhost",
        "TPU_SKIP_MDS_QUERY": "1",
        # Each process has a compiler, and none has a TPU to lock.
        "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    }


if __name__ == "__main__":
    main()
