# SPDX-License-Identifier: Apache-2.0
"""Quantiles of the rows of a mesh axis, without moving rows."""

from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import as_num_valid
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..local.parts import (
    Interpolation,
    as_quantile_arguments,
    interpolated,
    quantile_dtype,
    quantile_positions,
)
from ._axis import AxisName, as_shards, num_shards_on
from ._select_rank import as_shared, select_wide
from ._wide_counts import WideCount, add, psum_wide, subtract, widen


def quantile(
    x: ArrayLike,
    q: Any,
    *,
    axis_name: AxisName,
    interpolation: Interpolation = "linear",
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Shaped[Array, "..."]:
    """Finds the quantiles of the rows of all shards.

    Args:
        x: this shard's elements, of shape `(rows,)` and any key dtype.
        q: numbers of any shape, in [0, 1], the same on every shard. Traced values are clipped.
        axis_name: mesh axis of the rows, or a tuple of axes.
        interpolation: the value between two rows: "linear" in the distance from both, their
            "midpoint", the "lower", the "higher" or the "nearest" one (at equal distance the one of
            even rank).
        num_valid: number of valid rows of this shard, at its front; all rows by default.

    Returns:
        The quantiles, in the shape of `q`, the same on every shard; of the dtype of a float `x`,
        otherwise of JAX's default float. Beside an infinity they are infinite. NaN between
        infinities of both signs, if a row is NaN, and without valid rows.

    Raises:
        TypeError: a dtype that is not a key dtype, or a non-numeric `q`.
        ValueError: a concrete `q` is outside [0, 1], `q` differs between shards,
            `interpolation` is unknown, or `axis_name` is not an axis of the enclosing
            `shard_map`.

    Cost:
        A local sort, and the messages of `select_rank` for two ranks a quantile.

    Guarantees:
        Deterministic; does not depend on the number of shards; ranks are exact beyond 2^31 rows,
        with x64 mode on or off. Differentiable in `x`.

    Example:
        Two shards, q [0.5 1.0]:

            shard 0   x [30 10]
            shard 1   x [20 50]
            ->
            both      [25 50]
    """
    caller = "quantile"
    num_shards_on(axis_name, caller)
    column, quantiles = as_quantile_arguments(caller, x, q, interpolation)
    quantiles = as_shared(quantiles, axis_name, caller, "q")
    valid = as_num_valid(num_valid, column.shape[0], caller)
    if column.shape[0] == 0:
        return jnp.full(quantiles.shape, jnp.nan, quantile_dtype(column.dtype))
    column, valid = as_shards((column, valid), axis_name)
    total = psum_wide(valid, axis_name)
    one = widen(jnp.ones((), jnp.int32))
    last = subtract(total, one)
    positions = quantile_positions(*last, quantiles.reshape(-1))
    above = add(WideCount(positions.high, positions.low), one)
    wanted = WideCount(
        jnp.concatenate([positions.high, above.high, last.high[None]]),
        jnp.concatenate([positions.low, above.low, last.low[None]]),
    )
    selected = select_wide(column, wanted, total, valid, axis_name)
    is_empty = jax.lax.bitwise_or(total.high, total.low) == 0
    return interpolated(selected, positions, interpolation, quantiles, is_empty)
