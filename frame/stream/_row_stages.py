# SPDX-License-Identifier: Apache-2.0
"""Stages of rows: each batch by itself, or beside those of another input."""

from collections.abc import Callable, Iterator
from typing import Any

from ..plan._expression import Expression
from ..plan._node import Call
from ._merge import JoinSteps, check_keys, is_streamed, merged
from ._reductions_first import (
    is_value,
    with_values,
)
from ._stage import Stage, applied, close, each, joined, numbered, unstreamed, whole_stage
from ._steps import Steps


def mapped(node: Call, stage: Stage) -> Stage:
    """A rowwise call of each batch, or of a whole result and its pieces."""
    return applied(node.run, stage, node.empty)


def renumbered(node: Call, stage: Stage) -> Stage:
    """A rowwise call of each batch, with new row labels 0, 1, ..."""
    return Stage(lambda: numbered(each(node.run, stage.run())), False, node.empty)


def first_rows(batches: Iterator[Any], num_rows: int) -> Iterator[Any]:
    """The first rows; later batches are not read."""
    left = num_rows
    try:
        for batch in batches:
            yield batch.head(left)
            left -= len(batch)
            if left <= 0:
                return
    finally:
        close(batches)


def concatenated(node: Call, stages: list[Stage]) -> Stage:
    """The batches of one input after those of another, with the columns of all."""
    if all(stage.is_whole for stage in stages):
        return whole_stage(node, lambda: node.run(*(stage.run() for stage in stages)))

    def run() -> Iterator[Any]:
        for position, stage in enumerate(stages):
            for batch in stage.batches():
                # Inputs without rows give the batch the common columns and dtypes.
                parts = [one.empty for one in stages]
                parts[position] = batch
                yield node.run(*parts)

    if node.arguments.get("ignore_index"):
        return Stage(lambda: numbered(run()), False, node.empty)
    return Stage(run, False, node.empty)


def merge_stage(node: Call, left: Stage, right: Stage, batch_rows: int, steps: Steps) -> Stage:
    """Joins two streams."""
    if not is_streamed(node):
        raise unstreamed(f"merge(how={node.arguments.get('how', 'inner')!r})")

    check_keys(node)
    layout = node.empty._layout
    steps_of_join = JoinSteps(*(steps.following(layout) for _ in range(3)))

    def run(in_order: bool = True) -> Iterator[Any]:
        sides = left.batches_from, right.batches_from
        rows = merged(node, *sides, batch_rows, joined, steps_of_join, in_order=in_order)
        return numbered(rows)

    return Stage(run, False, node.empty, unordered=lambda: run(in_order=False))


def column_of(node: Call, expression: Expression) -> Call:
    return Call.of("column", node.inputs, {"expression": expression})


def with_reductions(node: Call, stage: Stage, reductions: list[tuple[Expression, Stage]]) -> Stage:
    """A call of expressions with reductions over all rows: a pass for each, then one over rows."""

    def call() -> Callable[[Any], Any]:
        return with_values(node, {id(one): reduced.whole() for one, reduced in reductions})

    if is_value(node):
        return whole_stage(node, lambda: call()(stage.empty))
    return Stage(lambda: each(call(), stage.run()), False, node.empty)
