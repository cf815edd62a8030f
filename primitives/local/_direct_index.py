# SPDX-License-Identifier: Apache-2.0
"""Direct index: integer keys of a small range are segment ids.

Several key columns make one segment id, as digits make a number. No keys are compared, and the
segments are in the order of the keys.
"""

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._take import take_rows_or_zeros
from ..contract._typing import Array
from ..kernels.move._compact import flagged_rows
from ..kernels.reduce._integer_range import range_of_integers
from ..tiers._tiered import tiered
from ._one_device import OneDevice
from ._segment_ops import REDUCTIONS, Segments
from ._segments import as_given_ids, place_segment_ids


class DirectIndex(NamedTuple):
    """Segment id of a key: `sum((key - least) * stride)` over the columns.

    Attributes:
        least: the least key of each column.
        widths: the number of keys from the least to the greatest of each column, int32.
        strides: the product of the widths of the less significant columns, int32.
        fits: whether the table has enough segments; the other fields mean nothing otherwise.
    """

    least: tuple[Array, ...]
    widths: tuple[Array, ...]
    strides: tuple[Array, ...]
    fits: Array

    def segments(self, columns: Sequence[Array], num_valid: Array, num_segments: int) -> Segments:
        """The rows of key columns as segments, for reductions."""
        if len(columns) == 1:
            ids, first_id = _as_integers(columns[0]), self.least[0]
        else:
            ids, first_id = jnp.zeros((), jnp.int32), None
            for column, least, stride in zip(columns, self.least, self.strides, strict=True):
                ids = ids + (_as_integers(column) - least).astype(jnp.int32) * stride
        placed = place_segment_ids(ids, num_segments, num_valid, True, first_id)
        given = as_given_ids(ids, first_id, num_valid, num_segments)
        return Segments(placed, num_segments, OneDevice(), given)

    def keys_of(self, segment_ids: Array, dtypes: Sequence[Any]) -> tuple[Array, ...]:
        """The key columns of segments."""
        numbers = zip(self.least, self.widths, self.strides, dtypes, strict=True)
        return tuple(
            # A distance that overflows the dtype wraps, and the sum wraps back.
            (least + (segment_ids // stride % width).astype(least.dtype)).astype(dtype)
            for least, width, stride, dtype in numbers
        )


def can_index(columns: Sequence[Array]) -> bool:
    """Whether keys are integers or bools, and there are rows."""
    return columns[0].shape[0] > 0 and all(
        column.dtype == jnp.bool_ or jnp.issubdtype(column.dtype, jnp.integer) for column in columns
    )


def ranges_of(columns: Sequence[Array], num_valid: Array) -> tuple[tuple[Array, Array], ...]:
    """The least and the greatest key of each column, as integers of at least 32 bits."""
    return tuple(_range_of(column, num_valid) for column in columns)


def _range_of(column: Array, num_valid: Array) -> tuple[Array, Array]:
    if column.dtype == jnp.bool_:
        return jnp.int32(0), jnp.int32(1)
    least, greatest = range_of_integers(column, num_valid)
    return _as_integers(least), _as_integers(greatest)


def _as_integers(keys: Array) -> Array:
    # Narrow integers may not hold the distance between two of them.
    return keys.astype(jnp.int32) if keys.dtype.itemsize < 4 else keys


def index_of(ranges: Sequence[tuple[Array, Array]], num_segments: int) -> DirectIndex:
    """The index of keys in known ranges, for a table of `num_segments`."""
    fits, size, widths = jnp.bool_(True), jnp.int32(1), []
    for least, greatest in ranges:
        # Without valid rows the least key exceeds the greatest. No row reads that distance.
        distance = greatest - least
        unsigned = np.dtype(f"u{distance.dtype.name.removeprefix('u')}")
        is_near = distance.astype(unsigned) < unsigned.type(num_segments)
        width = jnp.where(is_near, distance.astype(jnp.int32), np.int32(0)) + np.int32(1)
        fits = fits & is_near & (width <= np.int32(num_segments) // size)
        size = jnp.where(fits, size * width, size)
        widths.append(width)
    strides = [jnp.int32(1)]
    for width in widths[:0:-1]:
        strides.insert(0, strides[0] * width)
    return DirectIndex(tuple(least for least, _ in ranges), tuple(widths), tuple(strides), fits)


def reduce_segments(
    segments: Segments, leaves: Sequence[Array], names: Sequence[str], ddof: int
) -> list[Array]:
    """One reduction for each leaf."""
    return [
        segments.counts if name == "count" else REDUCTIONS[name](leaf, segments, ddof)
        for name, leaf in zip(names, leaves, strict=True)
    ]


def take_segments(
    index: DirectIndex, counts: Array, tables: Any, dtypes: Sequence[Any], capacity: int
) -> tuple[tuple[Array, ...], Any, Array]:
    """The keys and reductions of segments that have rows, and their number, padded with zeros."""
    is_key = counts > 0
    segment_ids, count = flagged_rows(is_key, capacity, jnp.int32(is_key.shape[0]))
    is_shown = jax.lax.iota(jnp.int32, capacity) < count
    keys = index.keys_of(segment_ids, dtypes)
    keys = tuple(jnp.where(is_shown, key, jnp.zeros((), key.dtype)) for key in keys)
    return keys, take_rows_or_zeros(tables, segment_ids, is_shown), count


@functools.partial(tiered, static_argnums=(4, 5, 6))
def reduce_indexed(
    columns: tuple[Array, ...],
    leaves: list[Array],
    num_valid: Array,
    ranges: Sequence[tuple[Array, Array]],
    num_segments: int,
    names: tuple[str, ...],
    ddof: int,
) -> tuple[Array, list[Array], Array]:
    """Row counts and reductions of each segment, and the number of nonempty segments."""
    segments = index_of(ranges, num_segments).segments(columns, num_valid, num_segments)
    tables = reduce_segments(segments, leaves, names, ddof)
    return segments.counts, tables, jnp.sum(segments.counts > 0, dtype=jnp.int32)


@functools.partial(tiered, static_argnums=(3, 4))
def take_indexed(
    counts: Array,
    tables: list[Array],
    ranges: Sequence[tuple[Array, Array]],
    dtypes: tuple[str, ...],
    capacity: int,
) -> tuple[tuple[Array, ...], list[Array], Array]:
    """`take_segments` of the results of `reduce_indexed`."""
    return take_segments(index_of(ranges, counts.shape[0]), counts, tables, dtypes, capacity)
