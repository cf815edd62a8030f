# SPDX-License-Identifier: Apache-2.0
"""Stable selection: moves the rows that a mask selects to the front."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer

from ..contract._arguments import (
    as_array,
    as_capacity,
    as_flag,
    as_num_valid,
    as_rows,
    as_static_int,
    num_rows_of,
    type_of,
)
from ..contract._moved import with_tangents
from ..contract._take import take_rows_or_zeros
from ..contract._typing import Array, ArrayLike, Bool, Int, Integer, PyTree
from ..kernels.base._foreign import is_words
from ..kernels.move._compact import Flags, count_flags, flagged_columns, flagged_ids, flagged_words
from ..tiers._tiered import tiered


class Compacted(NamedTuple):
    """Selected rows at the front, their ids, and their number.

    Attributes:
        rows: the selected rows, padded with zeros; None if no rows were given.
        row_ids: the position of each selected row among all rows, padded with zeros; None unless
            `return_index` is true or no rows were given.
        count: number of selected rows, true even past the capacity.
    """

    rows: PyTree
    row_ids: Int[Array, " rows"] | None
    count: Int[Array, ""]


def compact(
    mask: Bool[ArrayLike, " rows"],
    rows: PyTree | None,
    *,
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
    return_index: bool = False,
) -> Compacted:
    """Moves the rows that a mask selects to the front, keeping their order.

    Args:
        mask: one flag per row, bool of shape `(rows,)`.
        rows: any pytree of arrays with the same leading axis; None for the ids of the rows alone.
        capacity: most rows of the result. Static; by default all rows.
        num_valid: number of valid rows, at the front; all rows by default.
        return_index: also return the ids of the rows, int32.

    Returns:
        `Compacted(rows, row_ids, count)`; the first `count` of `capacity` rows are meaningful, and
        padding is zero. `count > capacity` means that rows did not fit: the first `capacity` of
        them are there. `row_ids` is None unless `return_index` is true or `rows` is None.

    Raises:
        TypeError: `mask` is not bool, or `capacity` is traced.
        ValueError: lengths differ, or `capacity` is negative.

    Cost:
        Work O(rows + capacity x row bytes), on TPU O(log(rows) x row bytes) for each row, without
        gathers of single columns. No communication. An eager call moves all arrays in
        one pass over the mask. A traced call moves each by itself, so that XLA leaves out of a
        compiled program the arrays that nothing uses. On GPU a kernel moves up to 32 bytes of each
        row, which is eight columns of 32 bits.

    Guarantees:
        Stable; deterministic; differentiable in `rows`.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> kept = local.compact(jnp.array([True, False, True]), jnp.array([10, 20, 30]))
        >>> kept.rows.tolist(), kept.count.tolist()
        ([10, 30, 0], 2)
        >>> local.compact(jnp.array([True, False, True]), None).row_ids.tolist()
        [0, 2, 0]
        >>> mask, x = jnp.array([True, False, True]), jnp.array([10, 20, 30])
        >>> kept = local.compact(mask, x, return_index=True)
        >>> kept.rows.tolist(), kept.row_ids.tolist()
        ([10, 30, 0], [0, 2, 0])
    """
    caller = "compact"
    return_index = as_flag(return_index, caller, "return_index")
    leaves = jax.tree.leaves((mask, rows))
    if not all(isinstance(leaf, jax.Array) for leaf in leaves):
        mask, rows, _ = as_masked_rows(mask, rows, caller)
        leaves = jax.tree.leaves((mask, rows))
    num_rows = np.size(mask)
    capacity = as_capacity(capacity, num_rows, caller)
    valid: Any = num_valid
    if num_valid is not None and not isinstance(num_valid, jax.Array):
        valid = np.int32(as_static_int(num_valid, caller, "num_valid", 0, num_rows))
    is_traced = any(issubclass(kind, Tracer) for kind in set(map(type, (*leaves, valid))))
    return _compact(mask, rows, valid, capacity, return_index, one_pass=not is_traced)


# Compiled with its checks: an eager call of a few rows would take longer to check than to run.
@functools.partial(tiered, static_argnums=(3, 4), static_argnames="one_pass")
def _compact(
    mask: Any, rows: Any, num_valid: Any, capacity: int, return_index: bool, *, one_pass: bool
) -> Compacted:
    mask, rows, num_rows = as_masked_rows(mask, rows, "compact")
    valid = as_num_valid(num_valid, num_rows, "compact")
    wants_ids = return_index or rows is None
    return _select(rows, mask, capacity, valid, wants_ids, one_pass=one_pass)


def select_rows(rows: Any, mask: Array, capacity: int, num_valid: Array) -> tuple[Any, Array]:
    """Selects rows by a checked mask; returns them, padded with zeros, and their number."""
    selected = _select(rows, mask, capacity, num_valid, False, one_pass=False)
    return selected.rows, selected.count


@functools.partial(tiered, static_argnums=(2, 4), static_argnames="one_pass")
def _select(
    rows: Any, mask: Array, capacity: int, num_valid: Array, wants_ids: bool, *, one_pass: bool
) -> Compacted:
    """`select_rows`, with row ids if requested; see `compact`.

    Moving all arrays in one pass over the mask is faster, but moves the unused ones, too.
    """
    flags = count_flags(mask, num_valid)
    # XLA computes them only if they are used.
    ids_alone = flagged_ids(flags, capacity)
    if rows is None:
        return Compacted(None, ids_alone, flags.count)
    is_kept = jax.lax.iota(jnp.int32, capacity) < flags.count
    leaves, structure = jax.tree.flatten(rows)
    plain = jax.lax.stop_gradient(leaves)
    words = [leaf for leaf in plain if is_words(leaf)]

    def by_xla(words: Sequence[Array]) -> tuple[Array, ...]:
        return take_rows_or_zeros(tuple(words), ids_alone, is_kept)

    if one_pass and wants_ids and words:
        row_ids, *kept_words = flagged_words(
            flags, words, capacity, lambda: (ids_alone, *by_xla(words)), with_ids=True
        )
    elif one_pass and words:
        row_ids = ids_alone
        kept_words = flagged_words(flags, words, capacity, functools.partial(by_xla, words))
    elif wants_ids and words:
        row_ids, *kept_words = flagged_columns(flags, words, capacity, by_xla, with_ids=True)
    else:
        row_ids, kept_words = ids_alone, flagged_columns(flags, words, capacity, by_xla)
    in_turn = iter(kept_words)
    kept = [
        next(in_turn) if is_words(leaf) else take_rows_or_zeros(leaf, row_ids, is_kept)
        for leaf in plain
    ]
    with_derivatives = [
        _with_tangents(result, leaf, row_ids, is_kept)
        for result, leaf in zip(kept, leaves, strict=True)
    ]
    kept_rows = jax.tree.unflatten(structure, with_derivatives)
    return Compacted(kept_rows, row_ids if wants_ids else None, flags.count)


def with_selected_tangents(kept: Array, rows: Array, flags: Flags, capacity: int) -> Array:
    """The flagged rows that were selected without derivatives, with those of all rows."""
    if not jnp.issubdtype(rows.dtype, jnp.inexact):
        return kept
    is_kept = jax.lax.iota(jnp.int32, capacity) < flags.count
    return _with_tangents(kept, rows, flagged_ids(flags, capacity), is_kept)


def _with_tangents(kept: Array, rows: Array, row_ids: Array, is_kept: Array) -> Array:
    return with_tangents(_take_flagged, kept, rows, (row_ids, is_kept)) if rows.shape[0] else kept


def _take_flagged(matrix: Array, plan: tuple[Array, Array]) -> Array:
    return take_rows_or_zeros(matrix, *plan, is_tangent=True)


def as_masked_rows(mask: Any, rows: Any, caller: str) -> tuple[Array, Any, int]:
    """Checks a mask and its rows, which may be None; returns them and the number of rows."""
    mask = as_array(mask, caller, "mask")
    num_rows = mask.size if rows is None else num_rows_of(rows, caller)
    if rows is not None:
        rows = as_rows(rows, num_rows, caller, "rows")
    return as_mask(mask, num_rows, caller), rows, num_rows


def as_mask(mask: Any, num_rows: int, caller: str) -> Array:
    """Checks for one flag per row."""
    mask = as_array(mask, caller, "mask")
    if mask.dtype != jnp.bool_:
        raise TypeError(
            f"{caller}: mask must be bool, got {type_of(mask)}. "
            "Make one by a comparison, such as x > 0."
        )
    if mask.shape != (num_rows,):
        raise ValueError(
            f"{caller}: mask must have one entry for each of the {num_rows} rows, "
            f"got {type_of(mask)}."
        )
    return mask
