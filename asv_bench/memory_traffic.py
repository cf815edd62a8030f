# SPDX-License-Identifier: Apache-2.0
"""The memory traffic of ops in bytes, and the copy rate of this machine.

Together they relate a time to its memory bound. The model is a radix sort in two passes over
memory, for more rows than the cache holds: count digits; scatter rows by their highest digit into
pieces that fit the cache; sort each piece there. A random access counts its own bytes, not the
whole cache line, so a gather seems further from the bound than it is.
"""

import os
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np

ROW_ID_BYTES = 4
VALUE_BYTES = 4
COLUMN_BYTES = 8


def _filtered_bytes(num_columns: int) -> int:
    """Bytes of a row to compare, to count, and to move half of the columns and the labels."""
    return (COLUMN_BYTES + 1) + 1 + num_columns * (1 + COLUMN_BYTES * 3 // 2) + COLUMN_BYTES // 2


def bytes_moved(operation: str, num_rows: int, key_bytes: int) -> int:
    """Bytes that the passes of an operation read and write, for all rows."""
    pair = key_bytes + ROW_ID_BYTES
    # A sort of row ids by segment ids and keys.
    by_segment_bytes = 4 + key_bytes + 2 * (4 + pair) + (4 + pair + ROW_ID_BYTES)
    row_bytes = {
        # Read the keys to count, read them to scatter pairs, read the pairs to write row ids.
        "radix_argsort": key_bytes + (key_bytes + pair) + (pair + ROW_ID_BYTES),
        # The same without row ids.
        "radix_sort": key_bytes + 2 * key_bytes + 2 * key_bytes,
        # Sort positions, and move keys and values first to their bins, then to their positions.
        "radix_sort with values": key_bytes
        + (key_bytes + pair)
        + (pair + ROW_ID_BYTES)
        + (2 * ROW_ID_BYTES + 4 * key_bytes)
        + (2 * ROW_ID_BYTES + 4 * VALUE_BYTES),
        # Read the keys; the candidates fit the cache.
        "top_k": key_bytes,
        # Read both sequences, write one.
        "merge": 2 * key_bytes,
        # Read the mask to count and again to move rows, which are read and written.
        "compact": 2 + 2 * key_bytes,
        # Read the ids, and a line of 64 bytes for each row.
        "gather_rows": ROW_ID_BYTES + 64 + key_bytes,
        # Sort, flag the first of equal keys, and move those to the front.
        "unique": 5 * key_bytes + (key_bytes + 1) + (2 + 2 * key_bytes),
        # Read the keys, write their group ids; the table of distinct keys is not counted.
        "factorize": key_bytes + ROW_ID_BYTES,
        "factorize by first row": key_bytes + ROW_ID_BYTES,
        # Read both sides, one a tenth as long, and write flags or pairs.
        "isin": key_bytes + key_bytes // 10 + 1,
        "join": key_bytes + key_bytes // 10 + 2 * ROW_ID_BYTES,
        # Each side has 0.32 rows for a pair.
        "join many to many": 2 * int(0.32 * key_bytes) + 2 * ROW_ID_BYTES,
        # Nothing to read: the rows of a pair follow from its position.
        "cross join": 2 * ROW_ID_BYTES,
        # Read and write the values.
        "inclusive_scan": 2 * key_bytes,
        # The same with a flag beside each value.
        "segmented_scan": 2 * key_bytes + 1,
        "reduce": key_bytes,
        # Read the rows and the mask for the mean, and again for the distances from it.
        "reduce with a mask": 2 * (key_bytes + 1),
        # Two scans that read the rows and write as many, and one read of both to write the maxima.
        "windowed_reduce": 2 * 2 * key_bytes + 3 * key_bytes,
        # Write zeros, then read the pieces and write them.
        "concatenate": 3 * key_bytes,
        # Read ids and values of 64 bits; the sums fit the cache.
        "segment_sum": 4 + 8,
        # Read a sum and write it back for each row too, a line of 64 bytes at worst.
        "segment_sum of many": 4 + 8 + 2 * 64,
        # Read for the range, and again to count.
        "histogram": 2 * key_bytes,
        # Read once.
        "digit_histogram": key_bytes,
        # A sort by ids and keys.
        "segmented_sort": by_segment_bytes + key_bytes,
        # A sort by ids and keys, and a fetch of the keys; the quantiles are few.
        "segment_quantile": by_segment_bytes + 2 * key_bytes,
        # The same, and one read of ids and keys to compare neighbours.
        "segment_nunique": by_segment_bytes + 2 * key_bytes + 4 + key_bytes,
        # The same, three scans of counts with flags, and a scatter of the ranks.
        "segment_rank": by_segment_bytes + 2 * key_bytes + 3 * (4 + 4 + 1) + 2 * ROW_ID_BYTES + 8,
        # A sort by ids; rows are fetched in its order, shifted and scattered.
        "segment_shift": 4 + 2 * (4 + ROW_ID_BYTES) + 3 * (ROW_ID_BYTES + 2 * key_bytes),
        # The same with a scan in place of the shift.
        "segmented_scan of unsorted ids": 4
        + 2 * (4 + ROW_ID_BYTES)
        + 2 * (ROW_ID_BYTES + 2 * key_bytes)
        + (2 * key_bytes + 1),
        # Read the queries, write their places; the sorted keys are a tenth as many.
        "searchsorted": key_bytes + key_bytes // 10 + ROW_ID_BYTES,
        # A sort of row ids.
        "select_rank": key_bytes + (key_bytes + pair) + (pair + ROW_ID_BYTES),
        "quantile": key_bytes + (key_bytes + pair) + (pair + ROW_ID_BYTES),
        # Read the keys, flag those that begin a run, find these.
        "run_length_encode": key_bytes + 1 + 1,
        # Count keys by bin, move them there with row ids, and read these and the value of each row,
        # which is a line of 64 bytes.
        "reduce_by_key": key_bytes + (key_bytes + pair) + pair + 64,
        # Number the keys, then read numbers and values for each of three reductions, numbers alone
        # to count.
        "reduce_by_key of several": (key_bytes + ROW_ID_BYTES)
        + 3 * (ROW_ID_BYTES + key_bytes)
        + ROW_ID_BYTES,
        # Sort the keys of both sides with their row ids.
        "set_intersection": 2 * (key_bytes + (key_bytes + pair) + 2 * pair),
        # 64 buckets take one pass: count ids, read them to write row ids, fetch values by those.
        "bucket": 4 + (4 + ROW_ID_BYTES) + (ROW_ID_BYTES + 2 * VALUE_BYTES),
        # The same with three columns, the key one of them, and row ids for labels.
        "frame sort_values": key_bytes
        + (key_bytes + pair)
        + (pair + ROW_ID_BYTES)
        + 3 * (2 * ROW_ID_BYTES + 4 * COLUMN_BYTES)
        + (2 * ROW_ID_BYTES + 4 * ROW_ID_BYTES),
        "frame filter": _filtered_bytes(3),
        "frame filter by loc": _filtered_bytes(2),
        # Number the keys, read numbers and values; the sums are besides.
        "frame groupby sum": (key_bytes + ROW_ID_BYTES) + (ROW_ID_BYTES + COLUMN_BYTES),
        "frame groupby strings": ROW_ID_BYTES + COLUMN_BYTES,
        # Read both keys, write pairs, and fetch three columns by these.
        "frame merge": key_bytes + key_bytes // 10 + 2 * ROW_ID_BYTES + 3 * 2 * COLUMN_BYTES,
        "frame merge many to many": 2 * int(0.32 * key_bytes)
        + 2 * ROW_ID_BYTES
        + 3 * 2 * COLUMN_BYTES,
        # Read the keys, write pairs, and fetch one column: those of the left side stay.
        "frame merge left": key_bytes + key_bytes // 10 + 2 * ROW_ID_BYTES + 2 * COLUMN_BYTES,
        # A hundredth of the rows: two columns read, one written.
        "frame apply rows": 3 * COLUMN_BYTES // 100,
        # Each shard: sort, copy its rows to the others, merge the received ones.
        "radix_sort over 8 devices": 5 * key_bytes + 2 * key_bytes + 2 * key_bytes,
        # Each shard: sort pairs, fetch and add values, then send, sort and add the partial sums.
        "reduce_by_key over 8 devices": 2
        * (key_bytes + (key_bytes + pair) + 2 * pair + (ROW_ID_BYTES + 2 * VALUE_BYTES)),
    }
    return num_rows * row_bytes[operation]


def copy_bytes_per_second(num_bytes: int = 2**27, num_copies: int = 20) -> float:
    """The best rate at which all cores together read and write memory, copying an array."""
    num_threads = os.cpu_count() or 1
    source, target = np.ones(num_bytes, np.uint8), np.ones(num_bytes, np.uint8)
    sources, targets = (np.array_split(array, num_threads) for array in (source, target))
    best = float("inf")
    with ThreadPoolExecutor(num_threads) as pool:
        for _ in range(num_copies):
            start = time.perf_counter()
            # NumPy copies without holding the interpreter's lock.
            list(pool.map(np.copyto, targets, sources))
            best = min(best, time.perf_counter() - start)
    return 2 * num_bytes / best
