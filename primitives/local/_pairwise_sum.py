# SPDX-License-Identifier: Apache-2.0
"""Sums of floats whose bits do not depend on who adds them up."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled
from ..contract._arguments import as_key, as_num_valid, type_of
from ..contract._typing import Array, ArrayLike, Float, Integer
from ..kernels.reduce._pairwise_sum import sum_of_rows

_SUMS = ("float32", "float64")


def pairwise_sum(
    x: Float[ArrayLike, " rows"],
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    dtype: Any = None,
) -> Float[Array, ""]:
    """Adds up floats in an order of their own: close to exact, and the same bits everywhere.

    Args:
        x: array of shape `(rows,)`, of floats.
        num_valid: number of valid rows, at the front; all rows by default.
        dtype: the float that they are added up in, no narrower than that of `x`; that of `x` if
            left out. Rows are cast where they are read: no wider copy of them is made. Below
            float32 they are added up in float32, and the sum is rounded once.

    Returns:
        The sum, of `dtype`; zero of no rows, NaN where a row that counts is, or infinities of both
        signs do. No zero is negative.

    Raises:
        TypeError: `x` is not of floats, or `dtype` is none that holds them, or that JAX has: it has
            no float64 without `jax_enable_x64`.
        ValueError: `x` is not one-dimensional, or a known `num_valid` is out of range.

    Cost:
        Work O(rows). No communication.

    Guarantees:
        Deterministic; the same bits on every platform and for any number of threads. Off by at most
        64 + log2(rows) times the unit roundoff of `dtype` times the sum of the absolute values,
        where no part of it overflows. That leaves out subnormal numbers, which XLA takes for zero
        on some platforms. Differentiable in `x`.

    Source:
        Pairwise summation of blocks that are each added up row by row, as NumPy has it (Higham,
        "The accuracy of floating point summation", 1993).

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.pairwise_sum(jnp.array([0.5, 1.5, 4.0]), num_valid=2).tolist()
        2.0
    """
    caller = "pairwise_sum"
    column = as_key(x, caller)
    if not jnp.issubdtype(column.dtype, jnp.floating):
        raise TypeError(f"{caller}: x must be floats, got {type_of(column)}. Cast it to one.")
    valid = as_num_valid(num_valid, column.shape[0], caller)
    return _sum(column, valid, _as_sum_dtype(dtype, column.dtype, caller))


def _as_sum_dtype(dtype: Any, of_rows: np.dtype, caller: str) -> np.dtype:
    if dtype is None:
        return of_rows
    wide = np.dtype(dtype)
    if wide == np.float64 and not is_x64_enabled():
        raise TypeError(
            f"{caller}: dtype must be a float that JAX has, got float64 while its x64 mode is off. "
            "Set jax_enable_x64, or leave dtype out."
        )
    if wide != of_rows and (wide.name not in _SUMS or wide.itemsize <= of_rows.itemsize):
        raise TypeError(
            f"{caller}: dtype must be a float that holds {of_rows.name}, got {wide.name}."
        )
    return wide


@functools.partial(jax.custom_jvp, nondiff_argnums=(2,))
def _sum_with_tangent(x: Array, num_valid: Array, dtype: np.dtype) -> Array:
    # Of narrower floats XLA may or may not round each sum on the way.
    calculated = dtype if dtype.itemsize >= 4 else np.dtype(np.float32)
    return sum_of_rows(x, num_valid, calculated).astype(dtype)


@_sum_with_tangent.defjvp
def _sum_jvp(dtype: np.dtype, primals: Any, tangents: Any) -> tuple[Array, Array]:
    x, num_valid = primals
    counts = jax.lax.iota(jnp.int32, x.shape[0]) < num_valid
    moved = jnp.where(counts, tangents[0].astype(dtype), dtype.type(0))
    return _sum_with_tangent(x, num_valid, dtype), jnp.sum(moved)


_sum = jax.jit(_sum_with_tangent, static_argnums=2)
