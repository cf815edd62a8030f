# SPDX-License-Identifier: Apache-2.0
"""Packs documents into rows of one length: the layout of a batch without padding between them."""

import functools
from typing import Any, Literal, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import MAX_SHARD_ROWS, as_capacity, as_num_valid, as_static_int
from ..contract._platform import by_platform
from ..contract._take import take_rows
from ..contract._typing import Array, ArrayLike, Int, Integer
from ..kernels.join._pair_counts import repeats_of_valid
from ..tiers._tiered import tiered
from ._bin_packing import first_or_best_fit, next_fit
from ._bucket import bucket_order
from ._gather_rows import gather_rows
from ._ragged import Ragged, as_ragged
from ._repeat_rows import as_repeats
from ._scan import inclusive_scan
from ._segmented_scan import segmented_scan

Fit = Literal["next_fit", "first_fit_decreasing", "best_fit_decreasing"]
FITS = ("next_fit", "first_fit_decreasing", "best_fit_decreasing")


class Packed(NamedTuple):
    """Where each document lies, what lies at each place, and the number of rows.

    Attributes:
        row_ids: the row of each document, -1 for one that did not fit.
        offsets: the place of each document's first token in its row.
        segment_ids: the document of each place of each row, -1 in padding. Tokens attend to
            tokens of the same id.
        positions: the position of each place in its document, 0 in padding.
        count: the number of rows.
    """

    row_ids: Int[Array, " documents"]
    offsets: Int[Array, " documents"]
    segment_ids: Int[Array, "capacity length"]
    positions: Int[Array, "capacity length"]
    count: Int[Array, ""]

    def place(self, ragged: Ragged, *, fill_value: Any = 0) -> Any:
        """The documents' values at their places: arrays of shape `(capacity, length, ...)`.

        Guarantees:
            Differentiable in the values.
        """
        caller, num_documents = "Packed.place", self.row_ids.shape[0]
        if as_ragged(ragged, caller, "ragged").num_segments != num_documents:
            raise ValueError(
                f"{caller}: ragged must have a segment for each of the {num_documents} documents, "
                f"got {ragged.num_segments}."
            )
        ids = self.segment_ids.reshape(-1)
        (firsts,) = gather_rows((ragged.offsets[:-1],), ids)
        sources = jnp.where(ids < 0, np.int32(-1), firsts + self.positions.reshape(-1))
        rows = gather_rows(ragged.values, sources, fill_value=fill_value)
        shape = self.segment_ids.shape
        return jax.tree.map(lambda leaf: leaf.reshape(*shape, *leaf.shape[1:]), rows)


def pack(
    lengths: Integer[ArrayLike, " documents"],
    length: int,
    *,
    how: Fit = "first_fit_decreasing",
    capacity: int | None = None,
    num_valid: int | Integer[ArrayLike, ""] | None = None,
) -> Packed:
    """Packs documents into rows of a given length, each whole into one row.

    Args:
        lengths: the number of tokens of each document, integers of shape `(documents,)`, fewer
            than 2^31 in all. A negative one counts as zero.
        length: the number of places of a row. Static.
        how: "next_fit" keeps the documents in order, and begins a row where the next one does not
            fit. The others take the longest first: "first_fit_decreasing" puts each into the first
            row with room for it, "best_fit_decreasing" into the row where the least room is left,
            the first of several. Static.
        capacity: the number of rows of the result. Static; by default that of the documents, which
            always suffices.
        num_valid: number of valid documents, at the front; all by default.

    Returns:
        `Packed(row_ids, offsets, segment_ids, positions, count)`, int32: for each document its row
        and its place, -1 and 0 for one that is longer than a row, that found no room or that is
        padding; for each place of a row its document and the position in it; and the number of
        rows. `count > capacity` means that documents did not fit: with "next_fit" it is the number
        of rows needed, otherwise each document without room counts as one row. `Packed.place`
        moves the tokens.

    Raises:
        TypeError: `lengths` are not integers, or `length` or `capacity` is traced.
        ValueError: `lengths` are not one-dimensional, `length` is less than one, `how` is unknown,
            or there are 2^31 places.

    Cost:
        Work O(capacity x length), and for the documents: "next_fit" O(documents x log(documents)),
        by jumps of doubled length. The others are a loop over the documents: for each,
        "first_fit_decreasing" takes O(sqrt(capacity)), "best_fit_decreasing" O(capacity). So give
        a capacity near the number of rows. No communication.

    Guarantees:
        Deterministic. Documents of equal length are placed in order, and the documents of a row lie
        in the order in which they were placed. "first_fit_decreasing" takes at most 11/9 of the
        fewest possible rows, and one more.

    References:
        Johnson (1973), "Near-optimal bin packing algorithms".

    Example:
        >>> import jax.numpy as jnp
        >>> from jaxframes.primitives import local
        >>> packed = local.pack(jnp.array([2, 3, 1]), 4, capacity=2)
        >>> packed.row_ids.tolist(), packed.offsets.tolist(), packed.count.tolist()
        ([1, 0, 0], [0, 0, 3], 2)
        >>> packed.segment_ids.tolist(), packed.positions.tolist()
        ([[1, 1, 1, 2], [0, 0, -1, -1]], [[0, 1, 2, 0], [0, 1, 0, 0]])
    """
    caller = "pack"
    lengths = as_repeats(lengths, caller, "lengths")
    length = as_static_int(length, caller, "length", 1, MAX_SHARD_ROWS - 1)
    if how not in FITS:
        raise ValueError(f"{caller}: how must be one of {', '.join(FITS)}, got {how!r}.")
    most = as_capacity(capacity, lengths.shape[0], caller)
    if most * length > MAX_SHARD_ROWS:
        raise ValueError(
            f"{caller}: there must be fewer than 2**31 places, got {most} rows of {length}. Pass "
            "the number of rows that are needed as capacity."
        )
    valid = as_num_valid(num_valid, lengths.shape[0], caller)
    return _pack(lengths, valid, length, how, most)


@functools.partial(tiered, static_argnums=(2, 3, 4))
def _pack(lengths: Array, num_valid: Array, length: int, how: Fit, capacity: int) -> Packed:
    is_valid = jax.lax.iota(jnp.int32, lengths.shape[0]) < num_valid
    lengths = repeats_of_valid(lengths, num_valid)
    can_fit = is_valid & (lengths <= length)
    if how == "next_fit":
        row_ids, count = next_fit(jnp.where(can_fit, lengths, 0), can_fit, length)
        row_ids = jnp.where(row_ids < capacity, row_ids, np.int32(-1))
        order = jax.lax.iota(jnp.int32, lengths.shape[0])
    else:
        # Documents that fit nowhere come last.
        longest_first = jnp.where(can_fit, length - lengths, np.int32(length + 1))
        order = bucket_order(longest_first, length + 1).order
        placed, count = first_or_best_fit(
            take_rows(lengths, order),
            jnp.sum(can_fit, dtype=jnp.int32),
            length,
            capacity,
            is_best=how == "best_fit_decreasing",
        )
        row_ids = jnp.zeros_like(placed).at[order].set(placed, unique_indices=True)
    return _laid_out(lengths, order, row_ids, count, length, capacity)


def _laid_out(
    lengths: Array, order: Array, row_ids: Array, count: Array, length: int, capacity: int
) -> Packed:
    """Places documents, which come in an order, one after the other in their rows."""
    shape = (capacity, length)
    if not lengths.shape[0] or not capacity:
        padding = jnp.full(shape, -1, jnp.int32)
        return Packed(row_ids, jnp.zeros_like(lengths), padding, jnp.zeros_like(padding), count)
    in_order = take_rows(row_ids, order)
    by_row = take_rows(order, bucket_order(in_order, capacity).order)
    rows, sizes = take_rows((row_ids, lengths), by_row)
    starts = segmented_scan(sizes, "add", segment_ids=rows, exclusive=True)
    starts = jnp.where(rows < 0, 0, starts)
    offsets = jnp.zeros_like(starts).at[by_row].set(starts, unique_indices=True)
    # A document begins where its first token is. Of several that begin at one place all but the
    # last are empty.
    number = jax.lax.iota(jnp.int32, rows.shape[0])
    begins = jnp.where(
        (rows < 0) | (sizes == 0), np.int32(capacity * length), rows * length + starts
    )
    places = capacity * length

    def by_scan(begins: Array, by_row: Array, sizes: Array) -> tuple[Array, ...]:
        heads = jnp.full(places, -1, jnp.int32).at[begins].set(number, mode="drop")
        latest = jnp.maximum(inclusive_scan(heads, "max"), 0)
        return take_rows((by_row, begins, sizes), latest, is_unique=False)

    def by_sums(begins: Array, by_row: Array, sizes: Array) -> tuple[Array, ...]:
        # The differences from the document before, so that their sums are those of the last one to
        # begin. All places are scanned and none gathered, which would take most of the time.
        at = jnp.where(rows < 0, np.int32(places), rows * length + starts)
        sums = []
        for column in (by_row, begins, sizes):
            steps = column - jax.lax.pad(column, np.int32(0), [(1, -1, 0)])
            steps = jnp.zeros(places, jnp.int32).at[at].add(steps, mode="drop")
            sums.append(inclusive_scan(steps))
        return tuple(sums)

    document, first, size = by_platform(begins, by_row, sizes, tpu=by_sums, default=by_scan)
    position = jax.lax.iota(jnp.int32, places) - first
    is_token = (position >= 0) & (position < size)
    return Packed(
        row_ids,
        offsets,
        jnp.where(is_token, document, np.int32(-1)).reshape(shape),
        jnp.where(is_token, position, 0).reshape(shape),
        count,
    )
