# SPDX-License-Identifier: Apache-2.0
"""The parts of local ops from which collectives and global calls are built.

The same op on a higher floor checks its arguments by the same rules and does the same work on each
shard. From `local` the floors above import its public names and the names below, nothing else: each
is described where it is defined. A test finds those that no floor uses. Nothing here is public to
users.
"""

from ..kernels.join._pair_counts import repeats_of_valid
from ..kernels.sort._put_back import put_back
from ..kernels.sort._radix_sort import argsort_columns
from ._accumulators import ACCUMULATORS, PARTS, merged_parts, moved_squares, parts_of
from ._asof_rule import (
    AsofRule,
    Candidate,
    Direction,
    Found,
    as_asof,
    choose_rows,
    find_positions,
    head_flags,
    is_nan_word,
    split_words,
)
from ._between_ranks import (
    Interpolation,
    between_ranks,
    from_nearer_end,
    mean_of_both,
    unless_overflow,
)
from ._bincount import as_count_arguments, count_columns
from ._blockwise import COMBINE, BlockParts, identity_of_reduction
from ._bucket import as_bucket_ids, group_by_bucket
from ._compact import as_masked_rows, select_rows
from ._concatenate import PieceCounts, as_pieces, pack_pieces
from ._connected_components import as_edges, numbered, smallest_nodes
from ._direct_index import (
    DirectIndex,
    can_index,
    first_rows_among,
    index_numbers,
    ranges_of,
    reduce_indexed,
    take_indexed,
)
from ._factorize import factorize_columns, keys_of_groups
from ._histogram import as_digit_arguments, as_histogram_arguments, count_digits, count_rows
from ._join import (
    How,
    KeyedHow,
    as_pair_capacity,
    as_sides,
    join_sides,
    match_sides,
    pairs_of_sides,
    size_of_sides,
)
from ._linear_recurrence import Recurrence, as_recurrence, compose
from ._merge import check_merged_rows, check_same_rows, concatenate_rows
from ._moments import correlation, kurtosis, positive, powers_of, skewness
from ._named_scan import scan_named
from ._one_device import OneDevice
from ._operator_scan import scan_by_operator, where_rows
from ._plain_columns import reduce_in_passes
from ._quantile import as_quantile_arguments, interpolated, quantile_dtype
from ._quantile_bins import as_bin_arguments, has_bin, place_in_bins
from ._quantile_ranks import quantile_positions, ranks_of_parts
from ._ragged import as_ragged
from ._reduce import as_reduce_plan, as_rows_to_reduce
from ._reduce_by_key import (
    LEAST_INDEXED_ROWS,
    Order,
    as_reduction,
    check_order,
    has_sum_kernel,
    of_runs,
    reduce_columns,
    reduce_numbered,
    segments_of,
)
from ._reduced_columns import MaskedRows, ReducePlan, Transform, masks_of
from ._repeat_rows import as_repeats
from ._runs import KeyRuns, find_runs, runs_of_words
from ._sample import as_weights
from ._scan_segments import (
    ScanArguments,
    SegmentEncoding,
    as_scan,
    as_segments,
    put_initial_first,
    scan_segments,
)
from ._searchsorted import as_search, check_same_columns
from ._segment_normalize import as_epsilon, as_normalize_arguments, scale_rows
from ._segment_nunique import as_nunique_arguments
from ._segment_ops import REDUCTIONS, Segments, quotient, root_of
from ._segment_quantile import as_segment_quantile_arguments, quantiles_of
from ._segment_rank import RankMethod, as_rank_arguments, rank_dtype, ranks_of
from ._segment_reduce import as_segment_arguments, reduce_on_one_device, reduce_rows
from ._segment_rows import (
    SegmentIds,
    as_segment_ids,
    clipped,
    differs_from_row_before,
    rows_in_segments,
)
from ._segment_shift import as_shift_arguments, shifted_in
from ._segmented_scan import check_encoding, scan_sorted
from ._segmented_sort import as_segmented, without_ids
from ._segments import place_segment_ids, scatter
from ._select_rank import as_ranks
from ._sets import SetOp, most_keys
from ._sides import KeySides, as_key_sides, check_rows_of_sides, stack_columns
from ._unique import unique_columns_of
from ._weighted_draws import Words, integer_weights, running_sums
from ._window_bounds import Reach, RowSequence, WindowPlan, segments_of_windows
from ._windowed_reduce import (
    Window,
    as_reach,
    as_window_segments,
    as_windowed,
    as_windows,
    check_bounds,
    position_dtype,
)
from ._windows import WindowedRows, over_short_windows, over_windows
