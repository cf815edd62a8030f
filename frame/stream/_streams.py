# SPDX-License-Identifier: Apache-2.0
"""Runs plans over batches: what `collect(batch_rows=)` and the sinks call."""

import contextlib
import dataclasses
import importlib
import os
import weakref
from collections.abc import Iterator, Mapping
from typing import Any

from ..io._own_rows import spans_processes
from ..plan._declared import dtype_names
from ..plan._declaring import declared
from ..plan._node import Call, Node, Scan
from ..plan._optimize import optimized
from ..plan._run import in_order, run
from ..plan._sources import Memory
from ..plan._value_dtypes import needs_all_rows
from ._checkpoint import Checkpoint
from ._groups_in_range import rows_in_place
from ._job import job_of
from ._limits import row_bytes_of, rows_of_batches
from ._pipeline import is_mapped, pipeline
from ._progress import with_progress
from ._reader import batches_of, can_stream, check_sources
from ._sinks import write_csv, write_parquet
from ._stage import Stage, unstreamed
from ._stage_dtypes import common_dtypes, in_declared_dtypes
from ._steps import Steps
from ._training import Batches, Recipe, limited, recipe_of

# The rows of a batch of the first pass for a schema.
SCHEMA_ROWS = 1 << 20


def collect(
    plan: Node, optimizations: Mapping[str, bool] | None, *, checkpoint: Any = None, **limits: Any
) -> Any:
    """Runs a plan over batches and returns the whole result."""
    with running("collect", plan, optimizations, checkpoint, {}, limits) as stage:
        return stage.whole()


def to_parquet(
    plan: Node, path: Any, options: Mapping[str, Any], *, checkpoint: Any = None, **limits: Any
) -> None:
    """Runs a plan, at once or over batches, and writes Parquet files."""
    if is_limited(limits) or checkpoint is not None:
        target = {"path": path, **options}
        with running("to_parquet", plan, None, checkpoint, target, limits) as stage:
            write_parquet(stage, path, **options)
        return
    root = optimized(plan, None)
    if hasattr(path, "write") or spans_processes(root.empty._layout):
        run(root).to_parquet(path, **options)
        return
    write_parquet(Stage(lambda: run(root), True, root.empty), path, **options)


def to_csv(
    plan: Node, path: Any, options: Mapping[str, Any], *, checkpoint: Any = None, **limits: Any
) -> None:
    """Runs a plan over batches and writes each to a file of comma-separated values."""
    target = {"path": path, **options}
    with running("to_csv", plan, None, checkpoint, target, limits) as stage:
        write_csv(stage, path, **options)


@contextlib.contextmanager
def running(
    caller: str,
    plan: Node,
    optimizations: Mapping[str, bool] | None,
    checkpoint: Any,
    options: Mapping[str, Any],
    limits: Mapping[str, Any],
) -> Iterator[Stage]:
    """The pipeline of a plan, which goes on from a checkpoint if a folder for one is given.

    The folder is removed when the job is done.
    """
    is_collected = caller == "collect"
    if checkpoint is None:
        yield stage_of(plan, optimizations, **limits, is_collected=is_collected)
        return
    if not is_limited(limits):
        raise ValueError(
            f"{caller}: checkpoint= is for plans over batches. Give batch_rows= or memory_limit=."
        )
    check_sources(plan)
    root = optimized(plan, optimizations)
    num_rows = rows_of_batches(
        _scans_of(root), limits.get("batch_rows"), limits.get("memory_limit")
    )
    given = {**options, "call": caller, "batch_rows": num_rows, **dict(optimizations or {})}
    if isinstance(options.get("path"), (str, os.PathLike)):
        given["path"] = os.path.abspath(options["path"])
    with Checkpoint(checkpoint, job_of(plan, root, given)) as saved:
        stage = stage_of(
            plan, optimizations, steps=saved.steps, **limits, is_collected=is_collected
        )
        yield saved.resumed(stage)


def batches(
    plan: Node, size: int, *, state: Any, memory_limit: Any = None, **options: Any
) -> Batches:
    """The batches of a plan, from the start or from a state.

    Raises:
        ValueError: an argument is not positive, or the state is one of another plan.
    """
    recipe = limited(recipe_of("batches", plan, size, **options), memory_limit)
    return Batches(_in_dtypes_of_all_rows(recipe), state)


def to_grain(plan: Node, size: int, *, random_access: bool, **options: Any) -> Any:
    """A dataset of the library grain over the batches of a plan."""
    recipe = recipe_of(
        "to_grain", plan, size, batch_rows=options.pop("batch_rows"), sharding=None, **options
    )
    datasets = _grain()
    if not random_access:
        return datasets.PlanIterDataset(_in_dtypes_of_all_rows(recipe))
    if (recipe.shuffle_buffer, recipe.seed, recipe.epochs) != (None, 0, 1):
        raise ValueError(
            "to_grain: shuffle_buffer=, seed= and epochs= are for streams. Call shuffle(seed) and "
            "repeat() of the dataset."
        )
    known = _in_dtypes_of_all_rows(recipe)
    return datasets.PlanMapDataset(known.plan, size, recipe.drop_remainder)


def _in_dtypes_of_all_rows(recipe: Recipe) -> Recipe:
    """The recipe whose batches have the dtypes of all rows; reads the rows if values decide them.

    A plan that cannot run over batches is collected before it is cut, so it has them already.
    """
    check_sources(recipe.plan)
    with contextlib.suppress(NotImplementedError):
        return dataclasses.replace(recipe, plan=_declared(recipe.plan, recipe.chunk_rows, None))
    return recipe


def _grain() -> Any:
    """The module of datasets, or an error that names the extra."""
    try:
        # Heavy, and optional.
        return importlib.import_module("._grain", __package__)
    except ImportError as error:
        if (error.name or "").split(".")[0] != "grain":
            raise
        raise ImportError(
            "to_grain: needs the library grain, which is not installed. "
            "pip install 'jaxframes[grain]'"
        ) from error


def is_limited(limits: Mapping[str, Any]) -> bool:
    """Whether a plan runs over batches."""
    return limits.get("batch_rows") is not None or limits.get("memory_limit") is not None


def stage_of(
    plan: Node,
    optimizations: Mapping[str, bool] | None,
    *,
    batch_rows: Any = None,
    memory_limit: Any = None,
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
    known = _declared(plan, batch_rows, memory_limit, every_column=every_column, leaving=last_join)
    stage = _declared_stage(known, optimizations, batch_rows, memory_limit, progress, steps)
    if last_join is None:
        return in_declared_dtypes(stage)
    # Of the others the batches tell the dtypes together.
    narrow, widest = dtype_names(known.narrow), dtype_names(known.empty)
    settled = {label: name for label, name in narrow.items() if widest.get(label) == name}
    return in_declared_dtypes(dataclasses.replace(stage, empty=known.narrow), settled)


def _declared(plan: Node, batch_rows: Any, memory_limit: Any, **options: Any) -> Node:
    """The plan whose steps give each batch the dtypes of all rows; see `declared`."""

    def find(part: Node) -> Mapping[Any, str]:
        # The steps of a part are declared already.
        if needs_all_rows(part):
            return dtype_names(run(optimized(part, None)))
        stage = _declared_stage(part, None, batch_rows, memory_limit, False, None)
        return common_dtypes(stage, part.narrow)

    return declared(plan, find, **options)


def _last_join(plan: Node) -> Node | None:
    """A join after which columns are only selected and renamed.

    The batches of its result are concatenated, which gives their dtypes without a first pass.
    """
    while isinstance(plan, Call) and plan.method in ("select", "rename"):
        (plan,) = plan.inputs
    return plan if isinstance(plan, Call) and plan.method == "merge" else None


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
    in_memory = all(isinstance(scan.source, Memory) for scan in _scans_of(part))
    if not in_memory and not needs_all_rows(part):
        with contextlib.suppress(NotImplementedError):
            stage = _declared_stage(part, None, SCHEMA_ROWS, None, False, None)
            return common_dtypes(stage, part.narrow)
    return dtype_names(run(optimized(part, None)))


def _declared_stage(
    plan: Node,
    optimizations: Mapping[str, bool] | None,
    batch_rows: Any,
    memory_limit: Any,
    progress: bool | None,
    steps: Steps | None,
) -> Stage:
    """The pipeline of a plan whose steps give each batch the dtypes of all rows."""
    root = optimized(plan, optimizations)
    scans = _scans_of(root)
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
        return with_progress(batches_of(scan, size, first), name, progress, row_bytes)

    return pipeline(root, read, num_rows, steps)


def _breaker_above(scan: Scan, root: Any) -> Call | None:
    """The first step above a source that takes all of its rows, if there is one."""
    below: set[int] = {id(scan)}
    for node in in_order(root):
        if not below & {id(child) for child in node.inputs}:
            continue
        if isinstance(node, Call) and not is_mapped(node):
            return node
        below.add(id(node))
    return None


def _name_of(call: Call) -> str:
    match call.method:
        case "groupby":
            return f"groupby.{call.arguments['method']}"
        case "column":
            return str(call.arguments["expression"].function)
        case method:
            return method


def _scans_of(root: Any) -> list[Scan]:
    return [node for node in in_order(root) if isinstance(node, Scan)]
