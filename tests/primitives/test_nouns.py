# SPDX-License-Identifier: Apache-2.0
"""Modules of `local` and `collective` have test files of their noun, here or on another level."""

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PRIMITIVES = TESTS.parents[1] / "primitives"


@pytest.mark.parametrize("level", ["local", "collective"])
def test_each_module_has_a_test_file_of_its_noun(level):
    nouns = {path.stem.lstrip("_") for path in (PRIMITIVES / level).glob("_[!_]*.py")}
    tested = {path.stem.removeprefix("test_") for path in TESTS.rglob("test_*.py")}
    assert nouns <= tested, sorted(nouns - tested)
