# SPDX-License-Identifier: Apache-2.0
"""A plan as a pipeline: rowwise steps run over batches, breakers merge partial states."""

from collections.abc import Callable, Iterator
from typing import Any

from ..plan._node import Node, Scan
from ._operators import Inputs, stage_of_call
from ._stage import Stage
from ._steps import Steps

# Reads a source from a batch on, by default from the first one.
Read = Callable[..., Iterator[Any]]


def pipeline(node: Node, read: Read, batch_rows: int, steps: Steps | None = None) -> Stage:
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
            if isinstance(one, Scan):
                built[one] = _source(one, read)
            else:
                built[one] = stage_of_call(Inputs(one, build, batch_rows, steps))
        return built[one]

    return build(node)


def _source(scan: Scan, read: Read) -> Stage:
    return Stage(lambda: read(scan), False, scan.empty, later=lambda first: read(scan, first))
