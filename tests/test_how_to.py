# SPDX-License-Identifier: Apache-2.0
"""The how-to guides to things that JAX users build run as they stand, and so do their checks."""

import re
from pathlib import Path

import pytest

HOW_TO = Path(__file__).resolve().parents[1] / "docs/how-to"
GUIDES = ["deduplicate_embedding_gradients", "dispatch_to_experts", "normalise_within_groups"]


@pytest.mark.parametrize("guide", GUIDES)
@pytest.mark.usefixtures("x64_off")
def test_guide_runs(guide):
    page = HOW_TO / f"{guide}.md"
    cells = re.findall(r"^```{code-cell}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    source = "\n".join(re.sub(r"\A(?::.*\n)+", "", cell) for cell in cells)
    # What a guide claims it asserts.
    assert "assert" in source
    exec(compile(source, str(page), "exec"), {})
