# SPDX-License-Identifier: Apache-2.0
"""Compiles calls for one GPU that is not here, and prints what each program reads and launches.

    python asv_bench/programs/compile_for_gpu.py "radix_sort,h100,1048576" ...

XLA's compiler for GPU comes with JAX's plugin for CUDA, which needs no driver to compile. Prints
one line of JSON for each call. Whether the programs contain the CUDA kernels depends on the
environment: `JAXFRAMES_KERNELS`, and whether `jaxframes_cuda13` can be imported.
"""

import json
import re
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

import jax
from benchmarks.communication import INSTRUCTION
from jax.experimental import topologies
from jax.sharding import SingleDeviceSharding
from jaxframes.primitives.contract._platform import traced_for
from jaxframes.primitives.kernels.base._cuda import load_cuda

from programs.cases import CASES, PEERS
from programs.executed import Instruction, most_executed
from programs.gpus import GPUS, is_with_kernels
from programs.kernel_traffic import Shape, Traffic, kernel_traffic, shapes_in, sort_of_xla
from programs.pipelines import PIPELINES

_OPERAND = re.compile(r"%([^\s,)]+)")
_COMPUTATION = re.compile(r"^(?:ENTRY )?%?(\S+) \(.*\{$")
_CALLED_BY = re.compile(r"(?:to_apply|calls|comparator)=%?([^\s,]+)")
# Instructions whose computations are launched kernel by kernel.
_CALLS = {"while", "conditional", "call", "async-start"}
# Instructions that launch nothing: they name or view what is there.
_FREE = {
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "while", "conditional",
    "call", "after-all", "iota", "partition-id",
}  # fmt: skip


class RunCosts(NamedTuple):
    """What one run of a program costs.

    Attributes:
        num_bytes: bytes that all kernels read and write.
        kernels: kernels that are launched.
        calls: fusions, sorts and calls of the library, each of one kernel or more.
        by_name: bytes by instruction.
    """

    num_bytes: float
    kernels: int
    calls: int
    by_name: dict[str, float]


def run_costs(text: str) -> RunCosts:
    """Counts what one run of a compiled program costs."""
    shapes, fused_sorts = _result_shapes(text), _fused_sorts(text)
    by_name: dict[str, float] = {}

    def of(found: Instruction) -> Traffic:
        if found.op in _FREE:
            return Traffic(0, 0)
        results = shapes_in(found.result)
        names, _, rest = found.operands.partition(")")
        operands = [shape for name in _OPERAND.findall(names) for shape in shapes.get(name, ())]
        if found.op == "sort":
            return sort_of_xla(operands)
        called = _CALLED_BY.search(found.operands) if found.op == "fusion" else None
        if called and called[1] in fused_sorts:
            return sort_of_xla(fused_sorts[called[1]])
        if found.op == "custom-call":
            target = rest.partition('custom_call_target="')[2].partition('"')[0]
            if target.startswith("jaxframes_cuda_"):
                return kernel_traffic(target, operands, results, rest)
        return Traffic(sum(shape.num_bytes for shape in (*operands, *results)), 1)

    def num_bytes(found: Instruction) -> float:
        traffic = of(found)
        if traffic.num_bytes:
            by_name[f"{found.op} {found.name}"] = traffic.num_bytes
        return traffic.num_bytes

    text = _launched_only(text)
    return RunCosts(
        most_executed(text, num_bytes),
        round(most_executed(text, lambda found: of(found).launches)),
        round(most_executed(text, lambda found: of(found).launches > 0)),
        by_name,
    )


def _result_shapes(text: str) -> dict[str, list[Shape]]:
    lines = filter(None, map(INSTRUCTION.match, text.splitlines()))
    return {found["name"]: shapes_in(found["type"]) for found in lines}


def _fused_sorts(text: str) -> dict[str, list[Shape]]:
    """The operands of the sort in each computation that has one.

    XLA makes a sort stable by an operand of row ids, which it fuses with the sort. On a GPU it
    leaves them out where it calls CUB, which is stable.
    """
    sorts: dict[str, list[Shape]] = {}
    name, has_ids = "", False
    for line in text.splitlines():
        if begins := _COMPUTATION.match(line):
            name, has_ids = begins[1], False
        elif found := INSTRUCTION.match(line):
            has_ids |= found["op"] == "iota"
            if found["op"] == "sort":
                operands = shapes_in(found["type"])
                sorts[name] = operands[:-1] if has_ids and len(operands) > 2 else operands
    return sorts


def _launched_only(text: str) -> str:
    """The text without computations that run inside a kernel."""
    inside = {
        name
        for line in text.splitlines()
        if (found := INSTRUCTION.match(line)) and found["op"] not in _CALLS
        for name in _CALLED_BY.findall(line)
    }
    kept, skips = [], False
    for line in text.splitlines():
        if found := _COMPUTATION.match(line):
            skips = found[1] in inside
        if not skips:
            kept.append(line)
    return "\n".join(kept)


def costs_of(
    function: Callable[..., Any], arguments: Sequence[jax.ShapeDtypeStruct], rows: int, gpu: str
) -> dict[str, Any]:
    """Compiles a function for a GPU, and returns what it reads, writes and launches."""
    topology = topologies.get_topology_desc(
        platform="cuda", target_config=GPUS[gpu].target_config(), topology="1x1x1"
    )
    sharding = SingleDeviceSharding(topology.devices[0])
    shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding) for x in arguments]
    started = time.perf_counter()
    with traced_for("cuda"):
        compiled = jax.jit(function).lower(*shapes).compile()
    costs = run_costs(compiled.as_text())
    memory = compiled.memory_analysis()
    whole = memory.argument_size_in_bytes + memory.output_size_in_bytes
    costliest = sorted(costs.by_name.items(), key=lambda item: -item[1])[:8]
    return {
        "row_bytes": round(costs.num_bytes / rows, 1),
        "least_row_bytes": round(whole / rows, 1),
        "kernels": costs.kernels,
        "calls": costs.calls,
        "temporary_bytes": memory.temp_size_in_bytes,
        "seconds_to_compile": round(time.perf_counter() - started, 1),
        "costliest": {name: round(size / rows, 1) for name, size in costliest},
    }


def main() -> None:
    warnings.simplefilter("ignore")
    kernels = load_cuda()
    for argument in sys.argv[1:]:
        name, chip, rows = argument.split(",")
        try:
            if is_with_kernels(chip) and kernels.library is None:
                raise OSError(f"{kernels.reason} `make cuda-wheel` builds them.")
            case = (CASES | PIPELINES | PEERS)[name]
            used = costs_of(
                case.call, case.arguments(int(rows)), int(rows), chip.removesuffix(" kernels")
            )
        except Exception as error:
            used = {"error": f"{type(error).__name__}: {str(error)[:2000]}"}
        print(json.dumps({"case": argument, **used}), flush=True)


if __name__ == "__main__":
    main()
