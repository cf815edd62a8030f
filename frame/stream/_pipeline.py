# SPDX-License-Identifier: Apache-2.0
"""A plan as a pipeline: rowwise steps run over batches, breakers merge partial states."""

from collections.abc import Callable, Iterator
from typing import Any

from ..plan._node import Call, Scan
from ..plan._relations import RELATIONS
from ._aligned import ALIGNED
from ._anti_join import anti_join_stage, is_anti_join
from ._by_key import is_transformation, keys_of, transformed
from ._groups import REDUCTIONS as MERGEABLE
from ._quantiles import QUANTILES
from ._reduction_stages import quantile_stage, reduced_column, reduced_stage
from ._reductions_first import (
    is_reduction,
    reduction_of_series,
    reductions_of,
)
from ._row_stages import (
    aligned_stage,
    column_of,
    concatenated,
    first_rows,
    mapped,
    mapped_pieces,
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

# Reads a source from a batch on, by default from the first one.
Read = Callable[..., Iterator[Any]]


def pipeline(node: Any, read: Read, batch_rows: int, steps: Steps | None = None) -> Stage:
    """Builds the pipeline of an optimised plan; nothing runs yet.

    Args:
        node: the last step.
        read: reads a source in batches.
        batch_rows: the number of rows of a batch, and of the states that stay in memory.
        steps: where rows on disk and states are; in temporary folders if None.

    Raises:
        NotImplementedError: a method cannot run over batches.
    """
    built: dict[Any, Stage] = {}
    steps = steps or Steps()

    def build(one: Any) -> Stage:
        if one not in built:
            built[one] = _stage(one, build, read, batch_rows, steps)
        return built[one]

    return build(node)


def _stage(
    node: Any,
    build: Callable[[Any], Stage],
    read: Read,
    batch_rows: int,
    steps: Steps,
) -> Stage:
    """The stage of a node, with those of its inputs made by `build`."""
    if isinstance(node, Scan):
        return Stage(lambda: read(node), False, node.empty, later=lambda first: read(node, first))
    if node.method == "concat":
        return concatenated(node, [build(child) for child in node.inputs])
    first, *others = map(build, node.inputs)
    are_whole = first.is_whole and all(other.is_whole for other in others)
    if node.method in ALIGNED and not are_whole:
        reduction = reduction_of_series(node)
        if reduction is not None:
            return _step(reduction, first, batch_rows, steps)
        return aligned_stage(node, first, others, build)
    if first.is_whole and first.pieces is not None and is_mapped(node) and not others:
        return mapped_pieces(node, first, first.pieces)
    if is_anti_join(node) and not are_whole:
        return anti_join_stage(node, build, batch_rows)
    if first.is_whole:
        return whole_stage(node, lambda: node.run(first.run(), *(one.whole() for one in others)))
    if node.method == "merge":
        return merge_stage(node, first, others[0], batch_rows, steps)
    reductions = None if is_mapped(node) else reductions_of(node)
    if reductions is not None and not is_reduction(node):
        return with_reductions(
            node, first, [(one, build(column_of(node, one))) for one in reductions]
        )
    return _step(node, first, batch_rows, steps)


def _step(node: Call, stage: Stage, batch_rows: int, steps: Steps) -> Stage:
    """A call on the batches of one input."""
    arguments, method = node.arguments, node.method
    if is_mapped(node):
        return mapped(node, stage)
    match method:
        case "dropna":
            return renumbered(node, stage)
        case "reset_index":
            return renumbered(node, stage)
        case "head" if arguments["n"] >= 0:
            return Stage(lambda: first_rows(stage.run(), arguments["n"]), False, node.empty)
        case "tail" if arguments["n"] >= 0:
            return folded(node, stage)
        case "nlargest" | "nsmallest":
            return folded(node, stage)
        case "drop_duplicates" if is_mergeable(arguments):
            return distinct(node, stage, batch_rows, steps)
        case "sort_values" if order_of(node) is not None:
            return sorted_stage(node, stage, batch_rows, steps)
        case "unique":
            rows = distinct_rows(stage, {}, batch_rows, steps, node.inputs[0])
            return whole_stage(node, lambda: node.run(joined(rows(), stage.empty)))
        case "value_counts":
            return counted(node, stage, batch_rows, steps)
        case "groupby" if is_transformation(node) and keys_of(node) is not None:
            both = two_of(steps, stage)
            return Stage(
                lambda: transformed(node, stage.batches_from, batch_rows, both), False, node.empty
            )
        case "groupby" if not is_transformation(node):
            return groups_stage(node, stage, batch_rows, steps)
        case "windows" if are_windows_streamed(node):
            return Stage(lambda: windows_of(node, stage.run()), False, node.empty)
        case "column":
            return reduced_column(node, stage, batch_rows, steps)
        case _ if method in MERGEABLE:
            return reduced_stage(node, stage, method, arguments, batch_rows, steps)
        case _ if method in QUANTILES:
            return quantile_stage(node, stage, node, arguments, batch_rows)
        case "groupby":
            raise unstreamed(f"groupby.{arguments['method']}")
        case _:
            raise unstreamed(method)


def is_mapped(node: Call) -> bool:
    """Whether a call of each batch gives the call of all rows."""
    arguments, relation = node.arguments, RELATIONS[node.method]
    match node.method:
        case "set_index":
            return not arguments.get("verify_integrity")
        case "astype" if _makes_categories(arguments["dtype"]):
            return False
        case "dropna" if arguments.get("ignore_index"):
            return False
        case _:
            return relation.rows in ("each", "drops") and relation.is_rowwise(node)


def _makes_categories(dtype: Any) -> bool:
    given = dtype.values() if isinstance(dtype, dict) else [dtype]
    return any(str(one) == "category" for one in given)
