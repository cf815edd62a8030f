# SPDX-License-Identifier: Apache-2.0
"""The code and the assertions of the how-to guides run unchanged."""

import re
from pathlib import Path

import pytest

HOW_TO = Path(__file__).resolve().parents[1] / "docs/how-to"
GUIDES = [
    "call_a_simulator_in_a_step",
    "call_your_own_functions",
    "deduplicate_embedding_gradients",
    "dispatch_to_experts",
    "normalise_within_groups",
    "read_and_write_files",
    "resume_a_streamed_job",
    "run_a_plan_within_a_memory_limit",
    "train_from_a_stream",
    "use_with_other_libraries",
    "write_conditions_on_columns",
]


@pytest.mark.parametrize("guide", GUIDES)
@pytest.mark.usefixtures("x64_off")
def test_guide_runs(guide):
    page = HOW_TO / f"{guide}.md"
    cells = re.findall(r"^```{code-cell}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    source = "\n".join(re.sub(r"\A(?::.*\n)+", "", cell) for cell in cells)
    # A guide asserts its claims.
    assert "assert" in source
    exec(compile(source, str(page), "exec"), {})
