# SPDX-License-Identifier: Apache-2.0
"""Pallas kernels for TPU: when they are chosen, and their typed calls.

A kernel sees a column as a matrix of rows of 128 lanes, cut into blocks. A TPU core takes the
blocks one after the other, so scratch memory carries state from one block to the next.
"""

import functools
import importlib.util
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ....shardings._compat import as_varying, result_type_of, varying_axes
from ...contract._platform import traced_for
from ...contract._typing import Array
from ._batches import over_batches
from ._library import switch

# A vector register of a TPU has 128 lanes.
LANES = 128
# A vector register holds 8 rows of 128 lanes of 32 bits.
SUBLANES = 8
REGISTER_ROWS = LANES * SUBLANES


def has_pallas_kernels() -> bool:
    """Whether programs for TPU contain the kernels."""
    return switch() == "native" and compiles_for_tpu()


def compiles_for_tpu() -> bool:
    """Whether the code may be compiled for TPU.

    Tracing what TPU runs takes longer than tracing one way for all, so a process that compiles
    nothing for TPU does without: one without libtpu, unless the code is traced for TPU alone.
    """
    return traced_for.value == "tpu" or _has_libtpu()


@functools.cache
def _has_libtpu() -> bool:
    return importlib.util.find_spec("libtpu") is not None


def on_tpu(kernel: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """The argument of `by_platform` that chooses a kernel on TPU, if there are kernels."""
    return {"tpu": kernel} if has_pallas_kernels() else {}


def call_on_tpu(
    kernel: Callable[..., None],
    arrays: Sequence[Array],
    results: Sequence[tuple[tuple[int, ...], Any]],
    **settings: Any,
) -> tuple[Array, ...]:
    """Calls a Pallas kernel; `vmap` adds a leading axis to its grid.

    Args:
        kernel: takes a reference to a block of each array and result, then to scratch memory.
        arrays: the arguments.
        results: shape and dtype of each result.
        settings: those of `pallas_call`.

    Returns:
        The results, which vary over the mesh axes of all arguments.
    """
    from jax.experimental import pallas as pl

    axes = varying_axes(*arrays)

    def function(*arrays: Array) -> tuple[Array, ...]:
        types = [result_type_of(shape, dtype, axes) for shape, dtype in results]
        # A core has no integers of 64 bits, not even for its loops.
        with jax.enable_x64(False):
            return tuple(pl.pallas_call(kernel, types, **settings)(*arrays))

    return over_batches(function, as_varying(tuple(arrays), axes))


def as_lines(column: Array) -> Array:
    """Reshapes a column to lines of 128 lanes; zeros fill the last register."""
    missing = -column.shape[0] % REGISTER_ROWS
    if missing:
        column = jnp.pad(column, (0, missing))
    return column.reshape(-1, LANES)


def of_lines(lines: Array, num_rows: int) -> Array:
    """Inverts `as_lines`."""
    return lines.reshape(-1)[:num_rows]


def as_scalar_argument(number: Array) -> Array:
    """A number in the form in which kernels read it from scalar memory, under `vmap` too."""
    return number.astype(np.int32).reshape(1, 1)
