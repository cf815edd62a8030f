# SPDX-License-Identifier: Apache-2.0
"""Operators over batches: each makes the stage of a call, or tells that it cannot stream it."""

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from ..plan._node import Call
from ..plan._relation import Streams
from ..plan._relations import RELATIONS
from ._aligned import aligned
from ._anti_join import anti_join_stage, is_anti_join
from ._by_key import is_transformation, keys_of, transformed
from ._groups import REDUCTIONS as MERGEABLE
from ._quantiles import QUANTILES
from ._reduction_stages import quantile_stage, reduced_column, reduced_stage
from ._reductions_first import is_reduction, reduction_of_series, reductions_of
from ._row_stages import (
    column_of,
    concatenated,
    first_rows,
    mapped,
    merge_stage,
    renumbered,
    with_reductions,
)
from ._stage import Stage, joined, unstreamed, whole_stage
from ._state_stages import (
    counted,
    distinct,
    distinct_rows,
    folded,
    groups_stage,
    is_mergeable,
    order_of,
    sorted_stage,
    two_of,
)
from ._steps import Steps
from ._windows import are_windows_streamed, windows_of


@dataclasses.dataclass(frozen=True)
class Inputs:
    """A call over batches, and what its stage is made of.

    Attributes:
        node: the call.
        build: makes the stage of another node of the plan.
        batch_rows: the number of rows of a batch, and of the states that stay in memory.
        steps: where rows on disk and states are.
    """

    node: Call
    build: Callable[[Any], Stage]
    batch_rows: int
    steps: Steps

    @functools.cached_property
    def stages(self) -> list[Stage]:
        """The stages of the inputs."""
        return [self.build(child) for child in self.node.inputs]

    @property
    def first(self) -> Stage:
        """The stage of the first input."""
        return self.stages[0]

    @property
    def are_whole(self) -> bool:
        """Whether all inputs are there at once."""
        return all(stage.is_whole for stage in self.stages)

    @property
    def arguments(self) -> Mapping[str, Any]:
        """The arguments of the call."""
        return self.node.arguments


# The stage of a call; None if the operator cannot stream it.
Operator: TypeAlias = Callable[[Inputs], Stage | None]


# Operators of any method.


def at_once(call: Inputs) -> Stage | None:
    """The first input is there at once, such as the result of groups: so are the others."""
    node, first = call.node, call.first
    if not first.is_whole:
        return None
    others = call.stages[1:]
    if first.pieces is not None and node.is_mapped and not others:
        return mapped(node, first)
    return whole_stage(node, lambda: node.run(first.run(), *(one.whole() for one in others)))


def each_batch(call: Inputs) -> Stage | None:
    """The method of each batch, once the values of reductions within it are known."""
    node, first = call.node, call.first
    if node.is_mapped:
        return mapped(node, first)
    reductions = reductions_of(node)
    if reductions is None or is_reduction(node):
        return None
    passes = [(one, call.build(column_of(node, one))) for one in reductions]
    return with_reductions(node, first, passes)


# Operators of one input.


def _renumbered(call: Inputs) -> Stage:
    return renumbered(call.node, call.first)


def _first(call: Inputs) -> Stage | None:
    node, first, num_rows = call.node, call.first, call.arguments["n"]
    if num_rows < 0:
        return None
    return Stage(lambda: first_rows(first.run(), num_rows), False, node.empty)


def _folded(call: Inputs) -> Stage | None:
    is_cut = call.node.method == "tail" and call.arguments["n"] < 0
    return None if is_cut else folded(call.node, call.first)


def _distinct(call: Inputs) -> Stage | None:
    if not is_mergeable(call.node.arguments):
        return None
    return distinct(call.node, call.first, call.batch_rows, call.steps)


def _unique(call: Inputs) -> Stage:
    node, first = call.node, call.first
    rows = distinct_rows(first, {}, call.batch_rows, call.steps, node.inputs[0])
    return whole_stage(node, lambda: node.run(joined(rows(), first.empty)))


def _sorted(call: Inputs) -> Stage | None:
    if order_of(call.node) is None:
        return None
    return sorted_stage(call.node, call.first, call.batch_rows, call.steps)


def _counted(call: Inputs) -> Stage:
    return counted(call.node, call.first, call.batch_rows, call.steps)


def _transformed(call: Inputs) -> Stage | None:
    node, first = call.node, call.first
    if not is_transformation(node) or keys_of(node) is None:
        return None
    both = two_of(call.steps, first)
    return Stage(
        lambda: transformed(node, first.batches_from, call.batch_rows, both), False, node.empty
    )


def _grouped(call: Inputs) -> Stage | None:
    if is_transformation(call.node):
        return None
    return groups_stage(call.node, call.first, call.batch_rows, call.steps)


def _windows(call: Inputs) -> Stage | None:
    if not are_windows_streamed(call.node):
        return None
    return Stage(lambda: windows_of(call.node, call.first.run()), False, call.node.empty)


def _reduced(call: Inputs) -> Stage | None:
    """A reduction of an expression, or of each column."""
    node, first, batch_rows = call.node, call.first, call.batch_rows
    if node.method == "column":
        return reduced_column(node, first, batch_rows, call.steps)
    if node.method in MERGEABLE:
        return reduced_stage(node, first, node.method, node.arguments, batch_rows, call.steps)
    if node.method in QUANTILES:
        return quantile_stage(node, first, node, node.arguments, batch_rows)
    return None


# Operators of several inputs.


def _aligned(call: Inputs) -> Stage | None:
    """Series of one plan's rows; or a reduction of a series, recorded as a function of it."""
    if call.are_whole:
        return None
    reduction = reduction_of_series(call.node)
    if reduction is not None:
        return stage_of_call(dataclasses.replace(call, node=reduction))
    run = aligned(call.node, call.build)
    return None if run is None else Stage(run, False, call.node.empty)


def _anti_joined(call: Inputs) -> Stage | None:
    if call.are_whole or not is_anti_join(call.node):
        return None
    return anti_join_stage(call.node, call.build, call.batch_rows)


def _joined(call: Inputs) -> Stage:
    left, right = call.stages
    return merge_stage(call.node, left, right, call.batch_rows, call.steps)


def _appended(call: Inputs) -> Stage:
    return concatenated(call.node, call.stages)


def _of_rows(*operators: Operator) -> tuple[Operator, ...]:
    """The operators of a method of one input."""
    return at_once, each_batch, *operators


# For each way of running over batches, the operators to try in order.
OPERATORS: Mapping[Streams, tuple[Operator, ...]] = {
    "each": _of_rows(),
    "renumbers": _of_rows(_renumbered),
    "first": _of_rows(_first),
    "folds": _of_rows(_folded),
    "distinct": _of_rows(_distinct),
    "unique": _of_rows(_unique),
    "sorts": _of_rows(_sorted),
    "counts": _of_rows(_counted),
    "groups": _of_rows(_transformed, _grouped),
    "windows": _of_rows(_windows),
    "reduces": _of_rows(_reduced),
    "aligns": (_aligned, at_once),
    "joins": (_anti_joined, at_once, _joined),
    "appends": (_appended,),
}


def stage_of_call(call: Inputs) -> Stage:
    """The stage of a call, by the first operator that can stream it.

    Raises:
        NotImplementedError: none can.
    """
    node = call.node
    for operator in OPERATORS[RELATIONS[node.method].streams]:
        stage = operator(call)
        if stage is not None:
            return stage
    raise unstreamed(node.title)
