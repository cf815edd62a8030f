# SPDX-License-Identifier: Apache-2.0
"""Collectives of a compiled program, counted in its text."""

import collections
import math
import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

KINDS = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "ragged-all-to-all",
    "reduce-scatter",
)

_COMPUTATION = re.compile(r"^(ENTRY )?%?([\w.\-]+) .*\{$")
_INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?[\w.\-]+ = (\(.*?\)|\S+) ([\w\-]+)\((.*)$")
_CALLED = re.compile(r"(?:calls|to_apply)=%?([\w.\-]+)")
_BODY = re.compile(r"body=%?([\w.\-]+)")
_BRANCHES = re.compile(r"branch_computations=\{([^}]*)\}")
_TWO_BRANCHES = re.compile(r"(?:true|false)_computation=%?([\w.\-]+)")
_TRIP_COUNT = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_ARRAY = re.compile(r"\b(pred|[a-z]+(\d+)\w*)\[([\d,]*)\]")


class Collectives(NamedTuple):
    """Collectives of one kind in one run of a program.

    Attributes:
        count: how often a device takes part in one.
        bytes: bytes of the results on a device, over all of them.
    """

    count: int
    bytes: int


# Count and bytes by kind.
_Totals: TypeAlias = collections.Counter[tuple[str, str]]


def collectives_in(hlo_text: str) -> dict[str, Collectives]:
    """Counts the collectives that a device runs, by kind.

    Rounds of a loop count each; a loop of unknown length counts one round. Of the branches of a
    conditional the one with most counts, for each kind.
    """
    computations, entry = _computations(hlo_text)
    known: dict[str, _Totals] = {}

    def totals_of(computation: str) -> _Totals:
        if computation not in known:
            known[computation] = collections.Counter()
            for result, opcode, rest in computations.get(computation, ()):
                known[computation] += _totals(result, opcode, rest, totals_of)
        return known[computation]

    totals = totals_of(entry)
    return {
        kind: Collectives(totals[kind, "count"], totals[kind, "bytes"])
        for kind in KINDS
        if totals[kind, "count"]
    }


def _computations(hlo_text: str) -> tuple[dict[str, list[tuple[str, str, str]]], str]:
    """The instructions of each computation, and the name of the first one to run."""
    computations: dict[str, list[tuple[str, str, str]]] = {}
    entry = name = ""
    for line in hlo_text.splitlines():
        if header := _COMPUTATION.match(line):
            name = header[2]
            computations[name] = []
            entry = name if header[1] else entry
        elif instruction := _INSTRUCTION.match(line):
            result, opcode, rest = instruction.groups()
            computations[name].append((result, opcode, rest))
    return computations, entry


def _totals(result: str, opcode: str, rest: str, totals_of: Callable[[str], _Totals]) -> _Totals:
    """What one instruction adds."""
    # The start of an asynchronous collective also lists its operands; the end has the result.
    kind = opcode.removesuffix("-done")
    if kind in KINDS:
        return collections.Counter({(kind, "count"): 1, (kind, "bytes"): _num_bytes(result)})
    if opcode in ("async-update", "async-done"):
        return collections.Counter()
    if opcode == "conditional":
        listed = _BRANCHES.search(rest)
        names = re.findall(r"[\w.\-]+", listed[1]) if listed else _TWO_BRANCHES.findall(rest)
        most: _Totals = collections.Counter()
        for name in names:
            most |= totals_of(name)
        return most
    if opcode == "while":
        rounds = _TRIP_COUNT.search(rest)
        times = int(rounds[1]) if rounds else 1
        body = _BODY.search(rest)
        once = totals_of(body[1]) if body else collections.Counter()
        return collections.Counter({key: times * number for key, number in once.items()})
    added: _Totals = collections.Counter()
    for name in _CALLED.findall(rest):
        added += totals_of(name)
    return added


def _num_bytes(hlo_type: str) -> int:
    """Bytes of an array type, or of all arrays of a tuple type."""
    total_bits = 0
    for dtype, width, shape in _ARRAY.findall(hlo_type):
        bits = 8 if dtype == "pred" else int(width)
        total_bits += bits * math.prod(int(length) for length in shape.split(",") if length)
    return total_bits // 8
