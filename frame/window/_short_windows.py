# SPDX-License-Identifier: Apache-2.0
"""Windows of so few rows that each reads all of its own: one pass, and no scan."""

import functools

import jax
import jax.numpy as jnp
import numpy as np

from ..table._column import Array
from ..table._dtypes import wide
from ..table._table import Count, is_row
from ._cumulative import neutral

MOST_ROWS = 16


@functools.partial(jax.jit, static_argnums=(4, 5))
def over_short_windows(
    data: tuple[Array, ...],
    missing: tuple[Array | None, ...],
    least: Count,
    num_rows: Count,
    method: str,
    width: int,
) -> tuple[Array, ...]:
    """As `over_windows` on one device, of windows of `width` rows that end with their own row."""
    return tuple(
        _over_column(x, gaps, least, num_rows, method, width)
        for x, gaps in zip(data, missing, strict=True)
    )


def _over_column(
    x: Array, missing: Array | None, least: Count, num_rows: Count, method: str, width: int
) -> Array:
    valid = is_row(x.shape[0], num_rows)
    if missing is not None:
        valid = valid & ~missing
    if jnp.issubdtype(x.dtype, jnp.floating):
        valid = valid & jnp.isfinite(x)
    op = method if method in ("min", "max") else "add"
    dtype = wide(np.float64)
    nothing = dtype.type(-0.0) if op == "add" else neutral(op, dtype)
    combine = {"add": jnp.add, "min": jnp.minimum, "max": jnp.maximum}[op]
    filled = jnp.where(valid, x.astype(dtype), nothing)
    held = valid.astype(jnp.int32)
    value, count = filled, held
    for back in range(1, width):
        value = combine(_moved(filled, back, nothing), value)
        count = count + _moved(held, back, np.int32(0))
    if method == "mean":
        value = value / jnp.maximum(count, np.int32(1)).astype(dtype)
    if method == "sum":
        return jnp.where(count >= least, jnp.where(count > 0, value, 0.0), np.nan)
    return jnp.where(count >= jnp.maximum(least, np.int32(1)), value, np.nan)


def _moved(x: Array, back: int, nothing: np.generic) -> Array:
    return jax.lax.pad(x, jnp.asarray(nothing, x.dtype), [(back, -back, 0)])
