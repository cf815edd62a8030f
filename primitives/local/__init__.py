# SPDX-License-Identifier: Apache-2.0
"""Level 1: one device's rows, no communication. Fine inside `jit`, `vmap` and `shard_map`.

Under `vmap` a call costs as much as one for each element, in one call of each kernel. A batch that
is sharded over devices stays divided, and each device does its part. Rows that are sharded
themselves are gathered before a kernel, at the cost of an `all_gather` of the whole array: use the
function of the same name in `primitives` with a mesh, or the one in `collective`. On an
Explicit axis JAX refuses to gather rows by itself: call `jax.reshard` first, or these functions.
"""

from ._bincount import bincount
from ._bucket import Bucketed, BucketOrder, bucket, bucket_order
from ._compact import Compacted, compact
from ._concatenate import Concatenated, concatenate
from ._connected_components import Components, connected_components
from ._experts import ExpertRows, ExpertSlots, combine_from_experts, dispatch_to_experts
from ._factorize import Factorized, factorize
from ._gather_rows import gather_rows
from ._hash_rows import hash_rows
from ._histogram import Histogram, digit_histogram, histogram
from ._integer_range import IntegerRange, integer_range
from ._isin import isin
from ._join import Joined, join, join_size
from ._join_asof import join_asof
from ._linear_recurrence import linear_recurrence
from ._merge import merge
from ._minhash import lsh_bands, minhash
from ._neighbour_sample import neighbour_sample
from ._pack import Packed, pack
from ._pairwise_sum import pairwise_sum
from ._quantile import quantile
from ._quantile_bins import QuantileBins, quantile_bins
from ._radix_sort import radix_argsort, radix_sort
from ._ragged import Ragged
from ._reduce import Reduced, reduce
from ._reduce_by_key import ReducedRuns, reduce_by_key
from ._repeat_rows import Repeated, repeat_rows
from ._run_length_encode import RunLengths, run_length_encode
from ._sample import Sampled, sample, segment_sample
from ._scan import exclusive_scan, inclusive_scan
from ._searchsorted import searchsorted
from ._segment_normalize import segment_normalize, segment_softmax
from ._segment_nunique import segment_nunique
from ._segment_quantile import segment_quantile
from ._segment_rank import segment_rank
from ._segment_reduce import (
    segment_all,
    segment_any,
    segment_argmax,
    segment_argmin,
    segment_count,
    segment_first,
    segment_last,
    segment_logsumexp,
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_reduce,
    segment_std,
    segment_sum,
    segment_var,
)
from ._segment_shift import segment_shift
from ._segment_top_k import segment_top_k
from ._segmented_scan import segmented_scan
from ._segmented_sort import segmented_sort
from ._select_rank import select_rank
from ._sets import KeySet, set_difference, set_intersection, set_union
from ._shuffle import random_permutation, shuffle
from ._sparse import csr_from_coo, sddmm, spmm
from ._top_k import TopK, top_k
from ._unique import Unique, unique
from ._window_bounds import WindowBounds
from ._windowed_reduce import Windowed, windowed_reduce

__all__ = [
    "BucketOrder",
    "Bucketed",
    "Compacted",
    "Components",
    "Concatenated",
    "ExpertRows",
    "ExpertSlots",
    "Factorized",
    "Histogram",
    "IntegerRange",
    "Joined",
    "KeySet",
    "Packed",
    "QuantileBins",
    "Ragged",
    "Reduced",
    "ReducedRuns",
    "Repeated",
    "RunLengths",
    "Sampled",
    "TopK",
    "Unique",
    "WindowBounds",
    "Windowed",
    "bincount",
    "bucket",
    "bucket_order",
    "combine_from_experts",
    "compact",
    "concatenate",
    "connected_components",
    "csr_from_coo",
    "digit_histogram",
    "dispatch_to_experts",
    "exclusive_scan",
    "factorize",
    "gather_rows",
    "hash_rows",
    "histogram",
    "inclusive_scan",
    "integer_range",
    "isin",
    "join",
    "join_asof",
    "join_size",
    "linear_recurrence",
    "lsh_bands",
    "merge",
    "minhash",
    "neighbour_sample",
    "pack",
    "pairwise_sum",
    "quantile",
    "quantile_bins",
    "radix_argsort",
    "radix_sort",
    "random_permutation",
    "reduce",
    "reduce_by_key",
    "repeat_rows",
    "run_length_encode",
    "sample",
    "sddmm",
    "searchsorted",
    "segment_all",
    "segment_any",
    "segment_argmax",
    "segment_argmin",
    "segment_count",
    "segment_first",
    "segment_last",
    "segment_logsumexp",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_normalize",
    "segment_nunique",
    "segment_prod",
    "segment_quantile",
    "segment_rank",
    "segment_reduce",
    "segment_sample",
    "segment_shift",
    "segment_softmax",
    "segment_std",
    "segment_sum",
    "segment_top_k",
    "segment_var",
    "segmented_scan",
    "segmented_sort",
    "select_rank",
    "set_difference",
    "set_intersection",
    "set_union",
    "shuffle",
    "spmm",
    "top_k",
    "unique",
    "windowed_reduce",
]
