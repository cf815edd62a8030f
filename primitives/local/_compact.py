# SPDX-License-Identifier: Apache-2.0
"""Stable selection: the rows that a mask flags, moved to the front."""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from .._arguments import as_array, as_capacity, as_num_valid, as_rows, num_rows_of, type_of
from .._typing import Array, ArrayLike, Bool, Int, Integer, PyTree
from ..kernels._compact import count_flags, flagged_ids, flagged_words
from ._moved import with_tangents
from ._take import take_rows_or_zeros


class Compacted(NamedTuple):
    """The rows that were selected, at the front, and how many they are."""

    rows: PyTree
    count: Int[Array, ""]


def compact(
    mask: Bool[ArrayLike, " rows"],
    rows: PyTree | None,
    *,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Compacted:
    """Moves the rows that a mask flags to the front, keeping their order.

    Args:
        mask: a flag for each row, bool of shape `(rows,)`.
        rows: any pytree of arrays with the same leading axis; None for the ids of the rows, int32.
        capacity: rows that the result has room for. Static; all rows if left out.
        num_valid: the rows that count, from the front; all of them if left out.

    Returns:
        `Compacted(rows, count)`; the first `count` of `capacity` rows are meaningful, and zeros
        fill the rest. `count > capacity` says that rows did not fit: the first `capacity` of them
        are there.

    Raises:
        TypeError: `mask` is not bool, or `capacity` is traced.
        ValueError: lengths differ, or `capacity` is negative.

    Cost:
        Work O(rows + capacity x row bytes). No communication.

    Guarantees:
        Stable; deterministic; differentiable in `rows`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> kept = local.compact(jnp.array([True, False, True]), jnp.array([10, 20, 30]))
        >>> kept.rows.tolist(), kept.count.tolist()
        ([10, 30, 0], 2)
        >>> local.compact(jnp.array([True, False, True]), None).rows.tolist()
        [0, 2, 0]
    """
    caller = "compact"
    mask, rows, num_rows = as_masked_rows(mask, rows, caller)
    capacity = as_capacity(capacity, num_rows, caller)
    valid = as_num_valid(num_valid, num_rows, caller)
    return Compacted(*select_rows(rows, mask, capacity, valid))


@functools.partial(jax.jit, static_argnums=2)
def select_rows(rows: Any, mask: Array, capacity: int, num_valid: Array) -> tuple[Any, Array]:
    """The rows that a checked mask flags, zeros behind them, and how many there are."""
    flags = count_flags(mask, num_valid)
    # XLA finds the row ids only where somebody needs them.
    row_ids = flagged_ids(flags, capacity)
    if rows is None:
        return row_ids, flags.count
    plan = (row_ids, jax.lax.iota(jnp.int32, capacity) < flags.count)

    def select(leaf: Array) -> Array:
        if leaf.shape[0] == 0:
            return take_rows_or_zeros(leaf, *plan)
        plain = jax.lax.stop_gradient(leaf)
        kept = flagged_words(flags, plain, capacity, lambda: take_rows_or_zeros(plain, *plan))
        return with_tangents(_take_flagged, kept, leaf, plan)

    return jax.tree.map(select, rows), flags.count


def _take_flagged(matrix: Array, plan: tuple[Array, Array]) -> Array:
    return take_rows_or_zeros(matrix, *plan, is_tangent=True)


def as_masked_rows(mask: Any, rows: Any, caller: str) -> tuple[Array, Any, int]:
    """Checks a mask and its rows, which may be None; returns them, and how many there are."""
    mask = as_array(mask, caller, "mask")
    num_rows = mask.size if rows is None else num_rows_of(rows, caller)
    if rows is not None:
        rows = as_rows(rows, num_rows, caller, "rows")
    return as_mask(mask, num_rows, caller), rows, num_rows


def as_mask(mask: Any, num_rows: int, caller: str) -> Array:
    """Checks that there is one flag for each row."""
    mask = as_array(mask, caller, "mask")
    if mask.dtype != jnp.bool_:
        raise TypeError(
            f"{caller}: mask must be bool, got {type_of(mask)}. Compare it with something."
        )
    if mask.shape != (num_rows,):
        raise ValueError(
            f"{caller}: mask must have one entry for each of the {num_rows} rows, "
            f"got {type_of(mask)}."
        )
    return mask
