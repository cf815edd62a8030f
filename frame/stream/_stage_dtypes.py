# SPDX-License-Identifier: Apache-2.0
"""The dtypes of all batches of a stage: found in a pass over the rows, and given to each batch."""

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ..combining._concat import concat
from ..plan._declared import BOOLS_WITH_HOLES, dtype_names, in_dtypes
from ._stage import Stage, each


def common_dtypes(stage: Stage, without_rows: Any) -> Mapping[Any, str]:
    """The dtypes that the whole result of a stage has; runs the stage, and keeps no rows.

    Without batches these are the dtypes of the eager result for no rows.
    """
    samples: dict[tuple[Any, ...], Any] = {}
    for batch in stage.batches():
        key = tuple(dtype_names(batch).items())
        if key not in samples:
            samples[key] = batch.head(0)
    if not samples:
        return dtype_names(without_rows)
    first, *others = samples.values()
    return dtype_names(concat([first, *others]) if others else first)


def in_declared_dtypes(stage: Stage) -> Stage:
    """The stage with the dtypes of its schema in each batch.

    A file between two steps keeps no mask of bools without a missing value.
    """
    names = dtype_names(stage.empty)

    def cast(rows: Any) -> Any:
        own = dtype_names(rows)
        if own == names or own.keys() != names.keys() or not _is_wider(own, names):
            return rows
        return in_dtypes(rows, names)

    run, pieces, later, unordered = stage.run, stage.pieces, stage.later, stage.unordered
    if stage.is_whole:
        return dataclasses.replace(
            stage, run=lambda: cast(run()), pieces=None if pieces is None else _cast(cast, pieces)
        )
    return dataclasses.replace(
        stage,
        run=_cast(cast, run),
        later=None if later is None else lambda first: each(cast, later(first)),
        unordered=None if unordered is None else _cast(cast, unordered),
    )


def _cast(
    cast: Callable[[Any], Any], run: Callable[[], Iterator[Any]]
) -> Callable[[], Iterator[Any]]:
    return lambda: each(cast, run())


def _is_wider(own: Mapping[Any, str], names: Mapping[Any, str]) -> bool:
    """Whether dtypes differ in what masks of bools decide alone."""
    return all(
        one == names[label] or (one, names[label]) == ("bool", BOOLS_WITH_HOLES)
        for label, one in own.items()
    )
