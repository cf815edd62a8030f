# SPDX-License-Identifier: Apache-2.0
"""Direct index: integer keys of a small range are segment ids.

Several key columns make one segment id, as digits make a number of mixed radix. No keys are
compared, and the segments are in the order of the keys.
"""

import dataclasses
import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..contract._key_bits import ordered_words
from ..contract._take import take_rows_or_zeros
from ..contract._typing import Array
from ..kernels.move._compact import flagged_rows
from ..kernels.reduce._integer_range import range_of_integers
from ..kernels.sort._radix_sort import argsort_columns
from ..tiers._tiered import tiered
from ._one_device import OneDevice
from ._segment_extremes import INT32_MAX, end_rows
from ._segment_ops import REDUCTIONS, Segments
from ._segments import as_given_ids, place_segment_ids


@functools.partial(
    jax.tree_util.register_dataclass, data_fields=("least",), meta_fields=("widths", "can_miss")
)
@dataclasses.dataclass(frozen=True)
class DirectIndex:
    """Numbers of rows, whose digits are the keys of several columns, the most significant first.

    Numbers are in the order of the keys, missing ones last. Columns may be JAX's or NumPy's.

    Attributes:
        least: the least key of each column: a number of the column's dtype, of at least 32 bits.
        widths: the number of digits of each column: integers, or traced ones. A pytree only holds
            integers, which are static.
        can_miss: whether the last digit of each column stands for a missing key. Static.
    """

    least: tuple[Any, ...]
    widths: tuple[Any, ...]
    can_miss: tuple[bool, ...]

    @classmethod
    def between(
        cls, ranges: Sequence[tuple[int, int]], dtypes: Sequence[Any], can_miss: Any = ()
    ) -> "DirectIndex":
        """The index of keys from the least to the greatest of each column, known on the host."""
        least = tuple(
            _wide_dtype(dtype).type(low) for (low, _), dtype in zip(ranges, dtypes, strict=True)
        )
        misses = tuple(can_miss) or (False,) * len(least)
        widths = (
            high - low + 1 + missing for (low, high), missing in zip(ranges, misses, strict=True)
        )
        return cls(least, tuple(widths), misses)

    @property
    def num_segments(self) -> int:
        """The number of combinations of keys, if it is known."""
        return math.prod(self.widths)

    def offsets(self, columns: Sequence[Any]) -> list[Any]:
        """The distance of each key from the least one, an unsigned integer; large if below."""
        return [
            _offsets(column, low).astype(_unsigned(low.dtype))
            for column, low in zip(columns, self.least, strict=True)
        ]

    def holds(self, columns: Sequence[Any]) -> Any:
        """Flags rows whose keys are all in range."""
        offsets = zip(self.offsets(columns), self.widths, strict=True)
        flags = [offset < offset.dtype.type(width) for offset, width in offsets]
        return functools.reduce(operator.and_, flags)

    def numbers(self, columns: Sequence[Any], missing: Sequence[Any], dtype: Any) -> Any:
        """The number of each row; arbitrary if a key is out of range.

        Args:
            columns: the keys.
            missing: flags of missing keys of each column; None where none has a digit.
            dtype: an integer that holds all numbers.
        """
        number, dtype = None, np.dtype(dtype)
        digits = zip(columns, self.least, self.widths, missing, strict=True)
        for column, low, width, is_missing in digits:
            digit = _offsets(column, low)
            if digit.dtype.itemsize < dtype.itemsize:
                # The distance of two keys may overflow their dtype, but not without a sign.
                digit = digit.astype(_unsigned(digit.dtype))
            digit, radix = digit.astype(dtype), _as_radix(width, dtype)
            if is_missing is not None:
                digit = jnp.where(is_missing, radix - dtype.type(1), digit)
            number = digit if number is None else number * radix + digit
        return number

    def digits(self, numbers: Any) -> list[Any]:
        """The digit of each column."""
        rest, digits = numbers, []
        for width in self.widths[:0:-1]:
            radix = _as_radix(width, rest.dtype)
            digits.append(rest % radix)
            rest = rest // radix
        # The numbers of an index are less than its size.
        return [rest, *digits[::-1]]

    def keys_of(self, numbers: Any, dtypes: Sequence[Any]) -> list[tuple[Any, Any]]:
        """The keys of numbers, and flags of missing ones; None for a column without any."""
        digits = zip(
            self.digits(numbers), self.least, self.widths, self.can_miss, dtypes, strict=True
        )
        return [
            # A distance that overflows the dtype wraps, and the sum wraps back.
            (
                (low + digit.astype(low.dtype)).astype(dtype),
                digit == _as_radix(width, digit.dtype) - 1 if can_miss else None,
            )
            for digit, low, width, can_miss, dtype in digits
        ]


def _wide_dtype(dtype: Any) -> np.dtype:
    """The dtype of distances: narrow integers may not hold the distance between two of them."""
    dtype = np.dtype(dtype)
    return dtype if dtype.itemsize >= 4 else np.dtype(np.int32)


def _unsigned(dtype: Any) -> np.dtype:
    return np.dtype(f"u{np.dtype(dtype).itemsize}")


def _offsets(column: Any, low: Any) -> Any:
    return column.astype(low.dtype) - low


def _as_radix(width: Any, dtype: Any) -> Any:
    return width.astype(dtype) if hasattr(width, "astype") else np.dtype(dtype).type(width)


def segments_of_index(
    index: DirectIndex, columns: Sequence[Array], num_valid: Array, num_segments: int
) -> Segments:
    """The rows of key columns in range as segments, for reductions."""
    if len(columns) == 1:
        ids, first_id = _as_integers(columns[0]), index.least[0]
    else:
        ids, first_id = index.numbers(columns, (None,) * len(columns), np.int32), None
    placed = place_segment_ids(ids, num_segments, num_valid, True, first_id)
    given = as_given_ids(ids, first_id, num_valid, num_segments)
    return Segments(placed, num_segments, OneDevice(), given)


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


def index_of(ranges: Sequence[tuple[Array, Array]], num_segments: int) -> tuple[DirectIndex, Array]:
    """The index of keys in traced ranges, and whether a table of `num_segments` holds it."""
    fits, size, widths = jnp.bool_(True), jnp.int32(1), []
    for least, greatest in ranges:
        # Without valid rows the least key exceeds the greatest. No row reads that distance.
        distance = greatest - least
        unsigned = _unsigned(distance.dtype)
        is_near = distance.astype(unsigned) < unsigned.type(num_segments)
        width = jnp.where(is_near, distance.astype(jnp.int32), np.int32(0)) + np.int32(1)
        fits = fits & is_near & (width <= np.int32(num_segments) // size)
        size = jnp.where(fits, size * width, size)
        widths.append(width)
    least = tuple(low for low, _ in ranges)
    return DirectIndex(least, tuple(widths), (False,) * len(least)), fits


def reduce_segments(
    segments: Segments, leaves: Sequence[Array], names: Sequence[str], ddof: int
) -> list[Array]:
    """One reduction for each leaf."""
    return [
        segments.counts if name == "count" else REDUCTIONS[name](leaf, segments, ddof)
        for name, leaf in zip(names, leaves, strict=True)
    ]


def take_segments(
    index: DirectIndex,
    counts: Array,
    tables: Any,
    dtypes: Sequence[Any],
    capacity: int,
    first_rows: Array | None = None,
) -> tuple[tuple[Array, ...], Any, Array]:
    """The keys and reductions of segments that have rows, and their number, padded with zeros.

    They are in the order of `first_rows`, if these are given; otherwise in the order of the keys.
    """
    is_key = counts > 0
    if first_rows is None:
        segment_ids, count = flagged_rows(is_key, capacity, jnp.int32(is_key.shape[0]))
    else:
        # Segments without rows have no first row, and come last.
        segment_ids = in_first_order(first_rows, capacity)
        count = jnp.sum(is_key, dtype=jnp.int32)
    is_shown = jax.lax.iota(jnp.int32, capacity) < count
    keys = index.keys_of(segment_ids, dtypes)
    keys = tuple(jnp.where(is_shown, key, jnp.zeros((), key.dtype)) for key, _ in keys)
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
    index, _ = index_of(ranges, num_segments)
    segments = segments_of_index(index, columns, num_valid, num_segments)
    tables = reduce_segments(segments, leaves, names, ddof)
    return segments.counts, tables, jnp.sum(segments.counts > 0, dtype=jnp.int32)


@functools.partial(tiered, static_argnums=(4, 5))
def take_indexed(
    counts: Array,
    tables: list[Array],
    first_rows: Array | None,
    ranges: Sequence[tuple[Array, Array]],
    dtypes: tuple[str, ...],
    capacity: int,
) -> tuple[tuple[Array, ...], list[Array], Array]:
    """`take_segments` of the results of `reduce_indexed`."""
    index, _ = index_of(ranges, counts.shape[0])
    return take_segments(index, counts, tables, dtypes, capacity, first_rows)


@functools.partial(tiered, static_argnums=2)
def index_numbers(
    columns: tuple[Array, ...], ranges: Sequence[tuple[Array, Array]], num_segments: int
) -> Array:
    """The segment id of each row, int32."""
    index, _ = index_of(ranges, num_segments)
    return index.numbers(columns, (None,) * len(columns), np.int32)


@functools.partial(tiered, static_argnums=(3, 4))
def first_rows_among(
    columns: tuple[Array, ...],
    num_valid: Array,
    ranges: Sequence[tuple[Array, Array]],
    num_segments: int,
    num_searched: int,
) -> tuple[Array, Array]:
    """The first row of each segment among the first rows, and the number of segments found."""
    index, _ = index_of(ranges, num_segments)
    rows = tuple(column[:num_searched] for column in columns)
    num_valid = jnp.minimum(num_valid, num_searched)
    segments = segments_of_index(index, rows, num_valid, num_segments)
    first_rows = end_rows(segments.ids, num_segments, is_last=False)
    return first_rows, jnp.sum(first_rows < INT32_MAX, dtype=jnp.int32)


def in_first_order(first_rows: Array, capacity: int) -> Array:
    """The ids of groups in the order of their first rows, padded; those without one come last."""
    order = argsort_columns(ordered_words((first_rows,), (False,)), None)[:capacity]
    return jnp.pad(order, (0, capacity - order.shape[0]))
