# SPDX-License-Identifier: Apache-2.0
"""Rows sorted by the segment that each names, and results put back at the rows' positions.

The collectives have a class with the same methods, so that what is computed of sorted segments is
written once.
"""

import functools
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._arguments import as_num_valid, as_static_int
from ..contract._key_bits import OrderedWord, ordered_words
from ..contract._moved import with_tangents
from ..contract._platform import by_platform
from ..contract._scan_operators import Scan
from ..contract._take import take_rows
from ..contract._typing import Array
from ..kernels.base._pallas import on_tpu
from ..kernels.sort._put_back import put_back
from ..kernels.sort._radix_sort import sort_columns
from ..tiers._tiered import tiered
from ._bucket import as_bucket_ids
from ._scan_segments import ScanArguments, SegmentEncoding, scan_segments
from ._segments import as_given_ids, count_given, count_rows, place_segment_ids


class SegmentIds(NamedTuple):
    """The checked segment of each row: int32, -1 for rows of no segment; and their number."""

    ids: Array
    num_segments: int

    def without(self, missing: Array | None) -> "SegmentIds":
        """The ids with flagged rows in no segment."""
        if missing is None:
            return self
        return self._replace(ids=jnp.where(missing, np.int32(-1), self.ids))

    def of_numbers(self, columns: tuple[Array, ...]) -> "SegmentIds":
        """The ids with rows that have a NaN in a column in no segment."""
        floats = [column for column in columns if jnp.issubdtype(column.dtype, jnp.floating)]
        return self._replace(ids=_without_nan(self.ids, floats)) if floats else self

    @property
    def key(self) -> tuple[Array, int]:
        """The ids as a sort key, rows of no segment last, and the number of its bits."""
        key = jnp.where(self.ids < 0, np.int32(self.num_segments), self.ids)
        return key.astype(jnp.uint32), self.num_segments.bit_length()


def as_segment_ids(
    segment_ids: Any,
    num_segments: Any,
    num_rows: int,
    num_valid: Any,
    caller: str,
    names: tuple[str, str] = ("segment_ids", "num_segments"),
) -> SegmentIds:
    """Checks that each row names a segment; padding and other ids belong to no segment."""
    num_segments = as_static_int(num_segments, caller, names[1], 1, 2**31 - 1)
    ids = as_bucket_ids(segment_ids, num_rows, caller, names[0])
    valid = None if num_valid is None else as_num_valid(num_valid, num_rows, caller)
    return SegmentIds(_placed(ids, num_segments, valid), num_segments)


@functools.partial(tiered, static_argnums=1, inline=True)
def _placed(ids: Array, num_segments: int, num_valid: Array | None) -> Array:
    return place_segment_ids(ids, num_segments, num_valid, is_exact=False)


@functools.partial(tiered, inline=True)
def _without_nan(ids: Array, floats: list[Array]) -> Array:
    missing = functools.reduce(jnp.logical_or, map(jnp.isnan, floats))
    return jnp.where(missing, np.int32(-1), ids)


class SortedSegments(NamedTuple):
    """One device's rows, sorted by segment and within it by keys; rows of no segment last.

    Attributes:
        ids: the segment of each sorted row; `num_segments` for rows of no segment.
        keys: the keys of the sorted rows.
        values: the rows of a pytree that the sort has moved with its keys.
        words: ids and keys of the sorted rows, as words in their order.
        row_ids: the position of each sorted row before the sort.
        num_members: the number of rows that belong to a segment.
        given_ids: the segment of each row before the sort.
    """

    ids: Array
    keys: tuple[Array, ...]
    values: Any
    words: tuple[OrderedWord, ...]
    row_ids: Array
    num_members: Array
    given_ids: Array

    @property
    def count_dtype(self) -> Any:
        """The dtype of counts of rows."""
        return jnp.int32

    def heads(self) -> Array:
        """Where a segment begins."""
        return differs_from_row_before((self.ids,))

    def tie_heads(self) -> Array:
        """Where a run of rows of one segment with equal keys begins."""
        return differs_from_row_before(tuple(word.ordered() for word in self.words))

    def scan(self, rows: Any, scan: Scan, heads: Array, initial: Any = None) -> Any:
        """Scans sorted rows from head to head; zeros for rows of no segment."""
        arguments = ScanArguments(rows, scan, initial, self.num_members)
        return scan_segments(arguments, SegmentEncoding(heads, None))

    def shifted(self, rows: Any, periods: Array) -> tuple[Any, Array]:
        """The row `periods` sorted rows before each, and whether it is of the same segment."""
        num_rows = self.ids.shape[0]
        # An id past 2^31 wraps around to a negative one, which names no row either.
        sources = jax.lax.iota(jnp.int32, num_rows) - clipped(periods, jnp.int32)
        is_row = (sources >= 0) & (sources < num_rows)

        def by_slice(rows: Any, periods: Array) -> Any:
            return jax.tree.map(lambda leaf: _rolled(leaf, clipped(periods, jnp.int32)), rows)

        def by_gather(rows: Any, periods: Array) -> Any:
            del periods
            return take_rows(rows, jnp.where(is_row, sources, 0), is_unique=False)

        kernel = on_tpu(by_slice) if num_rows else {}
        rows, ids = by_platform((rows, self.ids), periods, default=by_gather, **kernel)
        return rows, is_row & (ids == self.ids)

    def put_back(self, rows: Any) -> Any:
        """Sorted rows at the positions that they had before the sort."""

        leaves, structure = jax.tree.flatten(rows)
        return jax.tree.unflatten(structure, put_back(self.row_ids, leaves))

    def counts(self, is_counted: Array, num_segments: int) -> Array:
        """Flagged sorted rows of each segment, int32."""
        return count_rows(jnp.where(is_counted, self.ids, np.int32(-1)), num_segments)

    def offsets(self, num_segments: int) -> Array:
        """The position of each segment's first sorted row, and the end of the last segment."""
        counts = rows_in_segments(self.given_ids, num_segments)
        return jnp.concatenate([jnp.zeros_like(counts[:1]), jnp.cumsum(counts, dtype=jnp.int32)])

    def at(self, rows: Array, positions: Array) -> Array:
        """Sorted rows at positions in range."""
        return take_rows(rows, positions, is_unique=False)


def _rolled(rows: Array, periods: Array) -> Array:
    """The row `periods` rows before each, arbitrary where there is none."""
    num_rows = rows.shape[0]
    periods = jnp.clip(periods, -num_rows, num_rows)
    around = jnp.concatenate([rows, rows, rows])
    return jax.lax.dynamic_slice_in_dim(around, num_rows - periods, num_rows)


def rows_in_segments(ids: Array, num_segments: int) -> Array:
    """Number of rows of each segment, int32."""
    given = as_given_ids(ids, None, None, num_segments)
    if given is None:
        return count_rows(ids, num_segments)
    return count_given(given, ids, num_segments)


def clipped(number: Array, dtype: Any) -> Array:
    """An integer in a signed dtype, cut to its range."""
    given, limit = jnp.iinfo(number.dtype), jnp.iinfo(dtype).max
    bounds = (max(given.min, -limit), min(given.max, limit))
    return jnp.clip(number, *map(number.dtype.type, bounds)).astype(dtype)


def differs_from_row_before(columns: tuple[Array, ...]) -> Array:
    """Which rows differ from the one before them in a column; the first row does."""
    differs = jnp.zeros(columns[0].shape, jnp.bool_)
    for column in columns:
        is_first = column[:1] == column[:1]
        differs |= jnp.concatenate([is_first, column[1:] != column[:-1]])
    return differs


def sort_segments(
    segments: SegmentIds,
    keys: tuple[Array, ...] = (),
    descending: tuple[bool, ...] = (),
    values: Any = None,
) -> SortedSegments:
    """Sorts one device's rows by segment, then by keys; ties stay in row order."""
    ids, bits = segments.key
    columns = (ids, *map(jax.lax.stop_gradient, keys))
    words = ordered_words(columns, (False, *descending), (bits, *(None for _ in keys)))
    leaves, structure = jax.tree.flatten((keys, values))
    plain = tuple(map(jax.lax.stop_gradient, leaves))
    ordered, row_ids, moved = sort_columns(words, None, plain, words="order", with_ids=True)
    moved = jax.tree.unflatten(structure, moved)
    keys, values = with_tangents(take_rows, moved, (keys, values), row_ids)
    first = words[0]
    # Keys that are packed with the ids lie in the lower bits.
    sorted_ids = ordered[0] >> ordered[0].dtype.type(first.bits - bits)
    words = tuple(
        OrderedWord(word, 0, column.bits, is_whole=True)
        for word, column in zip(ordered, words, strict=True)
    )
    num_members = jnp.sum(segments.ids >= 0, dtype=jnp.int32)
    return SortedSegments(
        sorted_ids.astype(jnp.int32), keys, values, words, row_ids, num_members, segments.ids
    )
