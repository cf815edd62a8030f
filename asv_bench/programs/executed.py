# SPDX-License-Identifier: Apache-2.0
"""What one run of a compiled program executes: static cycles, and moves of all rows."""

import math
import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from benchmarks.communication import INSTRUCTION, computations_of
from pods.program_costs import CALLED, trip_count

_SHAPE = re.compile(r"\w+\[([\d,]*)\]")
_OPERAND = re.compile(r"%([^\s,)]+)")
_MOVES = ("sort", "gather", "scatter")


class Instruction(NamedTuple):
    """An instruction: its name, opcode, type of its result, and the text of its operands."""

    name: str
    op: str
    result: str
    operands: str


class RowMoves(NamedTuple):
    """How often a program sorts, gathers and scatters all rows."""

    sorts: int
    gathers: int
    scatters: int


def most_executed(text: str, weight_of: Callable[[Instruction], float]) -> float:
    """Adds a weight of each instruction, as often as it runs.

    Args:
        text: `compiled.as_text()`.
        weight_of: the weight of one instruction, without those that it calls.

    Returns:
        The sum, with every round of a loop, and the heaviest branch of each conditional.
    """
    computations, entry = computations_of(text)
    known: dict[str, float] = {}

    def of_computation(name: str) -> float:
        if name not in known:
            known[name] = sum(map(of_line, computations.get(name, ())))
        return known[name]

    def of_line(line: str) -> float:
        found = INSTRUCTION.match(line)
        if not found:
            return 0
        op = found["op"].removesuffix("-start")
        weight = weight_of(Instruction(found["name"], op, found["type"], line[found.end() :]))
        called = [
            of_computation(name)
            for one, several in CALLED.findall(line)
            for name in re.findall(r"[^\s,%]+", one or several)
        ]
        if op == "conditional":
            return weight + max(called, default=0)
        if op in ("while", "call", "fusion", "async"):
            return weight + sum(called) * (trip_count(line, computations) if op == "while" else 1)
        return weight

    return of_computation(entry)


def cycles_of(text: str, cycles: Mapping[str, int]) -> int:
    """The cycles of one run, from those of each op."""
    return round(most_executed(text, lambda instruction: cycles.get(instruction.name, 0)))


def row_moves_of(text: str, num_rows: int) -> RowMoves:
    """Counts the sorts, gathers and scatters of at least `num_rows` rows."""
    sizes: dict[str, int] = {}
    for line in text.splitlines():
        if found := INSTRUCTION.match(line):
            sizes[found["name"]] = _size(found["type"])

    def rows_of(instruction: Instruction) -> int:
        if instruction.op == "sort":
            return _size(instruction.result)
        # Of a gather or scatter: the arrays, then the indices, then the updates.
        operands = _OPERAND.findall(instruction.operands.partition(")")[0])
        return sizes.get(operands[len(operands) // 2], 0)

    def moves(op: str) -> int:
        return round(
            most_executed(text, lambda found: found.op == op and rows_of(found) >= num_rows)
        )

    return RowMoves(*map(moves, _MOVES))


def _size(result: str) -> int:
    """The elements of an array, or of the first one of a tuple."""
    shape = _SHAPE.search(result)
    return math.prod(int(length) for length in shape[1].split(",") if length) if shape else 0
