# SPDX-License-Identifier: Apache-2.0
"""Rows chosen, repeated, drawn and moved."""

from typing import Any

import jax
import numpy as np

from ._keys import take, with_zeros_behind


def bucket(
    rows: Any, bucket_ids: np.ndarray, num_buckets: int, *, num_valid: int | None = None
) -> tuple[Any, np.ndarray, np.ndarray]:
    num_valid = len(bucket_ids) if num_valid is None else num_valid
    valid_ids = bucket_ids[:num_valid]
    members = [np.flatnonzero(valid_ids == bucket_id) for bucket_id in range(num_buckets)]
    strays = np.flatnonzero((valid_ids < 0) | (valid_ids >= num_buckets))
    padding = np.arange(num_valid, len(bucket_ids))
    row_ids = np.concatenate([*members, strays, padding]).astype(np.int32)
    offsets = np.cumsum([0, *map(len, members)]).astype(np.int32)
    return take(rows, row_ids), offsets, row_ids


def compact(
    mask: np.ndarray,
    rows: Any,
    capacity: int | None = None,
    num_valid: int | None = None,
    return_index: bool = False,
) -> tuple[Any, np.ndarray | None, np.int32]:
    """The flagged rows and their ids, cut off at the capacity, with zeros behind; the true count.

    The ids are None unless they were asked for, or there are no rows.
    """
    capacity = len(mask) if capacity is None else capacity
    row_ids = [row for row in range(len(mask) if num_valid is None else num_valid) if mask[row]]
    first = np.array(row_ids[:capacity], np.int32)
    kept = with_zeros_behind(take(rows, first), capacity)
    wants_ids = return_index or rows is None
    ids = with_zeros_behind(first, capacity) if wants_ids else None
    return kept, ids, np.int32(len(row_ids))


def repeat_rows(repeats: np.ndarray, capacity: int, num_valid: int | None = None) -> Any:
    """The row of each copy and its number, cut off at the capacity; the true count."""
    num_valid = len(repeats) if num_valid is None else num_valid
    counts = [max(int(count), 0) for count in repeats[:num_valid]]
    pairs = [(row, copy) for row, count in enumerate(counts) for copy in range(count)]
    row_ids, copies = np.full(capacity, -1, np.int32), np.zeros(capacity, np.int32)
    for place, (row, copy) in enumerate(pairs[:capacity]):
        row_ids[place], copies[place] = row, copy
    return row_ids, copies, np.int32(len(pairs))


def partition(
    rows: list[np.ndarray], destinations: list[np.ndarray], num_shards: int
) -> list[np.ndarray]:
    """Rows by destination, in the order of (source shard, source row)."""
    all_rows, all_destinations = np.concatenate(rows), np.concatenate(destinations)
    return [all_rows[all_destinations == shard] for shard in range(num_shards)]


def random_words(key: Any, num_rows: int) -> np.ndarray:
    """The words of the keys that each row's number derives from a key."""
    keys = [jax.random.fold_in(key, row) for row in range(num_rows)]
    words = [np.asarray(jax.random.key_data(key))[:2] for key in keys]
    return np.array(words, np.uint32).reshape(num_rows, 2)


def random_permutation(key: Any, num_rows: int) -> np.ndarray:
    """Row ids in the order of their words."""
    high, low = random_words(key, num_rows).T
    return np.lexsort((low, high)).astype(np.int32)


def pack(
    lengths: np.ndarray, length: int, how: str, capacity: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.int32]:
    """Documents one by one into rows, which are lists of document ids."""
    documents = [one for one in range(len(lengths)) if lengths[one] <= length]
    if how != "next_fit":
        documents.sort(key=lambda one: -lengths[one])
    room: list[int] = []
    row_ids, offsets = np.full(len(lengths), -1, np.int32), np.zeros(len(lengths), np.int32)
    segment_ids, positions = np.full((capacity, length), -1), np.zeros((capacity, length))
    count = 0
    for one in documents:
        size = lengths[one]
        fits = [row for row, left in enumerate(room) if left >= size]
        if how == "next_fit":
            fits = [row for row in fits if row == len(room) - 1]
        elif how == "best_fit_decreasing":
            fits.sort(key=lambda row: room[row])
        if not fits and (len(room) < capacity or how == "next_fit"):
            room.append(length)
            fits = [len(room) - 1]
        if not fits or fits[0] >= capacity:
            count += how != "next_fit"
            room[-1:] = [room[-1] - size] if how == "next_fit" else room[-1:]
            continue
        row = fits[0]
        start = length - room[row]
        room[row] -= size
        row_ids[one], offsets[one] = row, start
        segment_ids[row, start : start + size] = one
        positions[row, start : start + size] = np.arange(size)
    count = np.int32(count + len(room))
    return row_ids, offsets, segment_ids.astype(np.int32), positions.astype(np.int32), count
