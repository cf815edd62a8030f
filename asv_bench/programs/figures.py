# SPDX-License-Identifier: Apache-2.0
"""The stored figures of compiled programs, and which of new ones are worse."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

STORED = Path(__file__).parents[2] / "docs/explanation/compiled_programs.json"
Figures = dict[str, dict[str, Any]]

# What must not grow: any of these that a figure has.
HELD = ("cycles", "sorts", "gathers", "scatters", "row_bytes", "kernels")
MOST_GROWTH = 1.1


class Program(NamedTuple):
    """One program: a case, for a chip, with a number of rows."""

    case: str
    chip: str
    rows: int

    @property
    def argument(self) -> str:
        """As the scripts that compile take it."""
        return f"{self.case},{self.chip},{self.rows}"


class Worse(NamedTuple):
    """A figure that grew by more than a tenth."""

    program: str
    figure: str
    stored: float
    found: float

    def __str__(self) -> str:
        return f"{self.program}: {self.figure} grew from {self.stored:,} to {self.found:,}"


def worse_than(stored: Mapping[str, Any], found: Mapping[str, Any]) -> list[Worse]:
    """The held figures of a program that are worse than the stored ones."""
    return [
        Worse(found["case"], name, stored[name], found[name])
        for name in HELD
        if name in stored and name in found and found[name] > MOST_GROWTH * stored[name]
    ]


def load() -> Figures:
    """The figures beside the page, by program."""
    return json.loads(STORED.read_text()) if STORED.exists() else {}


def write(figures: Figures) -> None:
    """Stores the figures, one program a line, so that changes can be read."""
    lines = [f"{json.dumps(name)}: {json.dumps(figures[name])}" for name in sorted(figures)]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
