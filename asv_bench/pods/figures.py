# SPDX-License-Identifier: Apache-2.0
"""The stored figures of compiled programs."""

import json
from pathlib import Path
from typing import Any

STORED = Path(__file__).parents[2] / "docs/explanation/at_scale.json"
Figures = dict[str, dict[str, Any]]


def figure_name(used: dict[str, Any]) -> str:
    """The call, the slice and the rows of a chip."""
    return used["case"]


def load() -> Figures:
    """The figures beside the page, by compilation."""
    return json.loads(STORED.read_text()) if STORED.exists() else {}


def write(figures: Figures) -> None:
    """Stores the figures, one compilation a line, so that changes can be read."""
    lines = [f"{json.dumps(name)}: {json.dumps(figures[name])}" for name in sorted(figures)]
    STORED.write_text("{\n" + ",\n".join(lines) + "\n}\n")
