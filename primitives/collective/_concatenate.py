# SPDX-License-Identifier: Apache-2.0
"""The rows of several padded pieces, which are spread over the shards, in one sequence."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..contract._arguments import as_capacity, as_num_valid, num_rows_of
from ..contract._typing import Array, PyTree
from ..local import Concatenated
from ..local.parts import PieceCounts, as_pieces, pack_pieces
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport, check_transport
from ._rebalance import rows_of_shards_before, send_to_ranks
from ._sorted_runs import Dealing
from ._splitters import even_ranks, full_ranks
from ._wide_counts import add, psum_wide, widen


def concatenate(
    pieces: Sequence[PyTree],
    num_valid: PieceCounts | None = None,
    *,
    axis_name: AxisName,
    capacity: int | None = None,
    transport: Transport = "auto",
) -> Concatenated:
    """Packs the rows of several pieces that count into one sequence, dealt out evenly.

    The sequence holds the rows of piece 0 of all shards, then those of piece 1, and so on.

    Args:
        pieces: this shard's rows of each piece, pytrees of the same structure, of arrays of the
            same dtypes, and of the same shapes but for their leading axes.
        num_valid: for each piece the rows of this shard that count, from the front, or None for all
            of them; all rows of all pieces by default.
        axis_name: mesh axis of the rows, or a tuple of axes.
        capacity: most rows of a shard. Static; by default its rows of all pieces, which always
            suffices.
        transport: transport of the rows; see `partition`.

    Returns:
        `Concatenated(rows, count)`: this shard's share of the sequence, at its front, padded with
        zeros, and the size of that share, as in `even_share`. `count > capacity` means that rows
        did not fit.

    Raises:
        TypeError: dtypes differ, `num_valid` holds no integer, or `capacity` is traced.
        ValueError: there is no piece, structures or shapes differ, `num_valid` has another length,
            `transport` is unknown, or `axis_name` is not an axis of the enclosing
            `shard_map`.

    Cost:
        Work O(rows x row bytes). Communication: that of `rebalance`, once for each piece.

    Guarantees:
        Stable, in the order of (piece, shard, row); deterministic; exactly balanced; differentiable
        in `pieces`. NaNs of 16 bits may change their payload.

    Example:
        Two shards:

            shard 0   pieces [1 2] [5]   num_valid 2 1
            shard 1   pieces [3 _] [6]   num_valid 1 1
            ->
            shard 0   rows [1 2 3]   count 3
            shard 1   rows [5 6 0]   count 2
    """
    caller = "concatenate"
    num_shards_on(axis_name, caller)
    check_transport(transport, caller)
    pieces, num_valid = as_pieces(pieces, num_valid, caller)
    lengths = [num_rows_of(piece, caller, "pieces") for piece in pieces]
    capacity = as_capacity(capacity, sum(lengths), caller)
    counts = [
        as_num_valid(count, length, caller)
        for count, length in zip(num_valid, lengths, strict=True)
    ]
    return concatenate_shards(pieces, counts, Dealing(axis_name, "even", transport, capacity))


def concatenate_shards(pieces: list[Any], counts: list[Array], dealing: Dealing) -> Concatenated:
    """Concatenates checked pieces, all of int32 counts, in the layout of a dealing."""
    axis_name, capacity = dealing.axis_name, dealing.capacity
    assert capacity is not None
    num_shards = num_shards_on(axis_name, "concatenate")
    pieces, counts = as_shards((pieces, counts), axis_name)
    # XLA cannot compile an exchange over a mesh if all arguments are empty.
    some = [place for place, piece in enumerate(pieces) if jax.tree.leaves(piece)[0].shape[0] > 0]
    if not some:
        return pack_pieces(pieces[:1], counts[:1], capacity)
    totals = [psum_wide(counts[place], axis_name) for place in some]
    firsts = [widen(jnp.zeros((), jnp.int32))]
    for total in totals:
        firsts.append(add(firsts[-1], total))
    if dealing.layout == "even":
        ranks = even_ranks(firsts[-1], num_shards)
    else:
        ranks = full_ranks(firsts[-1], num_shards, capacity)
    received = []
    for place, first in zip(some, firsts, strict=False):
        before = add(rows_of_shards_before(counts[place], axis_name), first)
        received.append(send_to_ranks(pieces[place], counts[place], before, ranks, dealing))
    # A shard's share of each piece lies before its share of the next.
    return pack_pieces([rows for rows, _ in received], [count for _, count in received], capacity)
