# SPDX-License-Identifier: Apache-2.0
"""The dtypes of all batches of a stage: found in a pass over the rows, and given to each batch."""

from collections.abc import Callable, Hashable, Mapping
from typing import Any

from ..combining._concat import concat
from ..plan._declared import BOOLS_WITH_HOLES, dtype_names, in_dtypes
from ._stage import Stage, applied


def common_dtypes(stage: Stage, without_rows: Callable[[], object]) -> Mapping[Any, str]:
    """The dtypes that the whole result of a stage has; runs the stage, and keeps no rows.

    Without batches these are the dtypes of `without_rows()`.
    """
    samples: dict[tuple[Any, ...], Any] = {}
    for batch in stage.batches():
        key = tuple(dtype_names(batch).items())
        if key not in samples:
            samples[key] = batch.head(0)
    if not samples:
        return dtype_names(without_rows())
    first, *others = samples.values()
    return dtype_names(concat([first, *others]) if others else first)


def in_declared_dtypes(stage: Stage, names: Mapping[Hashable, str] | None = None) -> Stage:
    """The stage whose bools have a mask in each batch if they have one in `names`.

    A file between two steps keeps no mask of bools without a missing value. The names are those of
    `dtype_names`; of the schema if left out.
    """
    names = dtype_names(stage.empty) if names is None else names
    with_holes = {label: name for label, name in names.items() if name == BOOLS_WITH_HOLES}
    if not with_holes:
        return stage

    def cast(rows: object) -> Any:
        own = dtype_names(rows)
        lacking = {label: one for label, one in with_holes.items() if own.get(label) == "bool"}
        return in_dtypes(rows, lacking) if lacking else rows

    return applied(cast, stage, stage.empty)
