# SPDX-License-Identifier: Apache-2.0
"""Quantiles, by exact order statistics."""

import functools
from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_array, as_key, as_num_valid, type_of
from ..contract._key_bits import ordered_words
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..kernels.sort._radix_sort import argsort_columns
from ..tiers._tiered import tiered
from ._between_ranks import Interpolation, between_ranks, from_nearer_end
from ._quantile_ranks import RankPosition, quantile_positions


def quantile(
    x: ArrayLike,
    q: Any,
    *,
    interpolation: Interpolation = "linear",
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Shaped[Array, "..."]:
    """Finds the quantiles of a column.

    Args:
        x: array of shape `(rows,)`, of any key dtype.
        q: numbers of any shape, in [0, 1]. Traced values are clipped.
        interpolation: the value between two rows: "linear" in the distance from both, their
            "midpoint", the "lower", the "higher" or the "nearest" one (at equal distance the one of
            even rank).
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        The quantiles, in the shape of `q`; of the dtype of a float `x`, otherwise of JAX's default
        float. Beside an infinity they are infinite. NaN between infinities of both signs, if a row
        is NaN, and without valid rows.

    Raises:
        TypeError: a dtype that is not a key dtype, or a non-numeric `q`.
        ValueError: a concrete `q` is outside [0, 1], or `interpolation` is unknown.

    Cost:
        Work O(rows x key bytes). No communication.

    Guarantees:
        Deterministic; order statistics are exact, ranks equal NumPy's, and the interpolation is
        rounded once or twice. Differentiable in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.quantile(jnp.array([30.0, 10.0, 20.0, 50.0]), jnp.array([0.5, 1.0])).tolist()
        [25.0, 50.0]
    """
    caller = "quantile"
    column, q = as_quantile_arguments(caller, x, q, interpolation)
    valid = as_num_valid(num_valid, column.shape[0], caller)
    if column.shape[0] == 0:
        return jnp.full(q.shape, jnp.nan, quantile_dtype(column.dtype))
    return _find(column, q, valid, interpolation)


@functools.partial(tiered, static_argnums=3)
def _find(column: Array, q: Array, valid: Array, interpolation: str) -> Array:
    last = jnp.maximum(valid - 1, 0).astype(jnp.uint32)
    positions = quantile_positions(jnp.zeros_like(last), last, q.reshape(-1))
    row_ids = argsort_columns(ordered_words((column,), (False,)), valid)
    below = positions.low.astype(jnp.int32)
    above = jnp.minimum(below + 1, last.astype(jnp.int32))
    wanted = jnp.concatenate([below, above, last.astype(jnp.int32)[None]])
    selected = take_rows(column, take_rows(row_ids, wanted, is_unique=False), is_unique=False)
    return interpolated(selected, positions, interpolation, q, valid == 0)


def as_quantile_arguments(
    caller: str, x: Any, q: Any, interpolation: Any, num_shards: int = 1
) -> tuple[Array, Array]:
    """Checks the column and the quantiles; returns the quantiles as floats in [0, 1]."""
    column = as_key(x, caller, num_shards=num_shards)
    if interpolation not in get_args(Interpolation):
        names = ", ".join(repr(name) for name in get_args(Interpolation))
        raise ValueError(f"{caller}: interpolation must be one of {names}, got {interpolation!r}.")
    array = as_array(q, caller, "q")
    if not (jnp.issubdtype(array.dtype, jnp.integer) or jnp.issubdtype(array.dtype, jnp.floating)):
        raise TypeError(f"{caller}: q must be real numbers, got {type_of(array)}.")
    if not isinstance(q, jax.Array):
        known = np.asarray(q)
        bad = known[~((known >= 0) & (known <= 1))]
        if bad.size:
            raise ValueError(f"{caller}: q must lie in [0, 1], got {bad.flat[0]}.")
        return column, jnp.asarray(known.astype(jax.dtypes.canonicalize_dtype(float)))
    dtype = jax.dtypes.canonicalize_dtype(float)
    return column, jnp.clip(jax.lax.stop_gradient(array).astype(dtype), 0, 1)


def quantile_dtype(dtype: Any) -> Any:
    """The dtype of the quantiles of a column."""
    is_float = jnp.issubdtype(dtype, jnp.floating)
    return dtype if is_float else jax.dtypes.canonicalize_dtype(float)


def interpolated(
    selected: Array, positions: RankPosition, interpolation: str, q: Array, is_empty: Array
) -> Array:
    """Interpolates between the rows below and above each quantile, given also the last row."""
    dtype = quantile_dtype(selected.dtype)
    has_nan = jnp.isnan(selected[-1:]) if selected.dtype == dtype else jnp.zeros(1, jnp.bool_)
    wide = dtype if np.dtype(dtype).itemsize >= 4 else jnp.float32
    rows = selected.astype(wide)
    num_positions = q.size
    below, above = rows[:num_positions], rows[num_positions : 2 * num_positions]
    is_odd = (positions.low & np.uint32(1)) != 0
    result = between_ranks(
        below, above, positions.fraction, is_odd, interpolation, linear=from_nearer_end
    )
    is_nothing = has_nan | is_empty | jnp.isnan(q.reshape(-1))
    result = jnp.where(is_nothing, jnp.asarray(np.nan, wide), result)
    return result.astype(dtype).reshape(q.shape)
