# SPDX-License-Identifier: Apache-2.0
"""Reductions of several columns that run in step.

A reduction is a generator. It yields requests for reductions by segment, gets their results, and
returns its own. Reductions in step make their requests together, so that those of one op are one
call of `primitives.segment_reduce`: over a mesh one message, where each column would send its own.
"""

from collections.abc import Generator, Iterable
from typing import Any, NamedTuple

from ..table._column import Array
from ._grouped_column import Segments


class Request(NamedTuple):
    """A reduction of rows by segment: the arguments of `Segments.reduce`.

    Two requests for one array, the same object, are answered by one reduction.
    """

    op: str
    x: Array | None
    ids: Array
    ddof: int = 0
    fill_value: Any = None

    @property
    def kind(self) -> tuple[Any, ...]:
        """What requests of one call have in common."""
        return self.op, id(self.ids), self.ddof, repr(self.fill_value)


Reducing = Generator[Request, Any, Any]


def in_step(reductions: Iterable[Reducing], segments: Segments) -> list[Any]:
    """The results of reductions that make their requests together. Traced."""
    running = dict(enumerate(reductions))
    results: list[Any] = [None] * len(running)
    answers: dict[int, Any] = dict.fromkeys(running)
    while running:
        requests = {}
        for number, reduction in list(running.items()):
            try:
                requests[number] = reduction.send(answers[number])
            except StopIteration as end:
                results[number] = end.value
                del running[number]
        answers = _answered(requests, segments)
    return results


def _answered(requests: dict[int, Request], segments: Segments) -> dict[int, Any]:
    of_kind: dict[tuple[Any, ...], list[Request]] = {}
    for request in requests.values():
        of_kind.setdefault(request.kind, []).append(request)
    answers: dict[Any, Any] = {}
    for alike in of_kind.values():
        op, _, ids, ddof, fill_value = alike[0]
        # A list: an array's identity in the structure of the arguments would be traced anew.
        rows = list({id(one.x): one.x for one in alike}.values())
        reduced = segments.reduce(
            op, None if op == "count" else rows, ids, ddof=ddof, fill_value=fill_value
        )
        results = [reduced] if op == "count" else reduced
        answers |= {
            (*alike[0].kind, id(x)): result for x, result in zip(rows, results, strict=True)
        }
    return {number: answers[(*one.kind, id(one.x))] for number, one in requests.items()}
