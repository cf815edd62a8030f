# SPDX-License-Identifier: Apache-2.0
"""Order statistics: the keys of given ranks."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_array, as_key, as_num_valid, type_of
from ..contract._key_bits import ordered_words
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Integer, Shaped
from ..kernels.sort._radix_sort import argsort_columns
from ..tiers._tiered import tiered


def select_rank(
    x: ArrayLike,
    ranks: int | Integer[ArrayLike, " ranks"],
    *,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Shaped[Array, " ranks"]:
    """Finds the elements of given ranks, rank 0 being the smallest.

    Args:
        x: array of shape `(rows,)`, of any key dtype.
        ranks: integers of any shape, in `[0, rows)`. Traced ranks are clipped to the valid rows.
        num_valid: number of valid rows, at the front; all rows by default.

    Returns:
        The elements, in the shape of `ranks`; those at the same positions of a stable sort, bit for
        bit.

    Raises:
        TypeError: a dtype that is not a key dtype, or `ranks` that are not integers.
        ValueError: a concrete rank is outside `[0, rows)`, or `x` is empty.

    Cost:
        Work O(rows x key bytes). No communication.

    Guarantees:
        Deterministic; differentiable in `x`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> local.select_rank(jnp.array([30, 10, 20]), jnp.array([0, 2])).tolist()
        [10, 30]
    """
    caller = "select_rank"
    column = as_key(x, caller)
    ranks = as_ranks(ranks, column.shape[0], caller)
    return _select(column, ranks, as_num_valid(num_valid, column.shape[0], caller))


@tiered
def _select(column: Array, ranks: Array, valid: Array) -> Array:
    row_ids = argsort_columns(ordered_words((column,), (False,)), valid)
    # A narrow integer cannot hold the last rank; a wide one must be clipped before the cast.
    ranks = ranks.astype(jnp.int32) if ranks.dtype.itemsize < 4 else ranks
    last = jnp.maximum(valid - 1, 0).astype(ranks.dtype)
    positions = jnp.clip(ranks, jnp.zeros((), ranks.dtype), last).astype(jnp.int32)
    return take_rows(column, take_rows(row_ids, positions, is_unique=False), is_unique=False)


def as_ranks(ranks: Any, num_rows: int, caller: str) -> Array:
    """Checks that ranks are integers, and that concrete ranks are in range."""
    array = as_array(ranks, caller, "ranks")
    if not jnp.issubdtype(array.dtype, jnp.integer):
        raise TypeError(f"{caller}: ranks must be integers, got {type_of(ranks)}.")
    if num_rows == 0 and array.size > 0:
        raise ValueError(f"{caller}: x must not be empty, got no rows.")
    if not isinstance(ranks, jax.Array):
        known = np.asarray(ranks)
        bad = known[(known < 0) | (known >= num_rows)]
        if bad.size:
            raise ValueError(
                f"{caller}: ranks must lie in [0, {num_rows}), the rows of x, got {bad.flat[0]}."
            )
    return array
