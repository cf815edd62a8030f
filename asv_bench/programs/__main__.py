# SPDX-License-Identifier: Apache-2.0
"""Compiles programs for chips that are not here, and stores what they cost beside the docs.

    python asv_bench/programs tpu --show radix_sort --chips v5e --rows 65536
                                      one call: cycles, sorts, gathers, scatters; stores nothing
    python asv_bench/programs tpu     all programs; a run that was stopped goes on
    python asv_bench/programs tpu --only "segment_sum" "top_k"
                                      these calls again, on all chips
    python asv_bench/programs tpu --check --quick
                                      ten calls; fails if one is worse than its stored figures
    python asv_bench/programs gpu     the same for GPUs: bytes a row, and kernels; "h100 kernels"
                                      has the CUDA kernels, "h100" XLA's versions alone
    python asv_bench/programs page    the tables and charts alone, from the stored figures

A figure is worse if it grew by more than a tenth. `--show` prints the costliest ops of the program
too. Frames are calls as well: "frame groupby", "frame sort", "frame merge" and "frame filter".
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from compiling import Batch, compile_all, gpu_environment, tpu_environment

from programs.cases import CASES, FEW_ROWS, PEERS, QUICK
from programs.chips import TPUS
from programs.compile_for_tpu import profile_arguments
from programs.figures import Figures, Program, load, worse_than, write
from programs.gpus import GPU_CHIPS, is_with_kernels
from programs.page import GPU_ROWS, write_page
from programs.pipelines import PIPELINES

PROGRAMS_OF_PROCESS = 8
CALLS = CASES | PIPELINES | PEERS
# What the simulator of a v5e refuses is compiled again with all arrays in HBM.
REFUSED = "Static LLO profiling"
# What is shown, but not stored.
PASSING = ("costliest", "seconds_to_compile")


def main() -> None:
    arguments = parsed_arguments()
    if arguments.platform == "page":
        write_page(load())
        return
    stored = load()
    is_stored = not (arguments.show or arguments.check)

    def record(used: dict[str, Any]) -> None:
        print(json.dumps(used), flush=True)
        if is_stored and "error" not in used:
            kept = {name: value for name, value in used.items() if name not in PASSING}
            # Another run may have stored other programs meanwhile.
            write(load() | {used["case"]: kept})

    compiled_for = compiled_for_gpu if arguments.platform == "gpu" else compiled_for_tpu
    found = compiled_for(programs_of(arguments, stored), arguments, record)
    problems = [f"{used['case']}: {used['error']}" for used in found if "error" in used]
    if arguments.check:
        problems += [
            str(worse) for used in found for worse in worse_than(stored.get(used["case"], {}), used)
        ]
    if is_stored:
        write_page(load())
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(bool(problems))


def parsed_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python asv_bench/programs",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("platform", choices=("tpu", "gpu", "page"))
    parser.add_argument("--show", nargs="+", default=[], metavar="CALL", choices=[*CALLS])
    parser.add_argument("--only", nargs="+", default=[], metavar="CALL", choices=[*CALLS])
    parser.add_argument("--quick", action="store_true", help=f"of 2^16 rows: {', '.join(QUICK)}")
    parser.add_argument("--check", action="store_true", help="compare with the stored figures")
    parser.add_argument("--chips", nargs="+", choices=[*TPUS, *GPU_CHIPS])
    parser.add_argument("--rows", type=int, help="rows in place of those of each call")
    parser.add_argument("--workers", type=int, default=2, help="processes at a time")
    parser.add_argument("--seconds", type=float, default=600, help="most seconds of a call")
    arguments = parser.parse_args()
    if not arguments.chips:
        arguments.chips = GPU_CHIPS if arguments.platform == "gpu" else ("v5e", "v6e")
    return arguments


def programs_of(arguments: argparse.Namespace, stored: Figures) -> list[Program]:
    """The programs that the arguments name; by default those that have no figures yet."""
    named = arguments.show or arguments.only or (QUICK if arguments.quick else ())
    # A check should be quick, and few rows tell as much.
    rows = FEW_ROWS if arguments.quick else arguments.rows
    if arguments.platform == "gpu":
        rows = arguments.rows or GPU_ROWS
    programs = [
        Program(name, chip, rows or CALLS[name].rows)
        for name in named or CALLS
        for chip in arguments.chips
        if not (is_with_kernels(chip) and name in PEERS)
    ]
    if named or arguments.check:
        return programs
    return [program for program in programs if program.argument not in stored]


def compiled_for_tpu(
    programs: Sequence[Program],
    settings: argparse.Namespace,
    record: Callable[[dict[str, Any]], None],
) -> list[dict[str, Any]]:
    """Compiles programs and returns their costs."""
    found: list[dict[str, Any]] = []
    refused: set[str] = set()

    def keep(used: dict[str, Any]) -> None:
        if REFUSED in used.get("error", "") and used["case"] not in refused:
            refused.add(used["case"])
            return
        record(used)
        found.append(used)

    script = Path(__file__).with_name("compile_for_tpu.py")
    for in_hbm in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            batches = []
            for program in programs:
                profiles = Path(folder, str(len(batches)))
                profiles.mkdir()
                environment = tpu_environment(TPUS[program.chip].accelerator)
                environment["LIBTPU_INIT_ARGS"] = profile_arguments(str(profiles), in_hbm)
                batches.append(Batch([program.argument], environment))
            compile_all(script, batches, settings.workers, settings.seconds, keep)
        programs = [program for program in programs if program.argument in refused]
    return found


def compiled_for_gpu(
    programs: Sequence[Program],
    settings: argparse.Namespace,
    record: Callable[[dict[str, Any]], None],
) -> list[dict[str, Any]]:
    """Compiles programs for GPU, several in one process, and returns their costs."""
    found: list[dict[str, Any]] = []

    def keep(used: dict[str, Any]) -> None:
        record(used)
        found.append(used)

    batches = []
    for has_kernels in (False, True):
        chosen = [
            program.argument for program in programs if is_with_kernels(program.chip) == has_kernels
        ]
        environment = gpu_environment(has_kernels)
        batches += [
            Batch(chosen[at : at + PROGRAMS_OF_PROCESS], environment)
            for at in range(0, len(chosen), PROGRAMS_OF_PROCESS)
        ]
    script = Path(__file__).with_name("compile_for_gpu.py")
    compile_all(script, batches, settings.workers, settings.seconds, keep)
    return found


if __name__ == "__main__":
    main()
