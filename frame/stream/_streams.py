# SPDX-License-Identifier: Apache-2.0
"""Runs plans over batches: what `collect(batch_rows=)` and the sinks call."""

import contextlib
import dataclasses
import importlib
import itertools
import os
from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from ..io._files._places import Place, place_of
from ..plan._node import Node
from ..plan._optimize import optimized
from ..plan._run import run
from ..table._types import Options
from ._arrow_rows import in_schema
from ._checkpoint import Checkpoint
from ._job import job_of
from ._limits import rows_of_batches
from ._plan_stage import scans_of, stage_of, with_dtypes_of_all_rows
from ._plan_stage import without_rows as without_rows
from ._reader import check_sources
from ._sinks import arrow_tables, write_csv, write_parquet
from ._stage import Stage
from ._training import Batches, Recipe, limited, recipe_of


def collect(
    plan: Node,
    optimizations: Mapping[str, bool] | None,
    *,
    checkpoint: object = None,
    **limits: object,
) -> Any:
    """Runs a plan over batches and returns the whole result."""
    with running("collect", plan, optimizations, checkpoint, {}, limits) as stage:
        return stage.whole()


def to_parquet(
    plan: Node, path: Any, options: Options, *, checkpoint: object = None, **limits: object
) -> None:
    """Runs a plan, at once or over batches, and writes Parquet files."""
    place, rest = _placed("to_parquet", path, options)
    has_files = rest.get("partition_cols") or rest.get("max_rows_per_file") is not None
    if has_files and not place.is_local:
        raise NotImplementedError(
            "to_parquet: the folder of a plan must be on this machine, because its manifest "
            f"replaces the old one at once, got {path!r}. Write it here and copy it, or call "
            "collect().to_parquet()."
        )
    if is_limited(limits) or checkpoint is not None:
        target = {"path": path, **rest}
        with running("to_parquet", plan, None, checkpoint, target, limits) as stage:
            write_parquet(stage, place, **rest)
        return
    root = optimized(plan, None)
    if hasattr(path, "write") or root.empty._layout.spans_processes:
        run(root).to_parquet(path, **options)
        return
    write_parquet(Stage(lambda: run(root), True, root.empty), place, **rest)


def to_csv(
    plan: Node, path: Any, options: Options, *, checkpoint: object = None, **limits: object
) -> None:
    """Runs a plan over batches and writes each to a file of comma-separated values."""
    place, rest = _placed("to_csv", path, options)
    target = {"path": path, **rest}
    with running("to_csv", plan, None, checkpoint, target, limits) as stage:
        write_csv(stage, place, **rest)


def _placed(caller: str, path: Any, options: Options) -> tuple[Place, dict[str, Any]]:
    """The place that a path and the options of a file system name, and the other options."""
    rest: dict[str, Any] = dict(options)
    system = rest.pop("filesystem", None), rest.pop("storage_options", None)
    is_path = isinstance(path, (str, os.PathLike))
    return place_of(path, caller, *system) if is_path else Place(path), rest


@contextlib.contextmanager
def running(
    caller: str,
    plan: Node,
    optimizations: Mapping[str, bool] | None,
    checkpoint: object,
    options: Options,
    limits: Options,
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
    num_rows = rows_of_batches(scans_of(root), limits.get("batch_rows"), limits.get("memory_limit"))
    given = {**options, "call": caller, "batch_rows": num_rows, **dict(optimizations or {})}
    path = options.get("path")
    if isinstance(path, (str, os.PathLike)) and "://" not in os.fspath(path):
        given["path"] = os.path.abspath(path)
    with Checkpoint(checkpoint, job_of(plan, root, given)) as saved:
        stage = stage_of(
            plan, optimizations, steps=saved.steps, **limits, is_collected=is_collected
        )
        yield saved.resumed(stage)


# The rows of a batch that other libraries read: long enough for fast calls.
ARROW_ROWS = 2**20


def arrow_reader(plan: Node) -> pa.RecordBatchReader:
    """A reader of the rows of a plan, which runs over batches while it is read.

    A plan that cannot run over batches runs at once.
    """
    try:
        stage = stage_of(
            plan, None, batch_rows=ARROW_ROWS, memory_limit=None, progress=False,
            is_collected=False,
        )  # fmt: skip
    except NotImplementedError:
        root = optimized(plan, None)
        stage = Stage(lambda: run(root), True, root.empty)
    tables = arrow_tables(stage, None, is_one_file=False)
    first = next(tables)
    rest = (in_schema(table, first.schema) for table in tables)
    rows = (batch for table in itertools.chain([first], rest) for batch in table.to_batches())
    return pa.RecordBatchReader.from_batches(first.schema, rows)


def batches(
    plan: Node, size: int, *, state: object, memory_limit: object = None, **options: object
) -> Batches:
    """The batches of a plan, from the start or from a state.

    Raises:
        ValueError: an argument is not positive, or the state is one of another plan.
    """
    recipe = limited(recipe_of("batches", plan, size, **options), memory_limit)
    return Batches(_in_dtypes_of_all_rows(recipe), state)


def to_grain(plan: Node, size: int, *, random_access: bool, **options: object) -> Any:
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
        return dataclasses.replace(
            recipe, plan=with_dtypes_of_all_rows(recipe.plan, recipe.chunk_rows, None)
        )
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


def is_limited(limits: Mapping[str, object]) -> bool:
    """Whether a plan runs over batches."""
    return limits.get("batch_rows") is not None or limits.get("memory_limit") is not None
