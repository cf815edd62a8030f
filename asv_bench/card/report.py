# SPDX-License-Identifier: Apache-2.0
"""Writes the tables of `docs/explanation/gpu_times.md` from what a card found.

    python asv_bench/card/report.py FOLDER     takes over the results of `asv_bench/card`
    python asv_bench/card/report.py            the tables alone, from the stored results

The bytes that each call needs are stored with its times: the share of the card's copy bandwidth is
what these bytes take at that bandwidth, divided by the time.
"""

import json
import sys
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parents[2] / "docs/explanation"
STORED, PAGE = DOCS / "gpu_times.json", DOCS / "gpu_times.md"
LIBRARIES = ("native", "xla", "torch", "cupy")
# Rows of the long tables; the file has all.
SHOWN = ("1048576", "100000000")


def taken_over(folder: Path) -> dict[str, Any]:
    """The results of a folder, in the form in which they are stored."""
    from card.cases import CASES

    found = {name: json.loads((folder / f"times_{name}.json").read_text()) for name in LIBRARIES}
    contention = json.loads((folder / "contention_native.json").read_text())["times"]
    bits = json.loads((folder / "bits_native.json").read_text())
    graph = json.loads((folder / "graph_native.json").read_text())
    kernels = found["native"]
    return {
        "card": kernels["card"],
        "jax": kernels["jax"],
        "bytes_per_second": round(kernels["bytes_per_second"]),
        "row_bytes": {name: CASES[name].row_bytes for name in kernels["times"]},
        "microseconds": {
            library: {call: _microseconds(of_rows) for call, of_rows in of["times"].items()}
            for library, of in found.items()
        },
        "contention": {call: _microseconds(of_rows) for call, of_rows in contention.items()},
        "bits": {"compared": bits["compared"], "faults": len(bits["faults"])},
        "graph": {name: graph[name] for name in ("runs", "differing", "damaged")}
        | {
            name: round(graph[name] * 1e6, 1) for name in ("seconds", "seconds_without_graph")
        },
    }  # fmt: skip


def _microseconds(of_rows: dict[str, Any]) -> dict[str, float]:
    return {
        rows: round(found * 1e6, 1) for rows, found in of_rows.items() if isinstance(found, float)
    }


def times_table(figures: dict[str, Any]) -> str:
    """A line for each call and number of rows."""
    lines = [
        "| call | rows | kernel, µs | XLA, µs | PyTorch, µs | CuPy, µs | share of copy |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    times = figures["microseconds"]
    for call, row_bytes in figures["row_bytes"].items():
        for rows in SHOWN:
            found = [times[library].get(call, {}).get(rows) for library in LIBRARIES]
            if found[0] is None:
                continue
            least = row_bytes * int(rows) / figures["bytes_per_second"] * 1e6
            shown = ["" if one is None else f"{one:,.0f}" for one in found]
            name = "2^20" if rows == "1048576" else "10^8"
            lines.append(f"| {call} | {name} | {' | '.join(shown)} | {least / found[0]:.0%} |")
    return "\n".join(lines) + "\n"


def contention_table(figures: dict[str, Any]) -> str:
    """A line for each call, a column for each number of segments."""
    calls: dict[str, dict[int, float]] = {}
    for name, of_rows in figures["contention"].items():
        call, _, segments = name.partition(", ")
        calls.setdefault(call, {})[int(segments.split()[0])] = next(iter(of_rows.values()))
    sizes = sorted(next(iter(calls.values())))
    lines = [
        f"| 2^24 rows, µs | {' | '.join(f'{size:,}' for size in sizes)} |",
        "| --- |" + " ---: |" * len(sizes),
    ]
    for call, of_size in calls.items():
        lines.append(f"| {call} | {' | '.join(f'{of_size[size]:,.0f}' for size in sizes)} |")
    return "\n".join(lines) + "\n"


def tables(figures: dict[str, Any]) -> dict[str, str]:
    """The tables in Markdown, by name."""
    return {"of times": times_table(figures), "of contention": contention_table(figures)}


def main() -> None:
    # As a script this file has its own folder on the path, and not that of `pages` and `card`.
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from pages import with_tables

    if len(sys.argv) > 1:
        STORED.write_text(json.dumps(taken_over(Path(sys.argv[1])), indent=1) + "\n")
    PAGE.write_text(with_tables(PAGE.read_text(), tables(json.loads(STORED.read_text()))))


if __name__ == "__main__":
    main()
