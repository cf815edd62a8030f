# SPDX-License-Identifier: Apache-2.0
"""The cases of a file that its budget of processor time pays for, and the table of their costs."""

import json
import types

import budget
from budget import affordable


def cases(function, num_cases, *marks):
    return [
        types.SimpleNamespace(
            nodeid=f"tests/test_x.py::{function}[{i}]",
            get_closest_marker=lambda name: name if name in marks else None,
        )
        for i in range(num_cases)
    ]


def names(items):
    return [item.nodeid.partition("::")[2] for item in items]


def costs(**seconds):
    return {"tests/test_x.py": seconds}


def test_the_first_case_of_each_function_comes_first():
    items = [*cases("a", 3), *cases("b", 2)]
    chosen = affordable(items, costs(a=1.0, b=0.5), most_seconds=2.6)
    assert names(chosen) == ["a[0]", "b[0]", "b[1]"]


def test_cheaper_functions_come_first():
    items = [*cases("dear", 1), *cases("cheap", 1)]
    assert names(affordable(items, costs(dear=2.0, cheap=1.0), most_seconds=2.5)) == ["cheap[0]"]


def test_a_file_runs_one_case_at_least():
    assert names(affordable(cases("a", 3), costs(a=9.0), most_seconds=1.0)) == ["a[0]"]


def test_a_large_file_runs_a_tenth():
    assert len(affordable(cases("a", 40), costs(a=1.0), most_seconds=3.0)) == 4


def test_files_have_budgets_of_their_own_and_new_tests_run():
    items = [*cases("a", 2), *cases("new", 5)]
    assert affordable(items, costs(a=0.4), most_seconds=1.0) == items
    assert affordable(items, {}, most_seconds=0.0) == items


def test_a_test_that_is_marked_runs():
    items = [*cases("a", 1), *cases("b", 2, "runs_always")]
    assert affordable(items, costs(a=1.0, b=9.0), most_seconds=1.0) == items


def test_measured_seconds_replace_stored_ones(tmp_path, monkeypatch):
    folder = tmp_path / "tests"
    folder.mkdir()
    (folder / "test_x.py").write_text("def test_a(): ...\ndef test_b(): ...\n")
    monkeypatch.setattr(budget, "PATH", folder / "processor_seconds.json")
    stored = {"tests/test_x.py": {"test_a": 1.0, "test_b": 2.0, "test_gone": 3.0}, "y.py": {"z": 1}}
    budget.PATH.write_text(json.dumps(stored))
    budget.store_costs({"tests/test_x.py::test_a": [4.0, 6.0], "tests/test_x.py::test_c": [0.01]})
    assert budget.stored_costs() == {"tests/test_x.py": {"test_a": 5.0, "test_b": 2.0}}
