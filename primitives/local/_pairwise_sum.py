# SPDX-License-Identifier: Apache-2.0
"""Sums of floats with the same bits on every platform."""

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...shardings._compat import is_x64_enabled
from ..contract._arguments import as_key, as_num_valid, type_of
from ..contract._custom_jvp import custom_jvp
from ..contract._typing import Array, ArrayLike, Float, Integer
from ..kernels.reduce._pairwise_sum import squared_distances_of_rows, sum_of_rows
from ..tiers._tiered import tiered

_SUMS = ("float32", "float64")


def pairwise_sum(
    x: Float[ArrayLike, " rows"],
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    dtype: Any = None,
) -> Float[Array, ""]:
    """Sums floats in a fixed order: accurate, and with the same bits everywhere.

    Args:
        x: floats of shape `(rows,)`.
        num_valid: number of valid rows, at the front; all rows by default.
        dtype: the dtype of the sum, a float at least as wide as `x`; by default the dtype of `x`.
            Rows are cast as they are read, without a wider copy. Floats below 32 bits are added in
            float32, and the sum is rounded once.

    Returns:
        The sum, of `dtype`; zero without rows, NaN if a valid row is NaN or infinities of both
        signs occur. A zero is never negative.

    Raises:
        TypeError: `x` does not hold floats, or `dtype` cannot hold them, or is float64 without x64
            mode.
        ValueError: `x` is not one-dimensional, or a concrete `num_valid` is out of range.

    Cost:
        Work O(rows). No communication.

    Guarantees:
        Deterministic; the same bits on every platform and for any number of threads. Additions keep
        what they round away, so that the result is nearly always the exact sum, rounded once: with
        the unit roundoff u of `dtype`, the error is at most u times the sum, and ((64 +
        log2(rows)) u)^2 times the sum of the absolute values, if no partial sum overflows. This
        excludes subnormal numbers, which XLA flushes to zero on some platforms. Differentiable in
        `x`.

    Source:
        Pairwise summation of blocks, each added row by row, as in NumPy (Higham,
        "The accuracy of floating point summation", 1993), with the errors of all additions (Ogita,
        Rump, Oishi, "Accurate sum and dot product", 2005).

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
            f"{caller}: float64 dtype needs JAX's x64 mode, which is off. "
            "Set jax_enable_x64, or leave dtype out."
        )
    if wide != of_rows and (wide.name not in _SUMS or wide.itemsize <= of_rows.itemsize):
        raise TypeError(
            f"{caller}: dtype must be a float that holds {of_rows.name}, got {wide.name}."
        )
    return wide


@functools.partial(custom_jvp, nondiff_argnums=(2,))
def _sum_with_tangent(x: Array, num_valid: Array, dtype: np.dtype) -> Array:
    # XLA may or may not round each partial sum of narrower floats.
    calculated = dtype if dtype.itemsize >= 4 else np.dtype(np.float32)
    return sum_of_rows(x, num_valid, calculated).astype(dtype)


@_sum_with_tangent.defjvp
def _tangent_of_sum(dtype: np.dtype, primals: Any, tangents: Any, total: Array) -> Array:
    del total
    x, num_valid = primals
    counts = jax.lax.iota(jnp.int32, x.shape[0]) < num_valid
    moved = jnp.where(counts, tangents[0].astype(dtype), dtype.type(0))
    return jnp.sum(moved)


_sum = tiered(_sum_with_tangent, static_argnums=2)


@functools.partial(custom_jvp, nondiff_argnums=(3,))
def sum_of_squared_distances(x: Array, num_valid: Array, center: Array, skip_nan: bool) -> Array:
    """The sum of the squared distances of valid rows from a center, in the order of `pairwise_sum`.

    Calculated in the dtype of `center`. NaNs are at no distance if they are skipped.
    """
    return squared_distances_of_rows(x, num_valid, center, skip_nan)


@sum_of_squared_distances.defjvp
def _tangent_of_squares(skip_nan: bool, primals: Any, tangents: Any, total: Array) -> Array:
    del total
    (x, num_valid, center), (x_dot, _, center_dot) = primals, tangents
    counts = jax.lax.iota(jnp.int32, x.shape[0]) < num_valid
    if skip_nan:
        counts = counts & ~jnp.isnan(x)
    zero = center.dtype.type(0)
    distance = jnp.where(counts, x.astype(center.dtype) - center, zero)
    moved = jnp.where(counts, x_dot.astype(center.dtype) - center_dot, zero)
    return jnp.sum(2 * distance * moved)
