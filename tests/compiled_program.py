# SPDX-License-Identifier: Apache-2.0
"""Parses the text of a compiled XLA program for its operations."""

import functools
import math
import re
from typing import Any

_COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) .*\{$")
_INSTRUCTION = re.compile(r"^\s*(?:ROOT )?%?[\w.\-]+ = (\(.*?\)|\S+) ([\w\-]+)\((.*)$")
_CALLED = re.compile(r"(?:calls|to_apply|body|condition)=%?([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_TWO_BRANCHES = re.compile(r"(?:true|false)_computation=%?([\w.\-]+)")
_SHAPE = re.compile(r"(\w+)\[([\d,]*)\]")
_COLLECTIVES = {
    "all-gather", "all-reduce", "all-to-all", "collective-broadcast", "collective-permute",
    "ragged-all-to-all", "reduce-scatter",
}  # fmt: skip


class CompiledProgram:
    """The computations of a program, each a list of `(result, opcode, rest of the line)`."""

    def __init__(self, text: str):
        self.computations: dict[str, list[tuple[str, str, str]]] = {}
        self.entry = ""
        instructions: list[tuple[str, str, str]] = []
        for line in text.splitlines():
            if found := _COMPUTATION.match(line):
                instructions = self.computations.setdefault(found.group(1), [])
                if line.startswith("ENTRY"):
                    self.entry = found.group(1)
            elif found := _INSTRUCTION.match(line):
                result, opcode, rest = found.groups()
                # An asynchronous operation starts and ends; it is executed once.
                instructions.append((result, opcode.removesuffix("-start"), rest))
        assert self.entry, "the text of a compiled program has an ENTRY"

    def results(self, opcode: str) -> list[tuple[str, int]]:
        """Dtype and number of elements of every array that instructions of this kind produce."""
        found = []
        for instructions in self.computations.values():
            for result, kind, _ in instructions:
                if kind == opcode:
                    for dtype, shape in _SHAPE.findall(result):
                        elements = math.prod(int(size) for size in shape.split(",") if size)
                        found.append((dtype, elements))
        return sorted(found)

    def collectives_in_control_flow(self) -> list[str]:
        """The opcodes of collectives outside the entry computation, whose order XLA:CPU keeps."""
        return sorted(
            opcode
            for name, instructions in self.computations.items()
            for _, opcode, _ in instructions
            if name != self.entry and opcode in _COLLECTIVES
        )

    def most_executed(self, opcode: str) -> int:
        """How often instructions of this kind run, whichever branches are taken.

        Raises:
            AssertionError: there is one in a loop.
        """

        @functools.cache
        def executed(computation: str) -> int:
            count = 0
            for _, kind, rest in self.computations[computation]:
                count += kind == opcode
                if kind == "conditional":
                    listed = _BRANCHES.search(rest)
                    branches = (
                        [name.strip().lstrip("%") for name in listed.group(1).split(",")]
                        if listed
                        else _TWO_BRANCHES.findall(rest)
                    )
                    assert len(branches) >= 2
                    count += max(executed(name) for name in branches)
                    continue
                called = sum(executed(name) for name in _CALLED.findall(rest))
                assert not (kind == "while" and called), f"{opcode} in a loop"
                count += called
            return count

        return executed(self.entry)


def num_signatures(function: Any) -> int:
    """The number of signatures with which a function of `tiered` was called."""
    return len(function._entries) + function._jit._cache_size()
