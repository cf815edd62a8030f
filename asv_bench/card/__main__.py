# SPDX-License-Identifier: Apache-2.0
"""Checks and measures the kernels on the card of this machine.

    python asv_bench/card --output FOLDER               all steps, in at most 8 minutes
    python asv_bench/card --output FOLDER --steps bits --shapes 1000 --repeats 2

Steps: `bits` against NumPy, `times` of XLA's way, of the kernels, of PyTorch and of CuPy,
`contention` of sums into few segments, a `graph` of CUDA that is replayed, and `sanitizer`, which
calls each kernel under `compute-sanitizer`. Each step is a process of its own and writes a file of
JSON; what a step has found by then is there if a later one fails. The environment has jaxframes,
jaxframes-cuda13, PyTorch and CuPy. `python asv_bench/card/report.py FOLDER` writes the tables.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

STEPS = ("bits", "graph", "contention", "times", "sanitizer")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--steps", nargs="+", choices=STEPS, default=STEPS)
    parser.add_argument("--shapes", type=int, nargs="+", help="rows of the calls of `bits`")
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--sizes", type=int, nargs="+", help="rows of the calls of `times`")
    parser.add_argument("--only", nargs="+", help="names of cases")
    parser.add_argument("--seconds", type=float, default=460, help="ends steps after so long")
    parser.add_argument("--of", choices=("native", "xla", "torch", "cupy"), help=argparse.SUPPRESS)
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    if options.here:
        run_step(options)
        return
    started = time.perf_counter()
    for step in options.steps:
        for of in ("native", "xla", "torch", "cupy") if step == "times" else ("native",):
            left = options.seconds - (time.perf_counter() - started)
            if left < 5:
                print(f"{step} of {of}: no time is left", flush=True)
                continue
            begun = time.perf_counter()
            status = run_apart(step, of, left)
            print(
                f"== {step} of {of}: status {status}, {time.perf_counter() - begun:.0f} s",
                flush=True,
            )


def run_apart(step: str, of: str, seconds: float) -> int | str:
    """Runs a step in a process of its own."""
    environment = os.environ | {
        "JAX_ENABLE_X64": "1",
        "JAXFRAMES_KERNELS": "xla" if of == "xla" else "native",
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        "PYTHONUNBUFFERED": "1",
    }
    command = [sys.executable, __file__, *sys.argv[1:], "--here", "--of", of, "--steps", step]
    if step == "sanitizer":
        sanitizer = shutil.which("compute-sanitizer")
        if sanitizer is None:
            return "there is no compute-sanitizer"
        script = Path(__file__).with_name("sanitized.py")
        command = [sanitizer, "--error-exitcode", "9", sys.executable, str(script)]
        environment["XLA_FLAGS"] = "--xla_gpu_enable_command_buffer= --xla_gpu_autotune_level=0"
    try:
        return subprocess.run(command, env=environment, timeout=seconds, check=False).returncode
    except subprocess.TimeoutExpired:
        return "stopped"


def run_step(options: argparse.Namespace) -> None:
    (step,) = options.steps
    if step == "times" and options.of in ("torch", "cupy"):
        from card import peers
        from card.times import SIZES

        with Record(options.output / f"times_{options.of}.json") as record:
            peers.times(options.of, options.sizes or SIZES, record.time)
        return
    import jax
    from jaxframes.primitives import backend

    from card import bits, graphs, times
    from card.cases import CASES

    device = jax.devices()[0]
    print(device.device_kind, jax.__version__, backend(), flush=True)
    names = options.only or list(CASES)
    with Record(options.output / f"{step}_{options.of}.json") as record:
        record.found |= {"card": device.device_kind, "jax": jax.__version__, "backend": backend()}
        if step == "bits":
            faults, compared = bits.check(names, options.shapes or bits.SHAPES, options.repeats)
            record.found |= {"compared": compared, "faults": faults}
            print(*faults[:40], f"{compared} results, {len(faults)} faults", sep="\n", flush=True)
        elif step == "graph":
            record.found |= graphs.replayed()
            print(record.found, flush=True)
        elif step == "contention":
            graphs.contention(record.time)
        else:
            record.found["bytes_per_second"] = times.copy_bandwidth()
            timed = [name for name in names if CASES[name].is_timed]
            times.times(timed, options.sizes or times.SIZES, record.time)


class Record:
    """What a step finds, written as it goes."""

    def __init__(self, path: Path):
        self.path = path
        self.found: dict[str, Any] = {}

    def __enter__(self) -> "Record":
        return self

    def __exit__(self, *_: object) -> None:
        self.write()

    def write(self) -> None:
        self.path.write_text(json.dumps(self.found, indent=1, default=str))

    def time(self, name: str, rows: int, found: Any) -> None:
        """Records the seconds of a call, or what failed."""
        self.found.setdefault("times", {}).setdefault(name, {})[rows] = found
        shown = f"{found * 1e6:12.1f} us" if isinstance(found, float) else found
        print(f"{name:36} {rows:>10} {shown}", flush=True)
        self.write()


if __name__ == "__main__":
    main()
