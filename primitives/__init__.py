# SPDX-License-Identifier: Apache-2.0
"""Parallel primitives for JAX programs, on one device or a mesh."""

from . import collective, local
from ._global._bincount import bincount
from ._global._compact import compact
from ._global._concatenate import concatenate
from ._global._connected_components import connected_components
from ._global._divide_ragged import DividedRagged, collect_ragged, divide_ragged
from ._global._factorize import factorize
from ._global._gather_rows import gather_rows
from ._global._histogram import digit_histogram, histogram
from ._global._isin import isin
from ._global._join import join, join_size
from ._global._join_asof import join_asof
from ._global._linear_recurrence import linear_recurrence
from ._global._merge import merge
from ._global._order_statistics import select_rank, top_k
from ._global._partition import partition
from ._global._quantile import quantile
from ._global._quantile_bins import quantile_bins
from ._global._radix_sort import radix_argsort, radix_sort
from ._global._rebalance import rebalance
from ._global._reduce import reduce
from ._global._reduce_by_key import reduce_by_key
from ._global._repeat_rows import repeat_rows
from ._global._run_length_encode import run_length_encode
from ._global._sample import sample, segment_sample
from ._global._scan import exclusive_scan, inclusive_scan
from ._global._searchsorted import searchsorted
from ._global._segment_normalize import segment_normalize, segment_softmax
from ._global._segment_nunique import segment_nunique
from ._global._segment_quantile import segment_quantile
from ._global._segment_rank import segment_rank
from ._global._segment_reduce import (
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
from ._global._segment_shift import segment_shift
from ._global._segmented_scan import segmented_scan
from ._global._segmented_sort import segmented_sort
from ._global._sets import set_difference, set_intersection, set_union
from ._global._shuffle import random_permutation, shuffle
from ._global._unique import unique
from ._global._windowed_reduce import windowed_reduce
from .collective import Partitioned
from .contract._arguments import CapacityError
from .kernels.base._library import Backend, backend
from .local import (
    Compacted,
    Components,
    Concatenated,
    Factorized,
    Histogram,
    Joined,
    KeySet,
    QuantileBins,
    Ragged,
    Reduced,
    ReducedRuns,
    Repeated,
    RunLengths,
    Sampled,
    TopK,
    Unique,
    Windowed,
)

__all__ = [
    "Backend",
    "CapacityError",
    "Compacted",
    "Components",
    "Concatenated",
    "DividedRagged",
    "Factorized",
    "Histogram",
    "Joined",
    "KeySet",
    "Partitioned",
    "QuantileBins",
    "Ragged",
    "Reduced",
    "ReducedRuns",
    "Repeated",
    "RunLengths",
    "Sampled",
    "TopK",
    "Unique",
    "Windowed",
    "backend",
    "bincount",
    "collect_ragged",
    "collective",
    "compact",
    "concatenate",
    "connected_components",
    "digit_histogram",
    "divide_ragged",
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
    "local",
    "merge",
    "partition",
    "quantile",
    "quantile_bins",
    "radix_argsort",
    "radix_sort",
    "random_permutation",
    "rebalance",
    "reduce",
    "reduce_by_key",
    "repeat_rows",
    "run_length_encode",
    "sample",
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
    "shuffle",
    "top_k",
    "unique",
    "windowed_reduce",
]
