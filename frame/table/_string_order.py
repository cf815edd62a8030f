# SPDX-License-Identifier: Apache-2.0
"""The order of strings: Arrow's sort for a few, a radix sort by words of their bytes for many."""

from typing import Any

import jax
import numpy as np
import pyarrow as pa

from ... import primitives
from ...shardings._compat import is_x64_enabled
from ._layout import ONE_DEVICE
from ._tracing import at_once
from ._untyped import untyped_compute

# Arrow's sort takes less time for fewer strings.
LEAST_RADIX_SORTED = 1 << 14
# Strings that still tie after so many words are left to Arrow.
MOST_WORDS = 8
# A word is seven bytes of a string, followed by how many of them there are, or eight for more.
WORD_BYTES = 7
HAS_MORE = WORD_BYTES + 1
MASKS = np.array([(1 << 64) - (1 << (64 - 8 * size)) for size in range(WORD_BYTES + 1)], np.uint64)


def ranked(strings: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Ranks strings by code point; equal strings share a rank.

    Args:
        strings: an array of large strings without nulls.

    Returns:
        The rank of each string, and for each rank the row of such a string.
    """
    row_ids = np.arange(len(strings), dtype=np.int32)
    # Whether a position in sorted order is the first of its string.
    is_head = np.ones(len(strings), np.bool_)
    if len(strings) < LEAST_RADIX_SORTED:
        _sort_ties(strings, row_ids, is_head, row_ids.copy())
    else:
        _radix_sort(strings, row_ids, is_head)
    ranks = np.empty(len(strings), np.int32)
    ranks[row_ids] = np.cumsum(is_head, dtype=np.int32) - np.int32(1)
    return ranks, row_ids[is_head]


def _radix_sort(strings: pa.Array, row_ids: np.ndarray, is_head: np.ndarray) -> None:
    """Sorts row ids by the most significant word, then the ties in it by the next."""
    words = _Words(strings)
    start = words.num_common_bytes
    # Sorted positions that tie in all earlier words, and the number of their tie.
    positions, ties = row_ids.copy(), None
    for _ in range(MOST_WORDS):
        rows = row_ids[positions]
        keys = words.at(rows, start)
        order = _argsort(keys, ties)
        rows, keys = rows[order], keys[order]
        heads = np.ones(len(rows), np.bool_)
        heads[1:] = keys[1:] != keys[:-1]
        if ties is not None:
            heads[1:] |= ties[1:] != ties[:-1]
        row_ids[positions], is_head[positions] = rows, heads
        is_tied = ~heads
        is_tied[:-1] |= is_tied[1:]
        is_tied &= (keys & np.uint64(0xFF)) == HAS_MORE
        if not is_tied.any():
            return
        positions, ties = positions[is_tied], np.cumsum(heads, dtype=np.int32)[is_tied]
        start += WORD_BYTES
    _sort_ties(strings, row_ids, is_head, positions)


def _sort_ties(
    strings: pa.Array, row_ids: np.ndarray, is_head: np.ndarray, positions: np.ndarray
) -> None:
    """Sorts the strings at some positions, which hold them in any order, by Arrow."""
    rows = row_ids[positions]
    tied = strings.take(pa.array(rows))
    order = untyped_compute.array_sort_indices(tied)
    tied = tied.take(order)
    row_ids[positions] = rows[order.to_numpy()]
    differs = untyped_compute.not_equal(tied[1:], tied[:-1])
    is_head[positions[1:]] = differs.to_numpy(zero_copy_only=False)


class _Words:
    """Words of strings, as integers in the order of the strings."""

    def __init__(self, strings: pa.Array):
        _, offsets, data = strings.buffers()
        first = strings.offset
        self._offsets = np.frombuffer(offsets, np.int64)[first : first + len(strings) + 1]
        size = int(self._offsets[-1])
        # Eight bytes are read at a time, also at the end.
        self._bytes = np.zeros(size + 8, np.uint8)
        if size:
            self._bytes[:size] = np.frombuffer(data, np.uint8, size)
        bounds: Any = untyped_compute.min_max(strings)
        least, greatest = (bounds[side].as_py().encode() for side in ("min", "max"))
        pairs = enumerate(zip(least, greatest, strict=False))
        self.num_common_bytes = next((at for at, (a, b) in pairs if a != b), len(least))

    def at(self, rows: np.ndarray, start: int) -> np.ndarray:
        """The word of each row from byte `start` on; no row may be shorter."""
        first = self._offsets[rows] + start
        size = np.minimum(self._offsets[rows + np.int32(1)] - first, HAS_MORE)
        eight_bytes = np.ndarray(len(self._bytes) - 7, ">u8", self._bytes, strides=(1,))
        words = eight_bytes[first].astype(np.uint64)
        words &= MASKS[np.minimum(size, WORD_BYTES)]
        return words | size.astype(np.uint64)


def _argsort(words: np.ndarray, ties: np.ndarray | None) -> np.ndarray:
    """The order of words, within ties if there are any."""
    keys = [words]
    if not is_x64_enabled():
        keys = [(words >> np.uint64(32)).astype(np.uint32), words.astype(np.uint32)]
    if ties is not None:
        keys.insert(0, ties)
    num_rows = len(words)
    padding = ONE_DEVICE.capacity_for(num_rows) - num_rows
    padded = [np.pad(key, (0, padding)) for key in keys]
    return np.asarray(at_once(_row_ids, padded, num_rows))[:num_rows]


def _row_ids(keys: list[np.ndarray], num_rows: int) -> Any:
    return primitives.radix_argsort(tuple(map(jax.device_put, keys)), num_valid=num_rows)
