# SPDX-License-Identifier: Apache-2.0
"""Rows of columns by id, zeros for ids out of range; on TPU without XLA's gather."""

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._moved import with_tangents
from ..contract._platform import by_platform
from ..contract._typing import Array
from ..kernels.base._pallas import on_tpu
from ..kernels.move._gather import gather_on_tpu
from ..kernels.move._take_on_tpu import can_take_on_tpu

# Given columns and row ids; linear in the columns.
Gather = Callable[[tuple[Array, ...], Array], tuple[Array, ...]]


def look_up(columns: tuple[Array, ...], row_ids: Array, otherwise: Gather) -> tuple[Array, ...]:
    """Takes rows by id, int32; `otherwise` does so by a gather."""

    def on_core(columns: tuple[Array, ...], row_ids: Array) -> tuple[Array, ...]:
        zeros = tuple(jnp.zeros((), column.dtype) for column in columns)
        return gather_on_tpu(row_ids, columns, zeros)

    kernel = on_tpu(on_core) if columns and can_take_on_tpu(columns, row_ids) else {}
    if not kernel:
        return otherwise(columns, row_ids)
    plain = tuple(map(jax.lax.stop_gradient, columns))
    rows = by_platform(plain, row_ids, default=otherwise, **kernel)
    return with_tangents(functools.partial(_of_matrix, otherwise), rows, columns, row_ids)


def _of_matrix(otherwise: Gather, matrix: Array, row_ids: Any) -> Array:
    (rows,) = otherwise((matrix,), row_ids)
    return rows
