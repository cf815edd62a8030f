# SPDX-License-Identifier: Apache-2.0
"""Level 2: the rows of a mesh axis, inside `shard_map`."""

from ._bincount import bincount
from ._compact import Compacted, compact
from ._concatenate import Concatenated, concatenate
from ._connected_components import Components, connected_components
from ._dispatch import Dispatched, Routing, combine, dispatch
from ._exchange_by_owner import Answered, exchange_by_owner
from ._factorize import Factorized, factorize
from ._gather_rows import gather_rows
from ._histogram import Histogram, digit_histogram, histogram
from ._isin import isin
from ._join import Joined, join, join_size
from ._join_asof import join_asof
from ._linear import column_linear, row_linear
from ._linear_recurrence import linear_recurrence
from ._merge import merge
from ._partition import Partitioned, partition
from ._permute import ppermute, shift
from ._pipeline_1f1b import pipeline_1f1b
from ._pipeline_gpipe import pipeline_gpipe
from ._quantile import quantile
from ._quantile_bins import QuantileBins, quantile_bins
from ._radix_sort import even_share, radix_argsort, radix_sort
from ._rebalance import rebalance
from ._reduce import Reduced, reduce
from ._reduce_by_key import ReducedRuns, reduce_by_key
from ._repeat_rows import Repeated, repeat_rows
from ._run_length_encode import RunLengths, run_length_encode
from ._sample import Sampled, sample, segment_sample
from ._scan import exclusive_scan, inclusive_scan
from ._schedule import Pass, Schedule, schedule_1f1b
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
from ._segmented_scan import segmented_scan
from ._segmented_sort import segmented_sort
from ._select_rank import select_rank
from ._sets import KeySet, set_difference, set_intersection, set_union
from ._shuffle import random_permutation, shuffle
from ._stages import Pipelined, stack_stages
from ._top_k import TopK, top_k
from ._tree_collectives import (
    all_gather,
    broadcast,
    pmax,
    pmean,
    pmin,
    psum,
    psum_scatter,
)
from ._unique import Unique, unique
from ._windowed_reduce import Windowed, windowed_reduce

__all__ = [
    "Answered",
    "Compacted",
    "Components",
    "Concatenated",
    "Dispatched",
    "Factorized",
    "Histogram",
    "Joined",
    "KeySet",
    "Partitioned",
    "Pass",
    "Pipelined",
    "QuantileBins",
    "Reduced",
    "ReducedRuns",
    "Repeated",
    "Routing",
    "RunLengths",
    "Sampled",
    "Schedule",
    "TopK",
    "Unique",
    "Windowed",
    "all_gather",
    "bincount",
    "broadcast",
    "column_linear",
    "combine",
    "compact",
    "concatenate",
    "connected_components",
    "digit_histogram",
    "dispatch",
    "even_share",
    "exchange_by_owner",
    "exclusive_scan",
    "factorize",
    "gather_rows",
    "histogram",
    "inclusive_scan",
    "isin",
    "join",
    "join_asof",
    "join_size",
    "linear_recurrence",
    "merge",
    "partition",
    "pipeline_1f1b",
    "pipeline_gpipe",
    "pmax",
    "pmean",
    "pmin",
    "ppermute",
    "psum",
    "psum_scatter",
    "quantile",
    "quantile_bins",
    "radix_argsort",
    "radix_sort",
    "random_permutation",
    "rebalance",
    "reduce",
    "reduce_by_key",
    "repeat_rows",
    "row_linear",
    "run_length_encode",
    "sample",
    "schedule_1f1b",
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
    "segment_var",
    "segmented_scan",
    "segmented_sort",
    "select_rank",
    "set_difference",
    "set_intersection",
    "set_union",
    "shift",
    "shuffle",
    "stack_stages",
    "top_k",
    "unique",
    "windowed_reduce",
]
