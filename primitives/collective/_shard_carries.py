# SPDX-License-Identifier: Apache-2.0
"""What a scan carries from shard to shard: one small exchange, and a scan over the shards."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._scan_operators import Scan, identity_of
from ..contract._typing import Array
from ..kernels.scan._segmented_scan import per_row
from ..local._named_scan import scan_named
from ..local._operator_scan import scan_by_operator, select_rows
from ..local._segmented_scan import SegmentEncoding
from ..local._take import take_rows
from ._axis import AxisName


class ShardSummary(NamedTuple):
    """What the other shards must know of one: a few numbers. First and last are of the scan.

    Two neighbours, in the order of the scan, belong together unless a head lies between them: a
    flag of either says so, or the ids at their edges differ.
    """

    has_rows: Array
    has_head_inside: Array
    has_head_before: Array
    has_head_behind: Array
    first_id: Array
    last_id: Array
    total: Any


def summary_of(
    totals: Any, encoding: SegmentEncoding, is_head: Array, num_valid: Array, reverse: bool
) -> ShardSummary:
    """Sums up this shard. `totals` are its inclusive results, `is_head` its heads inside."""
    last_row = jnp.maximum(num_valid - 1, 0)
    first, last = (last_row, 0) if reverse else (0, last_row)
    # A head flag stands at the front of its segment, whichever way the scan goes.
    begins = jnp.zeros((), jnp.bool_) if encoding.head_flags is None else encoding.head_flags[0]
    no_head = jnp.zeros_like(begins)
    ids = encoding.segment_ids
    return ShardSummary(
        has_rows=num_valid > 0,
        has_head_inside=jnp.any(is_head),
        has_head_before=no_head if reverse else begins,
        has_head_behind=begins if reverse else no_head,
        first_id=jnp.zeros((), jnp.int32) if ids is None else ids[first],
        last_id=jnp.zeros((), jnp.int32) if ids is None else ids[last],
        total=take_rows(totals, jnp.asarray(last, jnp.int32)),
    )


def carry_into_shard(summary: ShardSummary, scan: Scan, axis_name: AxisName) -> tuple[Array, Any]:
    """Whether the scan goes on from the shards before this one, and with what."""
    shards = _all_gather(summary, axis_name)
    place = jax.lax.axis_index(axis_name)
    num_shards = shards.has_rows.shape[0]
    if scan.reverse:
        shards = jax.tree.map(lambda leaf: jnp.flip(leaf, 0), shards)
        place = num_shards - 1 - place

    # Shards without rows are passed over.
    numbers = jax.lax.iota(jnp.int32, num_shards)
    latest = jax.lax.cummax(jnp.where(shards.has_rows, numbers, -1))
    before = jnp.concatenate([jnp.full_like(latest[:1], -1), latest[:-1]])
    neighbour = take_rows(shards, jnp.maximum(before, 0), is_unique=False)
    restarts = (
        (before < 0)
        | neighbour.has_head_behind
        | shards.has_head_before
        | (neighbour.last_id != shards.first_id)
    )
    heads = shards.has_rows & (restarts | shards.has_head_inside)
    carries = _scan_shards(shards.has_rows, heads, shards.total, scan)
    goes_on = ~restarts[place] & summary.has_rows
    return goes_on, take_rows(carries, jnp.maximum(place - 1, 0))


def _scan_shards(has_rows: Array, heads: Array, totals: Any, scan: Scan) -> Any:
    num_shards = jnp.asarray(has_rows.shape[0], jnp.int32)
    op, forward = scan.op, Scan(scan.op, False, False)
    if scan.is_named:
        totals = jax.tree.map(
            lambda leaf: jnp.where(per_row(has_rows, leaf.ndim), leaf, identity_of(op, leaf.dtype)),
            totals,
        )
        return scan_named(totals, heads, num_shards, forward)
    forward = forward._replace(op=_OfShardsWithRows(op))
    _, carries = scan_by_operator((has_rows, totals), heads, num_shards, None, forward)
    return carries


@dataclass(frozen=True)
class _OfShardsWithRows:
    """An operator on pairs (whether there are rows, their total). Hashable: it is static."""

    op: Any

    def __call__(self, left: tuple[Array, Any], right: tuple[Array, Any]) -> tuple[Array, Any]:
        left_has_rows, left_total = left
        right_has_rows, right_total = right
        # Where there is no row there is no value: the operator sees one that there is.
        first = _select(left_has_rows, left_total, right_total)
        second = _select(right_has_rows, right_total, left_total)
        combined = self.op(first, second)
        total = _select(
            left_has_rows & right_has_rows, combined, _select(right_has_rows, second, first)
        )
        return left_has_rows | right_has_rows, total


def _select(flag: Array, row: Any, other: Any) -> Any:
    return jax.tree.map(lambda a, b: jnp.where(flag, a, b), row, other)


def with_carry(
    goes_on: Array, carry: Any, results: Any, is_before_head: Array, combine: Any, identity: Any
) -> Any:
    """Combines what is carried in with the rows before the first head.

    `identity` stands for the carry in the other rows, whose results and derivatives it must not
    touch.
    """
    takes_carry = is_before_head & goes_on
    carried = jax.tree.map(
        lambda row, leaf: jnp.broadcast_to(row[None], leaf.shape), carry, results
    )
    combined = combine(select_rows(takes_carry, carried, identity), results)
    return select_rows(takes_carry, combined, results)


def _all_gather(tree: Any, axis_name: AxisName) -> Any:
    """Gathers small arrays from all shards, one message for each dtype."""
    leaves, structure = jax.tree.flatten(tree)
    by_dtype: dict[Any, list[int]] = {}
    for i, leaf in enumerate(leaves):
        by_dtype.setdefault(leaf.dtype, []).append(i)
    gathered: list[Any] = [None] * len(leaves)
    for members in by_dtype.values():
        numbers = jnp.concatenate([leaves[i].reshape(-1) for i in members])
        matrix = jax.lax.all_gather(numbers, axis_name)
        start = 0
        for i in members:
            stop = start + leaves[i].size
            gathered[i] = matrix[:, start:stop].reshape(matrix.shape[0], *leaves[i].shape)
            start = stop
    return jax.tree.unflatten(structure, gathered)
