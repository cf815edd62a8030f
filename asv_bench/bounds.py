# SPDX-License-Identifier: Apache-2.0
"""The slowest questions of a workload beside the time to copy the bytes that they must move.

    python asv_bench/bounds.py tpch
    python asv_bench/bounds.py dbbench --size 10000000

The bytes of a question are those of the columns that its plan reads, once, and those of its answer:
no engine can move fewer without an index. The rate of a copy is measured in the same process, and
the last column is the time of that copy over the time of the question.
"""

import argparse
import time
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import jax
from memory_traffic import copy_bytes_per_second
from workloads.process import in_fresh_process, write_tables

BUILD = Path(__file__).parents[1] / "build"
ROUNDS = 5
# What questions read that a plan cannot hold.
READ = {"groupby q8": {"x": ("id6", "v3")}}


def bytes_of(tree: Any) -> int:
    """Bytes of the arrays of a pytree."""
    leaves = jax.tree.leaves(tree)
    return sum(leaf.nbytes for leaf in leaves if hasattr(leaf, "nbytes"))


def bytes_read(name: str, question: Any, tables: Mapping[str, Any]) -> int:
    """Bytes of the columns that the optimised plan of a question reads, each counted once."""
    if name in READ:
        return sum(
            bytes_of(tables[table][label]._only)
            for table, labels in READ[name].items()
            for label in labels
        )
    from jaxframes import frame
    from jaxframes.frame.plan._node import Scan, bottom_up
    from jaxframes.frame.plan._optimize import optimized

    lazy = question(frame, {name: table.lazy() for name, table in tables.items()})
    columns = {}
    for node in bottom_up(optimized(lazy._plan, None)):
        if isinstance(node, Scan):
            rows = node.source.frame
            for label in rows.columns if node.columns is None else node.columns:
                columns[id(rows._stored), label] = bytes_of(rows[label]._only)
    return sum(columns.values())


def seconds_of(call: Any) -> float:
    """The median time of a warm call."""
    call(), call()
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return median(times)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("workload", choices=("dbbench", "tpch"))
    parser.add_argument("--size", type=float, help="rows, or the scale; the largest by default")
    parser.add_argument("--most", type=int, default=10, help="number of questions to print")
    arguments = parser.parse_args()
    package = import_module(f"workloads.{arguments.workload}")
    size = arguments.size or max(package.SIZES)
    folder = BUILD / "workloads" / f"{arguments.workload}-{size:g}"
    in_fresh_process(write_tables, arguments.workload, folder, size)

    engine = import_module("workloads.engines.jaxframes")
    names = dict.fromkeys(name for work in package.WORKLOADS for name in work.tables)
    tables = engine.load({name: folder / f"{name}.parquet" for name in names}, ())
    rows = []
    for name, question in engine.questions(arguments.workload).items():
        call = engine.prepare(question, tables)
        num_bytes = bytes_read(name, question, tables) + bytes_of(call())
        rows.append((seconds_of(call), name, num_bytes))
    rate = copy_bytes_per_second()
    print(f"copying reads and writes {rate / 1e9:.1f} GB/s with all cores")
    print(
        "| question | warm, ms | bytes that must move, MB | their copy, ms | share of the bound |"
    )
    print("|---|---|---|---|---|")
    for seconds, name, num_bytes in sorted(rows, reverse=True)[: arguments.most]:
        bound = num_bytes / rate
        print(
            f"| {name} | {1e3 * seconds:.0f} | {num_bytes / 1e6:.0f} | {1e3 * bound:.1f} "
            f"| {bound / seconds:.1%} |"
        )


if __name__ == "__main__":
    main()
