# SPDX-License-Identifier: Apache-2.0
"""Rows sorted over the shards by the segment that each names, and results sent back to the rows.

The sort is exactly balanced, so a segment may lie over any number of shards, and one that holds
most rows costs no more than others.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._key_bits import OrderedWord
from ..contract._moved import with_tangents
from ..contract._scan_operators import Scan
from ..contract._take import take_rows
from ..contract._typing import Array
from ..local.parts import (
    ScanArguments,
    SegmentEncoding,
    SegmentIds,
    clipped,
    differs_from_row_before,
    rows_in_segments,
)
from ._axis import AxisName, as_shards, num_shards_on
from ._exchange import Transport
from ._gather_rows import gather_rows
from ._over_shards import OverShards
from ._partition import partition
from ._radix_sort import global_row_ids, row_id_dtype
from ._scan_shards import scan_shards
from ._sort_shards import sort_shards
from ._sorted_runs import Dealing, SortOrder


class ShardedSegments(NamedTuple):
    """This shard's part of all rows in the order of their segments, and within them of keys.

    `local._segment_rows.SortedSegments` says what each field and method is. Every shard has as many
    sorted rows as it had rows before, padding included, so the position of a sorted row is
    `shard * rows + row`. `row_ids` are global.
    """

    ids: Array
    keys: tuple[Array, ...]
    values: Any
    words: tuple[OrderedWord, ...]
    row_ids: Array | None
    num_members: Array
    given_ids: Array
    axis_name: AxisName
    transport: Transport
    caller: str

    @property
    def _num_shards(self) -> int:
        return num_shards_on(self.axis_name, self.caller)

    @property
    def _num_rows(self) -> int:
        return self.ids.shape[0]

    @property
    def count_dtype(self) -> Any:
        return row_id_dtype(self._num_rows * self._num_shards, self.caller)

    def heads(self) -> Array:
        return self._heads((self.ids,))

    def tie_heads(self) -> Array:
        return self._heads(tuple(word.ordered() for word in self.words))

    def _heads(self, columns: tuple[Array, ...]) -> Array:
        # The first row follows the last row of the shard before.
        last_rows = jax.lax.all_gather(tuple(x[-1] for x in columns), self.axis_name)
        shard = jax.lax.axis_index(self.axis_name)
        is_first_head = shard == 0
        for column, last in zip(columns, last_rows, strict=True):
            is_first_head |= column[0] != last[jnp.maximum(shard - 1, 0)]
        return differs_from_row_before(columns).at[0].set(is_first_head)

    def scan(self, rows: Any, scan: Scan, heads: Array, initial: Any = None) -> Any:
        arguments = ScanArguments(rows, scan, initial, self.num_members)
        return scan_shards(arguments, SegmentEncoding(heads, None), self.axis_name)

    def shifted(self, rows: Any, periods: Array) -> tuple[Any, Array]:
        dtype, num_total = self.count_dtype, self._num_rows * self._num_shards
        positions = global_row_ids(self._num_rows, self.axis_name, self.caller)
        sources = positions - clipped(periods, dtype)
        is_row = (sources >= 0) & (sources < num_total)
        rows, ids = gather_rows(
            (rows, self.ids),
            jnp.where(is_row, sources, -1),
            axis_name=self.axis_name,
            transport=self.transport,
        )
        return rows, is_row & (ids == self.ids)

    def put_back(self, rows: Any) -> Any:
        assert self.row_ids is not None
        home, row = jnp.divmod(self.row_ids, self._num_rows)
        (rows, row), _ = partition(
            (rows, row.astype(jnp.int32)),
            home,
            axis_name=self.axis_name,
            transport=self.transport,
        )

        def put(leaf: Array) -> Array:
            room = jnp.zeros_like(leaf)
            return room.at[row].set(leaf, unique_indices=True, mode="promise_in_bounds")

        return jax.tree.map(put, rows)

    def counts(self, is_counted: Array, num_segments: int) -> Array:
        counts = rows_in_segments(jnp.where(is_counted, self.ids, np.int32(-1)), num_segments)
        return jax.lax.psum(counts, self.axis_name)

    def offsets(self, num_segments: int) -> Array:
        counts = rows_in_segments(self.given_ids, num_segments).astype(self.count_dtype)
        counts = jax.lax.psum(counts, self.axis_name)
        ends = jnp.cumsum(counts, dtype=counts.dtype)
        return jnp.concatenate([jnp.zeros_like(ends[:1]), ends])

    def at(self, rows: Array, positions: Array) -> Array:
        over = OverShards(self.axis_name, self._num_shards, False, self.caller)
        own = positions - global_row_ids(self._num_rows, self.axis_name, self.caller)[0]
        is_owner = (own >= 0) & (own < self._num_rows)
        own = jnp.where(is_owner, own, 0).astype(jnp.int32)
        selected = over.select(jax.lax.stop_gradient(rows), own, is_owner)
        route = functools.partial(_add_owned, over=over)
        return with_tangents(route, selected, rows, (own, is_owner))


def _add_owned(matrix: Array, plan: tuple[Array, Array], *, over: OverShards) -> Array:
    rows, is_owner = plan
    taken = take_rows(matrix, rows, is_unique=False)
    return over.total(jnp.where(is_owner[:, None], taken, jnp.zeros((), matrix.dtype)))


def sort_segments(
    segments: SegmentIds,
    keys: tuple[Array, ...] = (),
    descending: tuple[bool, ...] = (),
    values: Any = None,
    *,
    axis_name: AxisName,
    transport: Transport = "auto",
    caller: str,
    is_put_back: bool = True,
) -> ShardedSegments:
    """Sorts the rows of all shards by segment, then by keys; ties stay in row order.

    Without `is_put_back` no row id travels.
    """
    key, bits = segments.key
    ids, keys, values = as_shards((key, keys, values), axis_name)
    num_rows = ids.shape[0]
    order = SortOrder((False, *descending), (bits, *(None for _ in keys)))
    row_ids = global_row_ids(num_rows, axis_name, caller) if is_put_back else None
    moved = (row_ids, values)
    if not jax.tree.leaves(moved):
        moved = None
    columns, moved, _ = sort_shards(
        (ids, *keys),
        moved,
        order,
        as_shards(jnp.asarray(num_rows, jnp.int32), axis_name),
        Dealing(axis_name, "even", transport),
    )
    row_ids, values = (None, None) if moved is None else moved
    sorted_ids = columns[0].astype(jnp.int32)
    num_members = jnp.sum(sorted_ids < segments.num_segments, dtype=jnp.int32)
    plain_columns = jax.lax.stop_gradient(columns)
    return ShardedSegments(
        sorted_ids,
        columns[1:],
        values,
        order.words(plain_columns),
        row_ids,
        num_members,
        as_shards(segments.ids, axis_name),
        axis_name,
        transport,
        caller,
    )
