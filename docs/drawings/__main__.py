# SPDX-License-Identifier: Apache-2.0
"""Writes the drawings beside their scripts: `python docs/drawings`."""

import importlib
from pathlib import Path

DRAWINGS = ("exchange", "floors", "segmented_scan", "splitter_search")


def drawings() -> dict[str, str]:
    """The SVG of each drawing."""
    return {name: importlib.import_module(name).draw().svg() for name in DRAWINGS}


if __name__ == "__main__":
    for name, svg in drawings().items():
        Path(__file__).with_name(f"{name}.svg").write_text(svg)
