# SPDX-License-Identifier: Apache-2.0
"""The stage that runs a plan over batches, in the dtypes of all rows.

Where values decide dtypes, a first pass over the rows finds them.
"""

import contextlib
import dataclasses
import functools
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from ..plan._declared import dtype_names
from ..plan._declaring import declared, joins_objects
from ..plan._node import Call, Node, Scan, in_order
from ..plan._optimize import optimized
from ..plan._run import run
from ..plan._sources import Memory
from ..plan._value_dtypes import needs_all_rows
from ._groups_in_range import rows_in_place
from ._limits import row_bytes_of, rows_of_batches
from ._pipeline import pipeline
from ._progress import with_progress
from ._reader import batches_of, can_stream, check_sources
from ._stage import Stage, unstreamed
from ._stage_dtypes import common_dtypes, in_declared_dtypes
from ._steps import Steps

# The rows of a batch of the first pass for a schema.
SCHEMA_ROWS = 1 << 20


def stage_of(
    plan: Node,
    optimizations: Mapping[str, bool] | None,
    *,
    batch_rows: object = None,
    memory_limit: object = None,
    progress: bool | None = None,
    steps: Steps | None = None,
    is_collected: bool = False,
) -> Stage:
    """The pipeline of a plan, with batches of a size; see `pipeline`.

    Where values decide dtypes, a first pass over the rows finds those of all rows; see `declared`.
    """
    check_sources(plan)
    last_join = _last_join(plan) if is_collected else None
    every_column = not dict(optimizations or {}).get("projection_pushdown", True)
    known = with_dtypes_of_all_rows(
        plan, batch_rows, memory_limit, every_column=every_column, leaving=last_join
    )
    stage = _declared_stage(known, optimizations, batch_rows, memory_limit, progress, steps)
    if last_join is None:
        return in_declared_dtypes(stage)
    # Of the others the batches tell the dtypes together.
    narrow, widest = dtype_names(known.narrow), dtype_names(known.empty)
    settled = {label: name for label, name in narrow.items() if widest.get(label) == name}
    return in_declared_dtypes(dataclasses.replace(stage, empty=known.narrow), settled)


def with_dtypes_of_all_rows(
    plan: Node, batch_rows: object, memory_limit: object, **options: Any
) -> Node:
    """The plan whose steps give each batch the dtypes of all rows; see `declared`."""

    def find(part: Node) -> Mapping[Any, str]:
        # The steps of a part are declared already.
        if needs_all_rows(part):
            return dtype_names(run(optimized(part, None)))
        return _found_over_batches(part, batch_rows, memory_limit)

    return declared(plan, find, **options)


def _last_join(plan: Node) -> Node | None:
    """A join after which columns are only selected and renamed.

    The batches of its result are concatenated, which gives their dtypes without a first pass.
    """
    while isinstance(plan, Call) and plan.method in ("select", "rename"):
        (plan,) = plan.inputs
    if isinstance(plan, Call) and plan.method == "merge" and not joins_objects(plan):
        return plan
    return None


_without_rows: weakref.WeakKeyDictionary[Node, Any] = weakref.WeakKeyDictionary()


def without_rows(plan: Node) -> Any:
    """The result of a plan without its rows, in its dtypes.

    Steps that take dtypes from values run for this, once for a plan.
    """
    if plan not in _without_rows:
        known = declared(plan, _found_at_once_or_over_batches, every_step=True)
        _without_rows[plan] = known.empty
    return _without_rows[plan]


def _found_at_once_or_over_batches(part: Node) -> Mapping[Any, str]:
    in_memory = all(isinstance(scan.source, Memory) for scan in scans_of(part))
    if not in_memory and not needs_all_rows(part):
        with contextlib.suppress(NotImplementedError):
            return _found_over_batches(part, SCHEMA_ROWS, None)
    return dtype_names(run(optimized(part, None)))


def _found_over_batches(part: Node, batch_rows: object, memory_limit: object) -> Mapping[Any, str]:
    def batches(plan: Node) -> Stage:
        return _declared_stage(plan, None, batch_rows, memory_limit, False, None)

    def without_rows() -> Any:
        if not isinstance(part, Call) or not joins_objects(part):
            return part.narrow
        # Its dtypes depend on which sides have rows.
        firsts = [Call.of("head", (side,), {"n": 1}) for side in part.inputs]
        return part.result_of(
            [max(batches(first).batches(), key=len, default=first.narrow) for first in firsts]
        )

    return common_dtypes(batches(part), without_rows)


def _declared_stage(
    plan: Node,
    optimizations: Mapping[str, bool] | None,
    batch_rows: object,
    memory_limit: object,
    progress: bool | None,
    steps: Steps | None,
) -> Stage:
    """The pipeline of a plan whose steps give each batch the dtypes of all rows."""
    root = optimized(plan, optimizations)
    scans = scans_of(root)
    if not all(map(can_stream, scans)):
        raise unstreamed("scan_parquet over several processes")
    num_rows = rows_of_batches(scans, batch_rows, memory_limit)

    def read(scan: Scan, first: int = 0) -> Iterator[Any]:
        breaker = _breaker_above(scan, root)
        name = " > ".join([scan.source.text(), *([] if breaker is None else [_name_of(breaker)])])
        size = num_rows
        if batch_rows is None and breaker is not None:
            size = rows_in_place(breaker, scan, num_rows)
        row_bytes = row_bytes_of(scan.empty)
        total = functools.partial(_rows_left, scan, first * size)
        return with_progress(batches_of(scan, size, first), name, progress, row_bytes, total)

    return pipeline(root, read, num_rows, steps)


def _rows_left(scan: Scan, first: int) -> int | None:
    """The number of rows from a position on, unless rows of the source may be left out."""
    if scan.predicate is not None or scan.limit is not None:
        return None
    num_rows = scan.source.num_rows
    return None if num_rows is None else num_rows - first


def _breaker_above(scan: Scan, root: object) -> Call | None:
    """The first step above a source that takes all of its rows, if there is one."""
    below: set[int] = {id(scan)}
    for node in in_order(root):
        if not below & {id(child) for child in node.inputs}:
            continue
        if isinstance(node, Call) and not node.is_mapped:
            return node
        below.add(id(node))
    return None


def _name_of(call: Call) -> str:
    return str(call.arguments["expression"].function) if call.method == "column" else call.title


def scans_of(root: object) -> list[Scan]:
    """The sources of a plan."""
    return [node for node in in_order(root) if isinstance(node, Scan)]
