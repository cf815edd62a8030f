# SPDX-License-Identifier: Apache-2.0
"""The tables and charts of `docs/explanation/compiled_programs.md`, from the stored figures."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from chart import OURS, Bar, drawn
from pages import with_tables

from .cases import CASES, PEER
from .figures import Figures
from .gpus import GPU_CHIPS

PAGE = Path(__file__).parents[2] / "docs/explanation/compiled_programs.md"
CHART = PAGE.with_name("tpu_cycles.svg")
FRAMES = ("frame groupby", "frame sort", "frame merge", "frame filter")
CHIP = "v5e"
GPU, NEWER_GPU = "h100", "b200"
# More than the caches of a GPU hold, and a power of two.
GPU_ROWS = 2**20
# The calls of the chart.
DRAWN = (
    "inclusive_scan", "segmented_scan", "radix_sort with a value", "bucket_order", "compact",
    "histogram", "segment_sum", "unique", "top_k",
)  # fmt: skip


def write_page(figures: Figures) -> None:
    """Replaces the tables of the page, and its chart."""
    PAGE.write_text(with_tables(PAGE.read_text(), tables(figures)))
    CHART.write_text(chart_of(figures))


def tables(figures: Figures) -> dict[str, str]:
    """The tables in Markdown, by name."""
    return {"of static cycles": _tpu_table(figures), "of GPU programs": _gpu_table(figures)}


def programs_of(figures: Figures, chip: str) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Call, rows and figures of the programs for a chip, in the order of the calls."""
    calls = [*CASES, *FRAMES]
    of_chip = []
    for name, used in figures.items():
        call, on, rows = name.split(",")
        # Fewer rows of a call are for quick checks alone.
        is_shown = on in GPU_CHIPS or call not in CASES or int(rows) == CASES[call].rows
        if on == chip and call in calls and is_shown:
            of_chip.append((call, int(rows), used))
    yield from sorted(of_chip, key=lambda program: calls.index(program[0]))


def _tpu_table(figures: Figures) -> str:
    rows = []
    for call, num_rows, used in programs_of(figures, CHIP):
        peer = figures.get(f"{PEER}{call},{CHIP},{num_rows}")
        newer = figures.get(f"{call},v6e,{num_rows}")
        moves = [str(used[kind]) for kind in ("sorts", "gathers", "scatters")]
        rows.append(
            [
                call,
                f"2^{num_rows.bit_length() - 1}",
                _a_row(used["least_cycles"], num_rows),
                _a_row(used["cycles"], num_rows) + ("" if used["arrays"] == "any" else " (HBM)"),
                _a_row(peer["cycles"], num_rows) if peer else "",
                _a_row(newer["cycles"], num_rows) if newer else "",
                " / ".join(moves) if any(map(int, moves)) else "",
            ]
        )
    header = ("call", "rows", "least", "v5e", "`jax.numpy`, v5e", "v6e", "moves of all rows")
    return _table(header, rows)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [header, ["---"] + ["---:"] * (len(header) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _gpu_table(figures: Figures) -> str:
    rows = []
    with_kernels = {call: used for call, _, used in programs_of(figures, f"{GPU} kernels")}
    of_xla = {call: used for call, _, used in programs_of(figures, GPU)}
    for call in [*CASES, *FRAMES]:
        used = [of_xla.get(call), with_kernels.get(call)]
        known = used[0] or used[1]
        if known is None:
            continue
        used += [
            figures.get(f"{name},{chip},{GPU_ROWS}")
            for name, chip in ((PEER + call, GPU), (call, NEWER_GPU))
        ]
        rows.append([call, f"{known['least_row_bytes']:,.0f}", *map(_traffic, used)])
    header = ("call", "least", "XLA", "with kernels", "`jax.numpy`", "XLA, B200")
    return _table(header, rows)


def _traffic(used: dict[str, Any] | None) -> str:
    if not used:
        return ""
    calls = f" of {used['calls']}" if used.get("calls", used["kernels"]) < used["kernels"] else ""
    return f"{used['row_bytes']:,.0f} in {used['kernels']}{calls}"


def _a_row(cycles: int, num_rows: int) -> str:
    return _shown(cycles / num_rows)


def _shown(cycles: float) -> str:
    return (
        f"{cycles:,.0f}" if cycles >= 10 else f"{cycles:.2f}" if cycles >= 0.1 else f"{cycles:.3f}"
    )


def chart_of(figures: Figures) -> str:
    """Draws cycles a row beside those of `jax.numpy` and the least."""
    groups = {}
    for call, num_rows, used in programs_of(figures, CHIP):
        if call not in DRAWN:
            continue
        bars = [Bar(OURS, used["cycles"] / num_rows), Bar("least", used["least_cycles"] / num_rows)]
        if peer := figures.get(f"{PEER}{call},{CHIP},{num_rows}"):
            bars.append(Bar("jax.numpy", peer["cycles"] / num_rows))
        groups[call] = bars
    note = "Static cycles a row on TPU v5e, by the compiler's simulator; shorter is better."
    return drawn(groups, note, lambda cycles: f"{_shown(cycles)}")
