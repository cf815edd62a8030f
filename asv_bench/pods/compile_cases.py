# SPDX-License-Identifier: Apache-2.0
"""Compiles calls for slices of TPU, and prints a line of JSON about each.

    python asv_bench/pods/compile_cases.py radix_sort,v5e:8x8,65536 ...

Run by `python -m pods`, in a process of its own: the TPU compiler reads the environment, and a
failure of it ends the process.
"""

import json
import re
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import jax
import numpy as np
from jax.experimental import topologies
from jaxframes import shardings
from jaxframes.primitives.contract._platform import traced_for

from pods.cases import CASES
from pods.pipelines import PIPELINES
from pods.program_costs import collectives_of

NUM_GPUS = 8
_SORT = re.compile(r'"stablehlo\.sort"\(([^)]*)\)')


def used_by(name: str, topology: str, rows_per_chip: int) -> dict[str, Any]:
    """What a program uses on each chip, as the compiler plans it."""
    devices = topologies.get_topology_desc(topology, "tpu").devices
    mesh = jax.sharding.Mesh(np.array(devices), ("rows",))
    case = (CASES | PIPELINES)[name]
    arguments = case.arguments(mesh, rows_per_chip)
    started = time.perf_counter()
    run = jax.jit(lambda *columns: case.call(mesh, *columns))
    # Some ways are chosen while the function is traced, in this process by its CPU.
    with traced_for("tpu"):
        compiled = run.lower(*arguments).compile()
    memory = compiled.memory_analysis()
    sent = collectives_of(compiled.as_text(), mesh.size)
    return {
        "chips": mesh.size,
        "argument_bytes": memory.argument_size_in_bytes,
        "output_bytes": memory.output_size_in_bytes,
        "temporary_bytes": memory.temp_size_in_bytes,
        "code_bytes": memory.generated_code_size_in_bytes,
        "collectives": sent.counts,
        "sent_bytes": sent.sent_bytes,
        "sent_bytes_at_least": case.sent_at_least(mesh.size, rows_per_chip),
        "seconds_to_compile": round(time.perf_counter() - started, 1),
    }


def lowered_for_gpu(name: str, rows_per_chip: int) -> dict[str, Any]:
    """The sorts of a program for 8 GPUs, which XLA hands to CUB if they have at most two operands.

    Lowered, not compiled: XLA's compiler for GPU comes with CUDA.
    """
    mesh = shardings.make_mesh(NUM_GPUS)
    case = (CASES | PIPELINES)[name]
    run = jax.jit(lambda *columns: case.call(mesh, *columns))
    traced = run.trace(*case.arguments(mesh, rows_per_chip))
    text = traced.lower(lowering_platforms=("cuda",)).as_text()
    operands = [len(found.split(",")) for found in _SORT.findall(text)]
    return {"chips": NUM_GPUS, "sorts": len(operands), "most_operands": max(operands, default=0)}


def main() -> None:
    jax.config.update("jax_num_cpu_devices", NUM_GPUS)
    for argument in sys.argv[1:]:
        name, topology, rows = argument.split(",")
        try:
            if topology == "cuda":
                used = lowered_for_gpu(name, int(rows))
            else:
                used = used_by(name, topology, int(rows))
        except Exception as error:
            used = {"error": f"{type(error).__name__}: {str(error)[:500]}"}
        print(json.dumps({"case": argument, **used}), flush=True)


if __name__ == "__main__":
    main()
