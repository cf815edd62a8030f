# SPDX-License-Identifier: Apache-2.0
"""Series of one plan's rows that are combined: each batch of the rows is computed with once.

A mask of a semi-join, or a share of a group's sum, has a row for each row of the plan that it is
made of. The steps between that plan and the result run batch by batch.
"""

from collections.abc import Callable, Iterator
from typing import Any

from ..plan._methods import GROUP_TRANSFORMATIONS, looks_up
from ..plan._node import Call, Node
from ..plan._relation import Slot
from ..plan._relations import RELATIONS, calls_each_row
from ..table._ndframe import NDFrame
from ..table._types import Function
from ._reductions_first import reductions_of
from ._taken import Taken


def aligned(node: Call, build: Function) -> Callable[[], Iterator[Any]] | None:
    """The batches of a call whose inputs have the rows of one plan; None if they have not.

    Args:
        node: a call of several series or frames.
        build: makes the stage of a node.
    """
    base = _common([_bases(child) for child in _row_inputs(node)])
    if base is None:
        return None
    steps, wholes, streams = _steps(node, base)
    source = build(base)
    whole_stages = {one: build(one) for one in wholes}
    stream_stages = {one: build(one) for one in streams}

    def run() -> Iterator[Any]:
        values = {one: stage.whole() for one, stage in whole_stages.items()}
        pieces = {one: Taken(stage.batches(), stage.empty) for one, stage in stream_stages.items()}
        batches = source.batches()
        try:
            for batch in batches:
                rows = {one: stream.rows(len(batch)) for one, stream in pieces.items()}
                found = {**values, **rows, base: batch}
                for step in steps:
                    found[step] = step.run(*(found[child] for child in step.inputs))
                yield found[node]
        finally:
            iterators: list[Any] = [batches, *(stream.batches for stream in pieces.values())]
            for iterator in iterators:
                if hasattr(iterator, "close"):
                    iterator.close()

    return run


def _row_inputs(node: Node) -> tuple[Any, ...]:
    """The inputs with a row for each row of a call; of a filter, for each row before it."""
    if not isinstance(node, Call):
        return ()
    if node.method in ("filter_by", "set"):
        return node.inputs
    if node.method == "apply":
        if not calls_each_row(node):
            return ()
        arguments = node.arguments
        values = [*arguments["operands"], *arguments["keywords"].values()]
        if looks_up(arguments["function"]):
            values = values[:1]
        inputs = [node.inputs[one.position] for one in values if isinstance(one, Slot)]
        return tuple(one for one in inputs if isinstance(one.empty, NDFrame))
    relation = RELATIONS[node.method]
    if relation.rows != "each" or not relation.keeps_labels(node):
        return ()
    is_each = relation.is_rowwise(node) or reductions_of(node) is not None
    return node.inputs if is_each else ()


def _is_stream(node: Node) -> bool:
    """Whether a step has the rows of its input, but needs several of them for each."""
    if not isinstance(node, Call) or not isinstance(node.empty, NDFrame):
        return False
    if node.method == "groupby":
        return node.arguments["method"] in GROUP_TRANSFORMATIONS - {"head", "tail"}
    return node.method == "windows" or (node.method == "column" and not _is_rowwise(node))


def _is_rowwise(node: Call) -> bool:
    return RELATIONS[node.method].is_rowwise(node)


def _bases(node: Node) -> list[Any]:
    """The nodes whose rows are those of a node, the node itself first."""
    if isinstance(node, Call) and node.method == "filter_by":
        return [node]
    inputs = node.inputs[:1] if _is_stream(node) else _row_inputs(node)
    if not inputs:
        return [node]
    lists = [_bases(child) for child in inputs]
    return [node, *(one for one in lists[0] if all(one in other for other in lists[1:]))]


def _common(lists: list[list[object]]) -> Any:
    """The first node that is in all lists."""
    if not lists:
        return None
    first, *others = lists
    return next((one for one in first if all(one in other for other in others)), None)


def _steps(node: Call, base: object) -> tuple[list[Any], list[Any], list[Any]]:
    """What runs for each batch, in order; what is needed whole; and what is read beside it."""
    steps: list[Any] = []
    wholes: list[Any] = []
    streams: list[Any] = []

    def visit(one: Any, is_row: bool) -> None:
        if one == base or any(one in known for known in (steps, wholes, streams)):
            return
        if not is_row or base not in _bases(one):
            wholes.append(one)
        elif _is_stream(one) or not _is_plain(one):
            streams.append(one)
        else:
            follow(one)

    def follow(one: Call) -> None:
        rows = _row_inputs(one)
        for child in one.inputs:
            visit(child, child in rows)
        steps.append(one)

    follow(node)
    return steps, wholes, streams


def _is_plain(node: Call) -> bool:
    """Whether a step runs on a batch as it is, without reductions over all rows."""
    return RELATIONS[node.method].streams == "aligns" or _is_rowwise(node)
