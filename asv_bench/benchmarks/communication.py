# SPDX-License-Identifier: Apache-2.0
"""Bytes that the collectives of a compiled program send, read from its HLO text.

A count of bytes does not depend on the machine, so it distinguishes two versions of a collective
even if eight devices share two cores and times are unreliable.
"""

import math
import re

_DTYPE_SHAPE = re.compile(r"\b(pred|bf16|[fsu]\d+)\[([\d,]*)\]")
_COMPUTATION = re.compile(r"^(ENTRY )?%?(\S+) \(.*\{$")
INSTRUCTION = re.compile(r"^\s+(?:ROOT )?%?(?P<name>\S+) = (?P<type>.*?) (?P<op>[a-z][a-z-]*)\(")
TRIP_COUNT = re.compile(r'"known_trip_count":\{"n":"(\d+)"\}')
_BRANCHES = re.compile(
    r"branch_computations=\{([^}]*)\}|true_computation=(\S+), false_computation=([^\s,]+)"
)
_BODY = re.compile(r"body=%?([^\s,]+)")
_CALLED = re.compile(r"(?:to_apply|calls)=%?([^\s,]+)")

# Bytes that one of p devices sends for each byte of the collective's result, on the shortest path:
# a ring for the gather and the reductions.
SENT_PER_RESULT_BYTE = {
    "all-to-all": lambda p: (p - 1) / p,
    "ragged-all-to-all": lambda p: (p - 1) / p,
    "all-gather": lambda p: (p - 1) / p,
    "all-reduce": lambda p: 2 * (p - 1) / p,
    "reduce-scatter": lambda p: p - 1,
    "collective-permute": lambda p: 1,
}


def bytes_sent(hlo_text: str, num_shards: int) -> int:
    """Counts the bytes that each device sends in one run of a compiled program.

    Every collective is taken to span all devices. Of a conditional the branch that sends most
    counts, so the answer is an upper bound; of a loop, all its rounds.

    Args:
        hlo_text: `compiled.as_text()`.
        num_shards: devices that the program runs on.

    Returns:
        Bytes sent by each device.

    Raises:
        NotImplementedError: collectives were split into a start and an end, as XLA does on GPU, or
            a loop that communicates has no known number of rounds.
    """
    computations, entry = computations_of(hlo_text)
    return round(_bytes_of(entry, computations, num_shards, {}))


def computations_of(hlo_text: str) -> tuple[dict[str, list[str]], str]:
    """The lines of each computation of a program, and the name of the first one to run."""
    computations: dict[str, list[str]] = {}
    entry = name = ""
    for line in hlo_text.splitlines():
        header = _COMPUTATION.match(line)
        if header:
            name = header[2]
            computations[name] = []
            entry = name if header[1] else entry
        elif name:
            computations[name].append(line)
    return computations, entry


def _bytes_of(
    name: str, computations: dict[str, list[str]], num_shards: int, known: dict[str, float]
) -> float:
    if name not in known:
        known[name] = sum(
            _bytes_of_line(line, computations, num_shards, known) for line in computations[name]
        )
    return known[name]


def _bytes_of_line(
    line: str, computations: dict[str, list[str]], num_shards: int, known: dict[str, float]
) -> float:
    instruction = INSTRUCTION.match(line)
    if not instruction:
        return 0

    def bytes_of(computation: str) -> float:
        return _bytes_of(computation.strip(" %,"), computations, num_shards, known)

    op = instruction["op"]
    if op in SENT_PER_RESULT_BYTE:
        return SENT_PER_RESULT_BYTE[op](num_shards) * num_bytes(instruction["type"])
    if op.removesuffix("-start") in SENT_PER_RESULT_BYTE:
        raise NotImplementedError(f"bytes_sent: collectives must be whole, got {op}.")
    if op == "conditional":
        branches = _BRANCHES.search(line)
        assert branches is not None, line
        names = branches[1].split(",") if branches[1] else [branches[2], branches[3]]
        return max(bytes_of(name) for name in names)
    if op == "while":
        sent = bytes_of(_BODY.search(line)[1])
        rounds = TRIP_COUNT.search(line)
        if sent and not rounds:
            raise NotImplementedError(
                "bytes_sent: a loop that communicates must have a known number of rounds."
            )
        return sent * int(rounds[1]) if sent else 0
    return sum(bytes_of(name) for name in _CALLED.findall(line))


def num_bytes(hlo_type: str) -> int:
    """Bytes of an array type, or of all arrays of a tuple type."""
    total = 0
    for dtype, shape in _DTYPE_SHAPE.findall(hlo_type):
        bits = {"pred": 8, "bf16": 16}.get(dtype) or int(dtype[1:])
        total += math.prod(int(length) for length in shape.split(",") if length) * bits // 8
    return total
