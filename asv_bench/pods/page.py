# SPDX-License-Identifier: Apache-2.0
"""The tables of `docs/explanation/at_scale.md`, from the stored figures."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pages import with_tables

from .cases import CASES
from .figures import Figures
from .pipelines import PIPELINES
from .plan import FEW_ROWS, MANY_ROWS, MORE_ROWS, SLICES, Compilation

PAGE = Path(__file__).parents[2] / "docs/explanation/at_scale.md"
V5E = ("v5e-8", "v5e-64", "v5e-256")


class Speed(NamedTuple):
    """Bytes per second of a chip: its HBM, and what it sends, half of its speed both ways."""

    hbm: float
    sent: float


# By Cloud TPU's specifications.
SPEEDS = {"v5e": Speed(8.19e11, 2e11), "v6e": Speed(1.6e12, 4e11)}
_SHORT = {
    "all-reduce": "reduce",
    "all-gather": "gather",
    "all-to-all": "to all",
    "collective-permute": "permute",
    "reduce-scatter": "scatter",
    "ragged-all-to-all": "ragged",
}


def write_tables(figures: Figures) -> None:
    """Replaces the tables of the page."""
    PAGE.write_text(with_tables(PAGE.read_text(), tables(figures)))


def tables(figures: Figures) -> dict[str, str]:
    """The tables in Markdown, by name."""
    return {
        "of few rows": _table(_rows_of(figures, FEW_ROWS, V5E)),
        "of more rows": _table(
            [
                *_rows_of(figures, MORE_ROWS, V5E, with_rows=True),
                *_rows_of(figures, MANY_ROWS, V5E, with_rows=True),
                *_rows_of(figures, FEW_ROWS, ("v6e-8",), with_rows=True),
            ]
        ),
        "of sorts on GPU": _gpu_table(figures),
    }


def found(figures: Figures, name: str, slice_name: str, rows: int) -> dict[str, Any] | None:
    """The figures of one program, if they are known."""
    return figures.get(Compilation(name, slice_name, rows).argument)


def seconds_at_least(used: dict[str, Any]) -> float:
    """To read the columns and write the result once, or to send what must be sent."""
    _, topology, _ = used["case"].split(",")
    speed = SPEEDS[topology.partition(":")[0]]
    memory = (used["argument_bytes"] + used["output_bytes"]) / speed.hbm
    return max(memory, used["sent_bytes_at_least"] / speed.sent)


def _rows_of(
    figures: Figures, rows: int, slices: Sequence[str], with_rows: bool = False
) -> Iterator[list[str]]:
    for name in (*CASES, *PIPELINES):
        for slice_name in slices:
            used = found(figures, name, slice_name, rows)
            if used is None:
                continue
            where = (
                slice_name
                if slice_name in SLICES and not with_rows
                else (f"{slice_name}, 2^{rows.bit_length() - 1} rows")
            )
            yield [
                name,
                where,
                _kib(used["argument_bytes"]),
                _kib(used["temporary_bytes"]),
                _kib(used["code_bytes"]) if "code_bytes" in used else "unknown",
                ", ".join(f"{n} {_SHORT[kind]}" for kind, n in used["collectives"].items()) or "-",
                _kib(used["sent_bytes"]),
                _kib(used["sent_bytes_at_least"]),
                _microseconds(seconds_at_least(used)),
            ]


_HEADER = (
    "call", "slice", "columns, KiB", "temporary, KiB", "code, KiB", "collectives", "sent, KiB",
    "at least, KiB", "at least, µs",
)  # fmt: skip


def _table(rows: Iterator[list[str]] | list[list[str]]) -> str:
    lines = [_HEADER, ["---"] * 2 + ["---:"] * 3 + ["---"] + ["---:"] * 3, *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _gpu_table(figures: Figures) -> str:
    lines = ["| call | sorts | most operands |\n", "| --- | ---: | ---: |\n"]
    for name in (*CASES, *PIPELINES):
        used = found(figures, name, "cuda-8", FEW_ROWS)
        if used is not None and used["sorts"]:
            lines.append(f"| {name} | {used['sorts']} | {used['most_operands']} |\n")
    return "".join(lines)


def _kib(size: int) -> str:
    return f"{size / 1024:,.0f}" if size >= 10_240 or not size else f"{size / 1024:.2g}"


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:,.1f}"
