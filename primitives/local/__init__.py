# SPDX-License-Identifier: Apache-2.0
"""Level 1: one device's rows, no communication. Fine inside `jit`, `vmap` and `shard_map`.

A batch that is cut over devices belongs in a `shard_map` too: on CPU XLA cannot look into a kernel,
and would gather the whole batch before it.
"""

from ._bucket import Bucketed, bucket
from ._compact import Compacted, compact
from ._merge import merge
from ._radix_sort import radix_argsort, radix_sort
from ._scan import exclusive_scan, inclusive_scan
from ._searchsorted import searchsorted
from ._segment_reduce import (
    segment_all,
    segment_any,
    segment_argmax,
    segment_argmin,
    segment_count,
    segment_first,
    segment_last,
    segment_max,
    segment_mean,
    segment_min,
    segment_prod,
    segment_reduce,
    segment_std,
    segment_sum,
    segment_var,
)
from ._segmented_scan import segmented_scan
from ._segmented_sort import segmented_sort
from ._select_rank import select_rank
from ._top_k import TopK, top_k

__all__ = [
    "Bucketed",
    "Compacted",
    "TopK",
    "bucket",
    "compact",
    "exclusive_scan",
    "inclusive_scan",
    "merge",
    "radix_argsort",
    "radix_sort",
    "searchsorted",
    "segment_all",
    "segment_any",
    "segment_argmax",
    "segment_argmin",
    "segment_count",
    "segment_first",
    "segment_last",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_reduce",
    "segment_std",
    "segment_sum",
    "segment_var",
    "segmented_scan",
    "segmented_sort",
    "select_rank",
    "top_k",
]
