# SPDX-License-Identifier: Apache-2.0
"""The code and the assertions of the how-to guides run unchanged."""

import re
from pathlib import Path

import numpy as np
import pytest

HOW_TO = Path(__file__).resolve().parents[1] / "docs/how-to"
GUIDES = [
    "call_a_simulator_in_a_step",
    "call_your_own_functions",
    "dispatch_to_experts",
    "normalise_within_groups",
    "read_and_write_files",
    "resume_a_streamed_job",
    "run_a_plan_within_a_memory_limit",
    "train_from_a_stream",
    "use_with_other_libraries",
    "write_conditions_on_columns",
]


def names_of(guide, replaced=("", "")):
    """The global names after the cells of a guide have run, with a line of them replaced."""
    page = HOW_TO / f"{guide}.md"
    cells = re.findall(r"^```{code-cell}\n(.*?)^```$", page.read_text(), re.MULTILINE | re.DOTALL)
    source = "\n".join(re.sub(r"\A(?::.*\n)+", "", cell) for cell in cells)
    # A guide asserts its claims.
    assert "assert" in source
    old, new = replaced
    assert old in source
    names = {}
    exec(compile(source.replace(old, new) if old else source, str(page), "exec"), names)
    return names


@pytest.mark.parametrize("guide", GUIDES)
@pytest.mark.usefixtures("x64_off")
def test_guide_runs(guide):
    names_of(guide)


def adagrad_in_numpy(table, squares, weights, ids, y, rate=0.3):
    """A dense step of the guide's model in float64, with the derivative written out."""
    hidden = np.tanh(table[ids].sum(axis=1))
    error = hidden @ weights - y
    by_bag = (2 / len(y)) * error[:, None] * weights * (1 - hidden**2)
    gradient = np.zeros_like(table)
    np.add.at(gradient, ids, by_bag[:, None, :])
    squares = squares + gradient**2
    return table - rate * gradient / np.sqrt(squares), squares


@pytest.mark.parametrize("num_devices", [1, 4, 8])
@pytest.mark.usefixtures("x64_off")
def test_sparse_updates_equal_numpy_on_any_mesh(num_devices):
    mesh = "shardings.make_mesh()", f"shardings.make_mesh({num_devices})"
    names = names_of("deduplicate_embedding_gradients", mesh)
    assert names["mesh"].size == num_devices
    table, squares, weights = (
        np.asarray(names[name], np.float64) for name in ("table", "squares", "weights")
    )
    expected = table, squares
    for _ in range(3):
        expected = adagrad_in_numpy(*expected, weights, names["ids"], names["y"])
    for state in (names["sparse"], names["mesh_state"]):
        for actual, oracle in zip(state, expected, strict=True):
            np.testing.assert_allclose(actual, oracle, rtol=1e-3, atol=1e-4)
    is_looked_up = np.isin(np.arange(len(table)), names["ids"])
    np.testing.assert_array_equal(
        names["mesh_state"][0][~is_looked_up], names["table"][~is_looked_up]
    )
