# SPDX-License-Identifier: Apache-2.0
"""The named numbers of the packages, with the comments that give their reasons."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("primitives", "frame", "shardings")
_NAME = re.compile(r"_?[A-Z][A-Z0-9_]*")
_NUMBERS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow, ast.LShift, ast.USub)


class Threshold(NamedTuple):
    """A number with a name in upper case, at the top level of a module."""

    path: str
    name: str
    value: str
    reason: str


def thresholds() -> Iterator[Threshold]:
    """All named numbers, by file and line."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            yield from _of_file(path)


def _of_file(path: Path) -> Iterator[Threshold]:
    text = path.read_text()
    lines = text.splitlines()
    for node in ast.parse(text).body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        if len(targets) != 1 or not isinstance(node, ast.Assign) or not _is_number(node.value):
            continue
        target = targets[0]
        if isinstance(target, ast.Name) and _NAME.fullmatch(target.id):
            where = path.relative_to(ROOT).as_posix()
            value = ast.unparse(node.value)
            yield Threshold(where, target.id, value, _reason(lines, node.lineno - 1))


def _is_number(value: ast.expr) -> bool:
    """Whether an expression is written with numbers alone."""
    allowed = (ast.Constant, ast.BinOp, ast.UnaryOp, *_NUMBERS)
    nodes = list(ast.walk(value))
    constants = [node.value for node in nodes if isinstance(node, ast.Constant)]
    are_numbers = all(type(one) in (int, float) for one in constants)
    return all(isinstance(node, allowed) for node in nodes) and are_numbers


def _reason(lines: list[str], position: int) -> str:
    """The comment behind a number, or the nearest one above it in the same paragraph."""
    _, found, behind = lines[position].partition("  # ")
    if found:
        return behind
    while position and not lines[position].startswith("#"):
        position -= 1
        if not lines[position]:
            return ""
    comment = []
    while lines[position].startswith("#"):
        comment.insert(0, lines[position].removeprefix("#").strip())
        position -= 1
    return " ".join(comment)
