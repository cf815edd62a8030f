# SPDX-License-Identifier: Apache-2.0
"""Reductions by segment of which each shard owns a range of the segments.

No shard holds all segments. Each reduces its own rows first and sends a partial result for each
segment that it has, at most one for each of its rows. Exact splitters divide these evenly, so that
segments at one end of the range do not crowd one shard; the merged results, one for each segment,
then travel to their owners.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._typing import Array
from ..local.parts import (
    REDUCTIONS,
    OneDevice,
    Segments,
    find_runs,
    merged_parts,
    parts_of,
    reduce_rows,
    segments_of,
)
from ._axis import AxisName, num_shards_on
from ._exchange import Transport
from ._exchange_runs import plan_runs
from ._gather_rows import gather_rows
from ._key_ranges import send_to_key_ranges, total_before
from ._moving import send_runs
from ._radix_sort import global_row_ids
from ._segment_rows import ShardedSegments

_OF_ROW_IDS = ("argmin", "argmax")


def piece_of(num_segments: int, num_shards: int) -> int:
    """The number of segments that each shard owns, some of which may pad the last range."""
    return -(-num_segments // num_shards)


class Ranges(NamedTuple):
    """Segments in ranges of equal length, one for each shard.

    Attributes:
        ids: the segment of each row, int32, negative for rows of no segment.
        num_segments: number of segments.
        axis_name: mesh axis of the rows, or a tuple of axes.
        transport: how partial results travel.
        caller: the op of the error messages.
    """

    ids: Array
    num_segments: int
    axis_name: AxisName
    transport: Transport
    caller: str

    @property
    def piece(self) -> int:
        """The number of segments of a shard."""
        return piece_of(self.num_segments, num_shards_on(self.axis_name, self.caller))

    def reduce(self, x: Any, op: str, ddof: int = 0, fill_value: Array | None = None) -> Any:
        """Reduces rows of all shards; each leaf of the result holds this shard's segments.

        Args:
            x: this shard's rows, a pytree of arrays; None for "count".
            op: the reduction, one of `SEGMENT_OPS`.
            ddof: delta degrees of freedom of "var" and "std".
            fill_value: result of an empty segment; the identity element by default.
        """
        # A count reads no rows.
        leaves, structure = jax.tree.flatten(self.ids if op == "count" else x)
        return structure.unflatten(self._reduce(leaves, op, ddof, fill_value))

    def _reduce(
        self, rows: list[Array], op: str, ddof: int, fill_value: Array | None
    ) -> list[Array]:
        num_rows = self.ids.shape[0]
        # Rows of no segment are one run, the last one, and stay.
        keys = jnp.where(self.ids < 0, np.int32(self.num_segments), self.ids)
        runs = find_runs((keys,), jnp.asarray(num_rows, jnp.int32), is_sorted=False)
        (keys,), count = runs.first_rows((keys,), num_rows)
        count = count - jnp.any(self.ids < 0).astype(jnp.int32)
        if op in _OF_ROW_IDS:
            row_ids = global_row_ids(num_rows, self.axis_name, self.caller)
            moved = [(jax.lax.stop_gradient(leaf), row_ids) for leaf in rows]
        else:
            moved = rows
        segments = segments_of(runs, num_rows)
        parts = [_part(op, leaf, segments) for leaf in runs.moved(moved)]
        (keys,), parts, sent = send_to_key_ranges(
            (keys,), parts, count, self.axis_name, self.transport
        )
        runs = find_runs((keys,), sent.count, is_sorted=False)
        segments = segments_of(runs, keys.shape[0])
        (keys,), count = runs.first_rows((keys,), keys.shape[0])
        merged = [
            _merged(op, part, segments, leaf, ddof)
            for part, leaf in zip(runs.moved(parts), rows, strict=True)
        ]
        slots, merged = self._to_owners(keys, merged, count)
        return [
            _placed(result, slots, _of_no_rows(leaf, op, ddof, fill_value), self.piece)
            for result, leaf in zip(merged, rows, strict=True)
        ]

    def _to_owners(self, ids: Array, rows: list[Array], count: Array) -> tuple[Array, list[Array]]:
        """Sends the results of ascending segments to their owners.

        Returns:
            The slot of each result in the range of this shard, past its end in padding; and the
            results.
        """
        num_shards = num_shards_on(self.axis_name, self.caller)
        is_segment = jax.lax.iota(jnp.int32, ids.shape[0]) < count
        ids = jnp.where(is_segment, ids, np.int32(self.num_segments))
        bounds = np.minimum(np.arange(num_shards + 1) * self.piece, self.num_segments)
        ends = jnp.searchsorted(ids, jnp.asarray(bounds, jnp.int32)).astype(jnp.int32)
        runs = plan_runs(jnp.diff(ends), self.piece, self.axis_name)
        ids, rows = send_runs((ids, rows), runs, self.piece, self.axis_name, self.transport)
        first = jax.lax.axis_index(self.axis_name) * np.int32(self.piece)
        is_row = jax.lax.iota(jnp.int32, self.piece) < runs.count
        return jnp.where(is_row, ids - first, np.int32(self.piece)), rows


@dataclass(frozen=True)
class SortedRanges:
    """Sorted segments, seen by the shard that owns a range of them.

    It has what `quantiles_of` reads of sorted rows, for the segments of this shard.
    """

    rows: ShardedSegments
    num_segments: int

    @property
    def keys(self) -> tuple[Array, ...]:
        """The keys of this shard's sorted rows."""
        return self.rows.keys

    def offsets(self, num_segments: int) -> Array:
        """The positions of the first rows of this shard's segments, and of the end of the last."""
        del num_segments
        rows = self.rows
        ranges = Ranges(
            rows.given_ids, self.num_segments, rows.axis_name, rows.transport, rows.caller
        )
        counts = ranges.reduce(None, "count").astype(rows.count_dtype)
        start = total_before(jnp.sum(counts), counts.dtype, rows.axis_name)
        return start + jnp.pad(jnp.cumsum(counts, dtype=counts.dtype), (1, 0))

    def at(self, rows: Array, positions: Array) -> Array:
        """Rows at positions among the sorted rows of all shards."""
        settings = {"axis_name": self.rows.axis_name, "transport": self.rows.transport}
        return gather_rows(rows, positions, **settings)


def _part(op: str, rows: Any, segments: Segments) -> tuple[Array, ...]:
    """The accumulators of each run. There are at most as many runs as rows."""
    num_rows = segments.ids.shape[0]
    if op not in _OF_ROW_IDS:
        parts = parts_of(rows, op, segments)
    else:
        x, row_ids = rows
        winners = jnp.maximum(REDUCTIONS[op](x, segments, 0), 0)
        parts = jnp.take_along_axis(x, winners, 0), row_ids[winners]
    return tuple(part[:num_rows] for part in parts)


def _merged(op: str, parts: Any, segments: Segments, leaf: Array, ddof: int) -> Array:
    if op not in _OF_ROW_IDS:
        return merged_parts(parts, op, segments, leaf.dtype, ddof)
    values, row_ids = parts
    winners = jnp.maximum(REDUCTIONS[op](values, segments, 0), 0)
    return jnp.take_along_axis(row_ids, winners, 0)


def _of_no_rows(like: Array, op: str, ddof: int, fill_value: Array | None) -> Array:
    """The result of one segment without rows."""
    row, ids = jnp.zeros((1, *like.shape[1:]), like.dtype), jnp.full(1, -1, jnp.int32)
    return reduce_rows(row, ids, None, fill_value, 1, 1, op, ddof, OneDevice())


def _placed(rows: Array, slots: Array, of_no_rows: Array, num_slots: int) -> Array:
    shape = (num_slots, *rows.shape[1:])
    room = jnp.broadcast_to(of_no_rows.astype(rows.dtype), shape)
    return room.at[slots].set(rows, mode="drop", unique_indices=True)
