# SPDX-License-Identifier: Apache-2.0
"""The collectives of a program compiled for TPU, and the bytes that they send."""

import re
from collections import Counter
from typing import NamedTuple

from benchmarks.communication import (
    INSTRUCTION,
    SENT_PER_RESULT_BYTE,
    TRIP_COUNT,
    computations_of,
    num_bytes,
)

CALLED = re.compile(
    r"(?:to_apply|calls|body|true_computation|false_computation)=%?([^\s,}]+)"
    r"|branch_computations=\{([^}]*)\}"
)
_CONDITION = re.compile(r"condition=%?([^\s,]+)")
_CONSTANT = re.compile(r"= [su]32\[\]\S* constant\((\d+)\)")


class Sent(NamedTuple):
    """What each chip sends in one run.

    Attributes:
        counts: collectives in the program text, by kind. One in a loop counts once. One that XLA
            joined from several counts as these.
        sent_bytes: bytes, with every round of a loop and every branch of a conditional: an upper
            bound.
    """

    counts: dict[str, int]
    sent_bytes: int


def collectives_of(text: str, num_chips: int) -> Sent:
    """Reads the collectives of a compiled program.

    Args:
        text: `compiled.as_text()`.
        num_chips: chips that the program runs on; every collective is taken to span all of them.

    Returns:
        `Sent(counts, sent_bytes)`.
    """
    computations, entry = computations_of(text)
    counts: Counter[str] = Counter()
    sent = _walk(entry, computations, num_chips, 1, counts, set())
    return Sent(dict(sorted(counts.items())), round(sent))


def _walk(
    name: str,
    computations: dict[str, list[str]],
    num_chips: int,
    rounds: int,
    counts: Counter[str],
    counted: set[str],
) -> float:
    sent = 0.0
    is_new = name not in counted
    counted.add(name)
    for line in computations.get(name, ()):
        found = INSTRUCTION.match(line)
        if not found:
            continue
        op = found["op"].removesuffix("-start")
        if op in SENT_PER_RESULT_BYTE:
            if is_new:
                counts[op] += _num_joined(line[found.end() :])
            result = found["type"]
            if op != found["op"]:
                # The result of a start holds the operand first.
                result = result[result.index(",", result.index("]")) :]
            sent += rounds * SENT_PER_RESULT_BYTE[op](num_chips) * num_bytes(result)
        elif op in ("while", "conditional", "call", "fusion", "async"):
            repeats = rounds * (trip_count(line, computations) if op == "while" else 1)
            for one, several in CALLED.findall(line):
                for called in re.findall(r"[^\s,%]+", one or several):
                    sent += _walk(called, computations, num_chips, repeats, counts, counted)
    return sent


def _num_joined(operands: str) -> int:
    """The operands of a collective, given the text after its bracket.

    XLA joins small collectives that do not wait for each other, up to a size that depends on the
    number of chips.
    """
    return operands.partition(")")[0].count("%")


def trip_count(line: str, computations: dict[str, list[str]]) -> int:
    """Rounds of a loop: those that XLA knows, or the bound that its condition compares with."""
    if known := TRIP_COUNT.search(line):
        return int(known[1])
    condition = _CONDITION.search(line)
    names = [condition[1]] if condition else []
    bounds = []
    while names:
        for inner in computations.get(names.pop(), ()):
            bounds += [int(bound) for bound in _CONSTANT.findall(inner)]
            names += [one for one, _ in CALLED.findall(inner) if one]
    return max(bounds, default=1)
