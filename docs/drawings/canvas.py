# SPDX-License-Identifier: Apache-2.0
"""A canvas for the drawings of the documentation: boxes, text and arrows, written as SVG."""

from collections.abc import Sequence
from html import escape
from typing import Literal

Fill = Literal["plain", "soft", "strong", "warm", "empty"]
Anchor = Literal["start", "middle", "end"]

# The card has a background of its own, so that the text is readable on pages of any colour.
STYLE = """
  text { font: 13px system-ui, sans-serif; fill: #24292f }
  .note { fill: #57606a; font-size: 12px }
  .bold { font-weight: 600 }
  .mono { font-family: ui-monospace, monospace }
  .on-strong { fill: #ffffff }
  .card { fill: #ffffff; stroke: #d0d7de }
  .plain { fill: #f6f8fa; stroke: #8c959f }
  .soft { fill: #ddf4ff; stroke: #54aeff }
  .warm { fill: #fff1d6; stroke: #d4a72c }
  .strong { fill: #0969da; stroke: #0969da }
  .empty { fill: none; stroke: #8c959f; stroke-dasharray: 4 3 }
  .arrow { stroke: #57606a; fill: none; stroke-width: 1.4 }
  .head { fill: #57606a }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 }
    .note { fill: #9da7b3 }
    .card { fill: #0d1117; stroke: #30363d }
    .plain { fill: #21262d; stroke: #6e7681 }
    .soft { fill: #0c2d4d; stroke: #388bfd }
    .warm { fill: #3d2e08; stroke: #bb8009 }
    .strong { fill: #1f6feb; stroke: #1f6feb }
    .empty { stroke: #6e7681 }
    .arrow { stroke: #9da7b3 }
    .head { fill: #9da7b3 }
  }
"""


class Canvas:
    """A card of fixed size with a title for screen readers."""

    def __init__(self, width: int, height: int, title: str):
        self.width, self.height, self.title = width, height, title
        self._parts: list[str] = []

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        text: str = "",
        fill: Fill = "plain",
        style: str = "",
    ) -> None:
        """Draws a rectangle with centred text."""
        self._parts.append(
            f'<rect class="{fill}" x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            'rx="4"/>'
        )
        if text:
            style = f"{style} on-strong" if fill == "strong" else style
            self.text(x + width / 2, y + height / 2 + 4.5, text, "middle", style)

    def text(
        self, x: float, y: float, text: str, anchor: Anchor = "start", style: str = ""
    ) -> None:
        """Writes one line of text with its baseline at `y`."""
        kind = f' class="{style.strip()}"' if style.strip() else ""
        self._parts.append(
            f'<text{kind} x="{x:g}" y="{y:g}" text-anchor="{anchor}">{escape(text)}</text>'
        )

    def arrow(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """Draws a straight arrow."""
        self._parts.append(
            f'<path class="arrow" d="M{x0:g} {y0:g}L{x1:g} {y1:g}" marker-end="url(#head)"/>'
        )

    def line(self, points: Sequence[tuple[float, float]], color: str, width: float) -> None:
        """Draws straight lines from point to point."""
        listed = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._parts.append(
            f'<polyline points="{listed}" fill="none" stroke="{color}" stroke-width="{width:g}" '
            'stroke-linejoin="round"/>'
        )

    def svg(self) -> str:
        """The drawing as a file."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'width="{self.width}" role="img">\n<title>{escape(self.title)}</title>\n'
            f"<style>{STYLE}</style>\n"
            '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
            'markerHeight="7" orient="auto"><path class="head" d="M0 0L8 4L0 8z"/></marker>'
            "</defs>\n"
            f'<rect class="card" x="0.5" y="0.5" width="{self.width - 1}" '
            f'height="{self.height - 1}" rx="8"/>\n' + "\n".join(self._parts) + "\n</svg>\n"
        )
