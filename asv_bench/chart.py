# SPDX-License-Identifier: Apache-2.0
"""A bar chart of the table: the time of each implementation for a few ops, as one SVG.

    python asv_bench/table.py --chart --json docs/speed.json
    python asv_bench/chart.py docs/speed.json docs/speed.svg

`table.py` writes its numbers and, beside them, their chart: the first command measures and renews
both, the second one draws stored numbers again. Bars of one op share a scale, on which the slowest
implementation has the full width.
"""

import argparse
import json
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

# Operation, dtype and distribution of each group of bars, with its title.
GROUPS = {
    ("radix_argsort", "int64", "uniform"): "argsort of random int64 keys",
    ("unique", "int64", "uniform"): "unique int64 keys",
    ("join", "int64", "uniform"): "join by an int64 key",
    ("frame groupby sum", "int64", "million_values"): "groupby and sum of many groups",
    ("frame sort_values", "int64", "uniform"): "sort a frame by a column",
    ("frame merge", "int64", "uniform"): "merge two frames",
}
OURS = "jaxframes"

WIDTH = 720
MARGIN = 20
LABEL_WIDTH = 130
VALUE_WIDTH = 90
BAR_HEIGHT = 14
BAR_STEP = 18
TITLE_STEP = 24
GROUP_GAP = 12

# The card has a background of its own, so that the text is readable on pages of any colour.
STYLE = """
  text { font: 12px system-ui, sans-serif; fill: #24292f }
  .title { font-weight: 600 }
  .note { fill: #57606a }
  .card { fill: #ffffff; stroke: #d0d7de }
  .other { fill: #afb8c1 }
  .ours { fill: #1f6feb }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .note { fill: #8d96a0 }
    .card { fill: #0d1117; stroke: #30363d }
    .other { fill: #484f58 }
    .ours { fill: #4493f8 }
  }
"""


class Bar(NamedTuple):
    """The cost of one implementation: its time, unless the chart has another unit."""

    name: str
    milliseconds: float


def _milliseconds(time: float) -> str:
    return f"{time:.1f} ms" if time < 10 else f"{time:,.0f} ms"


def chart_of_table(report: dict[str, Any]) -> str:
    """Draws a report of `table.py`: a group of bars for each scenario of `GROUPS` in it.

    Raises:
        ValueError: the bars are of different numbers of rows, so that no caption is true of all.
    """
    groups: dict[str, list[Bar]] = {}
    row_counts: set[int] = set()
    for scenario, title in GROUPS.items():
        for timing in report["timings"]:
            if (timing["operation"], timing["dtype"], timing["distribution"]) == scenario:
                bar = Bar(timing["implementation"].replace("_", " "), timing["median_ms"])
                groups.setdefault(title, []).append(bar)
                row_counts.add(timing["rows"])
    if len(row_counts) != 1:
        raise ValueError(
            "chart_of_table: the timings of a chart must be of one number of rows, got "
            f"{sorted(row_counts)}. Measure them in one run of table.py."
        )
    return chart(groups, f"Median time of a call for {row_counts.pop():,} rows", report["machine"])


def chart(groups: Mapping[str, list[Bar]], subject: str, machine: dict[str, Any]) -> str:
    """Draws groups of bars of times by title, each group from fast to slow."""
    note = f"{subject} on {machine['cores']} CPU cores ({machine['processor']}); shorter is better."
    return drawn(groups, note, _milliseconds)


def drawn(groups: Mapping[str, list[Bar]], note: str, shown: Callable[[float], str]) -> str:
    """Draws groups of bars by title, each from short to long, with a note below."""
    parts: list[str] = []
    scale = WIDTH - 2 * MARGIN - LABEL_WIDTH - VALUE_WIDTH
    y = MARGIN
    for title, bars in groups.items():
        slowest = max(bar.milliseconds for bar in bars)
        y += TITLE_STEP
        parts.append(f'<text class="title" x="{MARGIN}" y="{y - 8}">{escape(title)}</text>')
        for bar in sorted(bars, key=lambda bar: bar.milliseconds):
            label = shown(bar.milliseconds)
            parts += _drawn(bar.name, label, y, scale * bar.milliseconds / slowest)
            y += BAR_STEP
        y += GROUP_GAP
    y += MARGIN
    parts.append(f'<text class="note" x="{MARGIN}" y="{y - 8}">{escape(note)}</text>')
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 8}" '
        f'width="{WIDTH}" role="img">\n<title>{escape(note)}</title>\n<style>{STYLE}</style>\n'
        f'<rect class="card" x="0.5" y="0.5" width="{WIDTH - 1}" height="{y + 7}" rx="8"/>\n'
        + "\n".join(parts)
        + "\n</svg>\n"
    )


def _drawn(name: str, label: str, y: float, width: float) -> list[str]:
    left = MARGIN + LABEL_WIDTH
    kind = "ours" if name == OURS else "other"
    baseline = y + BAR_HEIGHT - 3
    return [
        f'<text x="{left - 8}" y="{baseline}" text-anchor="end">{escape(name)}</text>',
        f'<rect class="{kind}" x="{left}" y="{y}" width="{max(width, 1):.1f}" '
        f'height="{BAR_HEIGHT}" rx="2"/>',
        f'<text x="{left + max(width, 1) + 6:.1f}" y="{baseline}">{label}</text>',
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("report", type=Path, help="the JSON of table.py")
    parser.add_argument("svg", type=Path, help="where the chart is written")
    arguments = parser.parse_args()
    arguments.svg.write_text(chart_of_table(json.loads(arguments.report.read_text())))


if __name__ == "__main__":
    main()
