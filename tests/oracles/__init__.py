# SPDX-License-Identifier: Apache-2.0
"""What each primitive computes, in NumPy: slow, obvious, and without the library's tricks.

The order of keys is the contract's: -0.0 equals 0.0, NaN is last in either direction, every sort
is stable in either direction, and rows from `num_valid` on stay in place behind the valid ones.
"""

from ._groups import (
    bincount,
    connected_components,
    factorize,
    groups_of,
    quantile_bins,
    reduce_by_key,
    run_length_encode,
    runs_of,
    unique,
)
from ._joins import (
    isin,
    join,
    join_asof,
    joined_ranks,
    ranks_of_sides,
    set_operation,
    unmatched_rows,
)
from ._keys import columns_of, key_ranks, per_column, take, with_zeros_behind
from ._rows import bucket, compact, pack, partition, random_permutation, random_words, repeat_rows
from ._scans import head_flags_of, linear_recurrence, scan, scan_identity, scan_of_segments
from ._segments import (
    beside_infinities,
    rows_of_segment,
    segment_normalize,
    segment_nunique,
    segment_quantile,
    segment_rank,
    segment_reduce,
    segment_shift,
    segment_softmax,
)
from ._sorts import argsort, merge, searchsorted, segmented_sort, select_rank, sort, top_k
from ._values import as_unsigned, assert_same_bits, assert_same_sums, exact_sums, is_float

__all__ = [
    "argsort",
    "as_unsigned",
    "assert_same_bits",
    "assert_same_sums",
    "beside_infinities",
    "bincount",
    "bucket",
    "columns_of",
    "compact",
    "connected_components",
    "exact_sums",
    "factorize",
    "groups_of",
    "head_flags_of",
    "is_float",
    "isin",
    "join",
    "join_asof",
    "joined_ranks",
    "key_ranks",
    "linear_recurrence",
    "merge",
    "pack",
    "partition",
    "per_column",
    "quantile_bins",
    "random_permutation",
    "random_words",
    "ranks_of_sides",
    "reduce_by_key",
    "repeat_rows",
    "rows_of_segment",
    "run_length_encode",
    "runs_of",
    "scan",
    "scan_identity",
    "scan_of_segments",
    "searchsorted",
    "segment_normalize",
    "segment_nunique",
    "segment_quantile",
    "segment_rank",
    "segment_reduce",
    "segment_shift",
    "segment_softmax",
    "segmented_sort",
    "select_rank",
    "set_operation",
    "sort",
    "take",
    "top_k",
    "unique",
    "unmatched_rows",
    "with_zeros_behind",
]
