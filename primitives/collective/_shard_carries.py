# SPDX-License-Identifier: Apache-2.0
"""The carries of a scan between shards: one small exchange, and a scan over the shards."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ..contract._scan_operators import Scan, identity_of
from ..contract._take import take_rows
from ..contract._typing import Array
from ..kernels.scan._segmented_scan import per_row
from ..local.parts import SegmentEncoding, scan_by_operator, scan_named, where_rows
from ._axis import AxisName


class ShardSummary(NamedTuple):
    """The summary of one shard for the others. First and last are in the order of the scan.

    Two neighbouring shards continue a segment unless a head separates them: a flag of either shard
    is set, or their edge ids differ.
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
    """Summarizes this shard, from its inclusive results `totals` and its inner heads `is_head`."""
    last_row = jnp.maximum(num_valid - 1, 0)
    first, last = (last_row, 0) if reverse else (0, last_row)
    # A head flag marks the front of its segment, in either direction of the scan.
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
    """Whether the scan continues from the previous shards, and the carry."""
    shards = _all_gather(summary, axis_name)
    position = jax.lax.axis_index(axis_name)
    num_shards = shards.has_rows.shape[0]
    if scan.reverse:
        shards = jax.tree.map(lambda leaf: jnp.flip(leaf, 0), shards)
        position = num_shards - 1 - position

    # Empty shards are skipped.
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
    goes_on = ~restarts[position] & summary.has_rows
    return goes_on, take_rows(carries, jnp.maximum(position - 1, 0))


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
    _, carries = scan_by_operator((has_rows, totals), heads, num_shards, None, forward, False)
    return carries


@dataclass(frozen=True)
class _OfShardsWithRows:
    """Lifts an operator to pairs (has rows, total). Hashable: it is static."""

    op: Any

    def __call__(self, left: tuple[Array, Any], right: tuple[Array, Any]) -> tuple[Array, Any]:
        left_has_rows, left_total = left
        right_has_rows, right_total = right
        # A shard without rows has no value: the operator gets the other one instead.
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
    """Combines the carry with the rows before the first head.

    The other rows are combined with `identity`, which must not change their results or derivatives.
    """
    takes_carry = is_before_head & goes_on
    carried = jax.tree.map(
        lambda row, leaf: jnp.broadcast_to(row[None], leaf.shape), carry, results
    )
    combined = combine(where_rows(takes_carry, carried, identity), results)
    return where_rows(takes_carry, combined, results)


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
