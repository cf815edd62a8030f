# SPDX-License-Identifier: Apache-2.0
"""The rows of several padded pieces in one array."""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_capacity, as_num_valid, as_rows, num_rows_of, type_of
from ..contract._typing import Array, ArrayLike, Int, Integer, PyTree
from ..kernels.scan._segmented_scan import fill_padding
from ..tiers._tiered import tiered

PieceCounts = Sequence[int | Integer[ArrayLike, ""] | None]


class Concatenated(NamedTuple):
    """The rows of all pieces, and their number."""

    rows: PyTree
    count: Int[Array, ""]


def concatenate(
    pieces: Sequence[PyTree], num_valid: PieceCounts | None = None, *, capacity: int | None = None
) -> Concatenated:
    """Packs the rows of several pieces that count into one array.

    Args:
        pieces: pytrees of the same structure, of arrays of the same dtypes, and of the same shapes
            but for their leading axes.
        num_valid: number of valid rows of each piece, at its front, or None for all of its rows;
            all rows of all pieces by default.
        capacity: rows of the result. Static; by default the rows of all pieces, which
            always suffices.

    Returns:
        `Concatenated(rows, count)`; the first `count` of `capacity` rows are those of the pieces,
        in their order, and padding is zero. `count > capacity` means that rows did not fit.

    Raises:
        TypeError: dtypes differ, `num_valid` holds no integer, or `capacity` is traced.
        ValueError: there is no piece, structures or shapes differ, or `num_valid` has another
            length.

    Cost:
        Work O(rows), in one copy if `num_valid` is None for every piece. No communication.

    Guarantees:
        Stable, in the order of (piece, row); deterministic; differentiable in `pieces`. NaNs of 16
        bits may change their payload.

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> packed = local.concatenate([jnp.array([1, 2, 0]), jnp.array([3, 0])], [2, 1])
        >>> packed.rows.tolist(), packed.count.tolist()
        ([1, 2, 3, 0, 0], 3)
    """
    caller = "concatenate"
    pieces, num_valid = as_pieces(pieces, num_valid, caller)
    lengths = [num_rows_of(piece, caller, "pieces") for piece in pieces]
    capacity = as_capacity(capacity, sum(lengths), caller)
    counts = [
        as_num_valid(count, length, caller)
        for count, length in zip(num_valid, lengths, strict=True)
    ]
    if all(count is None for count in num_valid):
        return _concatenate_full(pieces, counts, capacity)
    return _concatenate(pieces, counts, capacity)


def as_pieces(pieces: Any, num_valid: Any, caller: str) -> tuple[list[Any], list[Any]]:
    """Checks the pieces, and that there is a number of rows, or None, for each."""
    if not isinstance(pieces, (list, tuple)) or not pieces:
        raise ValueError(
            f"{caller}: pieces must be a sequence of at least one, got {type_of(pieces)}."
        )
    if num_valid is None:
        num_valid = [None] * len(pieces)
    if not isinstance(num_valid, (list, tuple)) or len(num_valid) != len(pieces):
        raise ValueError(
            f"{caller}: num_valid must have an entry for each of the {len(pieces)} pieces, "
            f"got {type_of(num_valid)}."
        )
    checked = [
        as_rows(piece, num_rows_of(piece, caller, "pieces"), caller, "pieces") for piece in pieces
    ]
    structure = jax.tree.structure(checked[0])
    for piece in checked[1:]:
        if jax.tree.structure(piece) != structure:
            raise ValueError(
                f"{caller}: pieces must have the same structure, got {structure} and "
                f"{jax.tree.structure(piece)}."
            )
        for one, other in zip(jax.tree.leaves(checked[0]), jax.tree.leaves(piece), strict=True):
            if one.shape[1:] != other.shape[1:]:
                raise ValueError(
                    f"{caller}: pieces must have the same shapes but for their leading axes, got "
                    f"{type_of(one)} and {type_of(other)}."
                )
            if one.dtype != other.dtype:
                raise TypeError(
                    f"{caller}: pieces must have the same dtypes, got {type_of(one)} and "
                    f"{type_of(other)}. Cast them to one."
                )
    return checked, list(num_valid)


@functools.partial(tiered, static_argnums=2)
def _concatenate_full(pieces: list[Any], counts: list[Array], capacity: int) -> Concatenated:
    """Concatenates pieces without padding: one copy."""

    def join(*leaves: Array) -> Array:
        rows = jnp.concatenate(leaves)[:capacity]
        padding = (0, capacity - rows.shape[0])
        return jnp.pad(rows, (padding, *((0, 0),) * (rows.ndim - 1)))

    return Concatenated(jax.tree.map(join, *pieces), sum(counts[1:], start=counts[0]))


@functools.partial(tiered, static_argnums=2)
def _concatenate(pieces: list[Any], counts: list[Array], capacity: int) -> Concatenated:
    return pack_pieces(pieces, counts, capacity)


def pack_pieces(
    pieces: list[Any], counts: list[Array], capacity: int, spans: list[Array] | None = None
) -> Concatenated:
    """Packs checked pieces, all of int32 counts.

    A piece takes as many rows as it has, or its span, which is then at least that.
    """
    lengths = [jax.tree.leaves(piece)[0].shape[0] for piece in pieces]
    # A piece at the end of the result still fits the buffer.
    most_rows = capacity + max(lengths)
    if spans is None:
        most_rows = min(sum(lengths), most_rows)
    starts = [jnp.zeros((), jnp.int32)]
    for span in counts if spans is None else spans:
        starts.append(starts[-1] + span)

    def pack(*leaves: Array) -> Array:
        first = leaves[0]
        rows = jnp.zeros((max(most_rows, capacity), *first.shape[1:]), first.dtype)
        for leaf, start, count in zip(leaves, starts, counts, strict=False):
            # Each piece overwrites the padding of the one before it, which is zeros as its own.
            at = (jnp.minimum(start, capacity), *(np.int32(0),) * (leaf.ndim - 1))
            rows = jax.lax.dynamic_update_slice(rows, fill_padding(leaf, count), at)
        return rows[:capacity]

    return Concatenated(jax.tree.map(pack, *pieces), starts[-1])
