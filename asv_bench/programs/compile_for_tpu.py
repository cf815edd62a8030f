# SPDX-License-Identifier: Apache-2.0
"""Compiles programs for one TPU core, and prints a line of JSON about each.

    python asv_bench/programs/compile_for_tpu.py radix_sort,v5e,65536 ...

Run by `python asv_bench/programs`, in a process of its own: the compiler reads the environment, and
its simulator ends the process on what it does not know.

libtpu writes the static cycles of each op into a folder: it runs the final instruction bundles of
the program, loops included, and counts the cycles that they take. No chip was asked.
"""

import json
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import jax
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
from jaxframes.primitives.contract._platform import traced_for

from programs.cases import CASES, PEERS, Case
from programs.chips import TPUS
from programs.executed import cycles_of, row_moves_of

# Where the compiler was told to write; see `profile_arguments`.
PROFILES = "--xla_jf_dump_static_llo_profile_to="
_ESTIMATE = re.compile(r"hlo_op_estimate \{(.*?)\}", re.DOTALL)
_NAME = re.compile(r'hlo_op_name: "([^"]*)"')
_CYCLES = re.compile(r"estimated_cycles: (\d+)")
_EQUIVALENT = re.compile(r"num_equivalent_hlos: (\d+)")


def profile_arguments(folder: str, in_hbm: bool) -> str:
    """The arguments of libtpu, in `LIBTPU_INIT_ARGS`, for a profile in a folder.

    Args:
        folder: where profiles are written.
        in_hbm: leaves all arrays in HBM. The simulator knows no copy between the vector memory and
            the scalar memory of a v5e, which gathers from the vector memory need.
    """
    placement = " --xla_vf_vmem_memory_space_assignment=false" if in_hbm else ""
    return f"{PROFILES}{folder}{placement}"


def cycles_by_op(folder: Path) -> dict[str, int]:
    """The static cycles of each op of the last program compiled, and empties the folder."""
    cycles: dict[str, int] = {}
    for path in folder.glob("*.textproto"):
        for estimate in _ESTIMATE.findall(path.read_text()):
            name, known = _NAME.search(estimate), _CYCLES.search(estimate)
            repeats = _EQUIVALENT.search(estimate)
            if name and known:
                cycles[name[1]] = int(known[1]) * (int(repeats[1]) if repeats else 1)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    return cycles


def costs_of(
    function: Callable[..., Any],
    arguments: Sequence[jax.ShapeDtypeStruct],
    num_rows: int,
    chip: str,
    folder: Path,
) -> dict[str, Any]:
    """Compiles a function for one core of a chip, and returns what it costs."""
    (device, *_) = topologies.get_topology_desc(TPUS[chip].topology, "tpu").devices
    sharding = SingleDeviceSharding(device)
    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding) for x in arguments]
    started = time.perf_counter()
    cycles_by_op(folder)
    # Some ways are chosen while the function is traced, in this process by its CPU.
    with traced_for("tpu"):
        compiled = jax.jit(function).lower(*shapes).compile()
    cycles = cycles_by_op(folder)
    text, memory = compiled.as_text(), compiled.memory_analysis()
    whole = memory.argument_size_in_bytes + memory.output_size_in_bytes
    return {
        "cycles": cycles_of(text, cycles),
        "least_cycles": round(TPUS[chip].cycles_of_bytes(whole)),
        **row_moves_of(text, num_rows)._asdict(),
        "temporary_bytes": memory.temp_size_in_bytes,
        "code_bytes": memory.generated_code_size_in_bytes,
        "seconds_to_compile": round(time.perf_counter() - started, 1),
        "costliest": dict(sorted(cycles.items(), key=lambda item: -item[1])[:5]),
    }


def profile_folder(libtpu_arguments: str) -> Path:
    """The folder that the arguments of libtpu name."""
    (named,) = re.findall(re.escape(PROFILES) + r"(\S+)", libtpu_arguments)
    return Path(named) if named else Path(tempfile.gettempdir())


def case_of(name: str) -> Case:
    """A call, a peer of one, or a pipeline of frames, whose package takes a while to import."""
    if name in CASES or name in PEERS:
        return (CASES | PEERS)[name]
    from programs.pipelines import PIPELINES

    return PIPELINES[name]


def main() -> None:
    libtpu_arguments = os.environ["LIBTPU_INIT_ARGS"]
    for argument in sys.argv[1:]:
        name, chip, rows = argument.split(",")
        in_hbm = "memory_space_assignment" in libtpu_arguments
        try:
            case = case_of(name)
            used = costs_of(
                case.call,
                case.arguments(int(rows)),
                int(rows),
                chip,
                profile_folder(libtpu_arguments),
            )
            used["arrays"] = "HBM" if in_hbm else "any"
        except Exception as error:
            used = {"error": f"{type(error).__name__}: {str(error)[:2000]}"}
        print(json.dumps({"case": argument, **used}), flush=True)


if __name__ == "__main__":
    main()
