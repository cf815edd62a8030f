# SPDX-License-Identifier: Apache-2.0
"""The lowest versions of `make test-versions` are those that pyproject.toml allows."""

import re
import tomllib
from pathlib import Path

FOLDER = Path(__file__).parent


def test_the_lowest_versions_are_those_of_pyproject():
    project = tomllib.loads((FOLDER.parents[1] / "pyproject.toml").read_text())["project"]
    required = [*project["dependencies"], *project["optional-dependencies"]["frame"]]
    allowed = dict(re.fullmatch(r"([\w-]+)>=([\d.]+)", line).groups() for line in required)
    tested = dict(
        re.fullmatch(r"([\w-]+)==([\d.]+?)(?:\.\*)?", line).groups()
        for line in (FOLDER / "lowest.txt").read_text().splitlines()
        if not line.startswith("#")
    )
    # Without tqdm, which is no part of any result.
    assert tested == {name: version for name, version in allowed.items() if name != "tqdm"}
