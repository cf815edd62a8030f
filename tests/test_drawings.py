# SPDX-License-Identifier: Apache-2.0
"""The drawings of the documentation are the output of their scripts."""

import runpy
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "docs" / "drawings"


def test_drawings_are_current(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(FOLDER), *sys.path])
    drawings = runpy.run_path(str(FOLDER / "__main__.py"))["drawings"]()
    assert {path.stem for path in FOLDER.glob("*.svg")} == set(drawings)
    for name, svg in drawings.items():
        assert (FOLDER / f"{name}.svg").read_text() == svg, "Run python docs/drawings."
