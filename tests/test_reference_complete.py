# SPDX-License-Identifier: Apache-2.0
"""The reference contains exactly the public names."""

import importlib
import inspect
import os
import re
import subprocess
import sys
import zlib
from pathlib import Path

import op_cases
import pytest
from covering import RUNS_ALL

DOCS = Path(__file__).resolve().parents[1] / "docs"
PACKAGES = [
    "jaxframes.frame",
    "jaxframes.primitives",
    "jaxframes.primitives.local",
    "jaxframes.primitives.collective",
    "jaxframes.primitives.staging",
    "jaxframes.shardings",
]
# Attributes and methods are documented with their class.
ROLES = {"py:module", "py:function", "py:class", "py:exception", "py:data", "py:type"}


def public_names():
    exported = {
        f"{package}.{name}"
        for package in PACKAGES
        for name in importlib.import_module(package).__all__
    }
    return exported | set(PACKAGES)


def names_of(inventory):
    """Names in the bytes of an inventory: four lines of header, then name, role, ... compressed."""
    *_, compressed = inventory.split(b"\n", 4)
    entries = [line.split() for line in zlib.decompress(compressed).decode().splitlines()]
    # The private module that defines a class is in the inventory too.
    return {name for name, role, *_ in entries if role in ROLES and "._" not in name}


@pytest.fixture
def pages(tmp_path):
    """The folder of built pages: those of `make docs`, where it runs these tests."""
    if built := os.environ.get("JAXFRAMES_PAGES"):
        return Path(built)
    if not RUNS_ALL:
        pytest.skip("make docs runs it on its pages, JAXFRAMES_TESTS=all on pages of its own.")
    pytest.importorskip("myst_nb", reason="Sphinx is not installed; make docs runs this test")
    # No code cell is run: the reference does not depend on them.
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-D", "nb_execution_mode=off"]
    subprocess.run([*sphinx, DOCS, tmp_path], check=True)
    return tmp_path


def test_every_public_name_is_in_the_reference(pages):
    assert names_of((pages / "objects.inv").read_bytes()) == public_names()


def test_results_are_written_with_the_fields_that_they_have():
    for level in ("local", "collective"):
        page = (DOCS / f"reference/{level}.md").read_text()
        results = importlib.import_module(f"jaxframes.primitives.{level}")
        written = dict(re.findall(r"py:class:: (\w+)\((.*)\)", page))
        assert "Factorized" in written
        for name, fields in written.items():
            assert fields == ", ".join(inspect.signature(getattr(results, name)).parameters)


def test_the_guarantees_name_every_op_with_its_levels():
    page = (DOCS / "reference/guarantees.md").read_text()
    table = re.search(r"^\| op \|.*?\n\n", page, re.MULTILINE | re.DOTALL).group().strip()
    stated = {}
    for row in table.splitlines()[2:]:
        ops, levels, *_ = row.strip("| ").split(" | ")
        stated |= dict.fromkeys(re.findall(r"`(\w+)`", ops), levels)
    levels_of = {"G": "global", "C": "collective", "L": "local"}
    ops = set().union(*map(op_cases.ops_of, op_cases.PACKAGES))
    exported = {
        op: " ".join(mark for mark, level in levels_of.items() if op in op_cases.ops_of(level))
        for op in ops
    }
    no_rows = {"even_share": "C", "combine": "C", "random_permutation": "G C L"}
    no_rows |= {"combine_from_experts": "L", "lsh_bands": "L", "collect_ragged": "G"}
    assert stated == exported | no_rows


def test_costs_in_batches_and_on_shards_name_every_op_of_both_levels():
    page = (DOCS / "reference/batches_and_shards.md").read_text()
    stated = {}
    for row in re.findall(r"^\| (`.*) \|$", page, re.MULTILINE):
        ops, _, local_call, global_call = row.split(" | ")
        levels = {"local"} - {local_call.removeprefix("no ").removesuffix(" call")}
        levels |= {"global"} - {global_call.removeprefix("no ").removesuffix(" call")}
        for op in re.findall(r"`(\w+)`", ops):
            assert op not in stated, f"{op} has two rows"
            stated[op] = levels
    exported = {}
    for level in ("local", "global"):
        package = op_cases.PACKAGES[level]
        for name in package.__all__:
            if inspect.isfunction(getattr(package, name)) and name != "backend":
                exported.setdefault(name, set()).add(level)
    assert stated == exported
