# SPDX-License-Identifier: Apache-2.0
"""Statistics of segments in one call on CUDA; elsewhere, and over shards, by their definitions.

The definitions have a call for each sum. On CUDA one kernel counts the rows, adds them up and
divides, and reads the rows once more for what is measured from a mean or a maximum.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import jax

from ..contract._custom_jvp import with_tangent
from ..contract._platform import by_platform
from ..contract._typing import Array
from ..kernels.base._cuda import on_cuda
from ..kernels.reduce._segment_statistic_cuda import (
    Statistic,
    has_statistics_on_cuda,
    statistic_on_cuda,
)
from ._one_device import OneDevice

# The statistic of each segment from the rows and the `Segments`, and the centers if it has any.
Definition = Callable[[Array, Any], Any]


def in_one_call(
    statistic: Statistic, definition: Definition, rows: Array, segments: Any, ddof: int = 0
) -> Any:
    """`definition(rows, segments)`, by one call on CUDA; see `statistic_on_cuda`.

    The derivative is that of the definition.
    """
    num_segments = segments.num_segments
    is_plain = isinstance(segments.over, OneDevice) and segments.runs is None
    if not (is_plain and has_statistics_on_cuda(rows, segments.ids, num_segments)):
        return definition(rows, segments)
    without_ids = dataclasses.replace(segments, ids=None, given=None)

    def of_ids(rows: Array, ids: Array) -> Any:
        return definition(rows, dataclasses.replace(without_ids, ids=ids))

    def by_kernel(rows: Array, ids: Array) -> Any:
        plain = jax.lax.stop_gradient(rows)
        found = statistic_on_cuda(statistic, plain, ids, num_segments, ddof)
        return with_tangent(_tangent_of_definition, (of_ids,), found, (rows, ids))

    def by_definition(rows: Array, ids: Array) -> Any:
        # A copy, because counts that are cached in a branch exist in this branch alone.
        return definition(rows, dataclasses.replace(segments, ids=ids))

    return by_platform(rows, segments.ids, default=by_definition, **on_cuda(by_kernel))


def _tangent_of_definition(
    of_ids: Callable[[Array, Array], Any], primals: Any, tangents: Any, found: Any
) -> Any:
    del found
    rows, ids = primals
    return jax.jvp(lambda rows: of_ids(rows, ids), (rows,), tangents[:1])[1]
