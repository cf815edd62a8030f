# SPDX-License-Identifier: Apache-2.0
"""The parts of local ops from which collectives and global calls are built.

The same op on a higher floor checks its arguments by the same rules and does the same work on each
shard. From `local` the floors above import its public names and the names below, nothing else.
Nothing here is public to users.

Arguments. Each function checks the arguments of one op and returns the operands:

- `as_asof`: key sides, rule and tolerance of `join_asof`.
- `as_bucket_ids`: one bucket id for each row.
- `as_digit_arguments`: keys and digit of `digit_histogram`.
- `as_histogram_arguments`: column, edges and weights of `histogram`.
- `as_key_sides`: key columns of two sides.
- `as_masked_rows`: rows, mask and capacity of `compact`.
- `as_nunique_arguments`: segments and keys of `segment_nunique`.
- `as_pieces`: pieces of `concatenate`, and a number of rows for each.
- `as_reach`: window and offset of `windowed_reduce`.
- `as_reduce_plan`: arguments of `reduce` except the number of valid rows.
- `as_rows_to_reduce`: all arguments of `reduce`.
- `as_window_segments`: encoding of the segments of `windowed_reduce`, which may be empty.
- `as_windows`: rows, masks and op of `windowed_reduce`.
- `as_pair_capacity`: capacity of the pairs of a join.
- `as_quantile_arguments`: column and quantiles of `quantile`.
- `as_rank_arguments`: segments, keys and directions of `segment_rank`.
- `as_ranks`: ranks of `select_rank`.
- `as_reduction`: values and ops of `reduce_by_key`.
- `as_scan`: values and operator of a scan.
- `as_search`: sorted keys and queries of `searchsorted`.
- `as_segment_arguments`: values, ids and op of `segment_reduce`.
- `as_segment_ids`: one segment id for each row, -1 for rows of no segment.
- `as_segment_quantile_arguments`: segments, column, quantiles and dtype of `segment_quantile`.
- `as_segmented`: keys of `segmented_sort`, the segment ids first.
- `as_segments`: encoding of the segments of a scan.
- `as_shift_arguments`: rows, segments, periods and fill value of `segment_shift`.
- `as_sides`: key sides of a join.
- `check_encoding`: arguments of a scan that go together with `is_sorted`.
- `check_merged_rows`: length of a merged sequence.
- `check_rows_of_sides`: rows of both sides together.
- `check_same_columns`: columns of two sides, of the same dtypes.

Types of arguments, checked:

- `AsofRule`: which right rows may match a left row.
- `Direction`: directions of `join_asof`.
- `How`: kinds of join.
- `KeyedHow`: kinds of join that compare keys.
- `Interpolation`: interpolations of `quantile`.
- `KeySides`: key columns of two sides, and their valid rows.
- `MaskedRows`: rows of `reduce`, and their masks.
- `PieceCounts`: valid rows of each piece of `concatenate`.
- `Reach`: rows of a window, and the offset of its end.
- `ReducePlan`: static arguments of `reduce`.
- `Transform`: function of blocks of rows.
- `Window`: number of rows, concrete or traced, or None.
- `WindowPlan`: static arguments of `windowed_reduce`.
- `RankMethod`: methods of `segment_rank`.
- `ScanArguments`: arguments of a scan except its segments.
- `SegmentEncoding`: segments as head flags or as ids.
- `SegmentIds`: segment ids and the number of segments.
- `SetOp`: kinds of set operation.

Keys and their runs:

- `argsort_columns`: stable argsort by several columns of words.
- `find_runs`: runs of equal keys, in the order of the keys.
- `KeyRuns`: result of `find_runs`.
- `runs_of_words`: runs of equal adjacent words, without a sort.
- `of_runs`: values of the runs, padded with zeros.
- `segments_of`: runs as the segments of a reduction.
- `factorize_columns`: group ids of checked key columns.
- `keys_of_groups`: keys of the groups, padded with zeros.
- `reduce_columns`: `reduce_by_key` of checked arguments.
- `reduce_numbered`: keys and reductions of numbered groups.
- `Order`: orders of the results.
- `check_order`: checks an order.
- `has_sum_kernel`: whether a kernel sums the rows of each key.
- `DirectIndex`: numbers of rows whose digits are keys.
- `can_index`: whether keys are integers that may index a table.
- `LEAST_INDEXED_ROWS`: the least number of rows for such a table.
- `ranges_of`: least and greatest key of each column.
- `reduce_indexed`: reductions of keys in known ranges, by segment.
- `index_numbers`: segment id of each row.
- `first_rows_among`: first row of each segment, among the first rows.
- `take_indexed`: keys and reductions of the segments that have rows.
- `unique_columns_of`: distinct keys, row ids, inverse and counts.
- `most_keys`: upper bound of the keys of a set operation.
- `without_ids`: sorted keys without their segment ids.

Rows that move:

- `concatenate_rows`: rows of `a`, then those of `b`.
- `group_by_bucket`: offsets of the buckets, and row ids in their order.
- `inverse_of`: inverse of a permutation.
- `select_rows`: rows that a mask flags, and their number.
- `stack_columns`: valid rows of `a`, then those of `b`, then padding.
- `where_rows`: each row from one of two pytrees, by a flag.
- `pack_pieces`: valid rows of pieces, then zeros.

Scans of one shard:

- `put_initial_first`: exclusive results, combined with `initial`.
- `scan_by_operator`: scan by a function.
- `scan_named`: scan by a named operator.
- `scan_segments`: scan that restarts at each head.

Sorted segments, on one device or over shards:

- `clipped`: integer in a signed dtype, cut to its range.
- `differs_from_row_before`: rows that differ from the row before in a column.
- `quantiles_of`: quantiles of each segment.
- `rank_dtype`: dtype of ranks.
- `ranks_of`: ranks at the positions of the rows before the sort.
- `rows_in_segments`: number of rows of each segment.
- `scan_sorted`: scans at the positions of the rows before the sort.
- `shifted_in`: shifted rows at the positions of the rows before the sort.

Reductions of one shard:

- `OneDevice`: the combination of partial results where there is one device.
- `REDUCTIONS`: the reduction of segments for each op.
- `Segments`: segment ids of the rows, and the number of segments.
- `count_digits`: bins of digits, counted.
- `count_rows`: bins of `histogram`, counted.
- `between_ranks`: values between two neighbouring order statistics.
- `from_nearer_end`: linear interpolation, as NumPy rounds it.
- `mean_of_both`: mean of two rows.
- `interpolated`: quantiles from the rows on both sides of them.
- `quantile_dtype`: dtype of the quantiles of a column.
- `quantile_positions`: positions of quantiles among sorted rows.
- `quotient`: total / count, NaN for a count of 0.
- `reduce_on_one_device`: `segment_reduce` of checked arguments.
- `place_segment_ids`: segment ids as int32, negative in rows of no segment.
- `reduce_rows`: segments reduced, on one device or over shards.
- `root_of`: standard deviation of a variance.
- `BlockParts`: partial results by the name of their reduction.
- `reduce_in_passes`: `reduce` of checked arguments, on one device or over shards.
- `masks_of`: a mask, or None, for each leaf.

Accumulators:

- `ACCUMULATORS`: the parts of each reduction, and the result of merged parts.
- `PARTS`: how each part is made and merged.
- `parts_of`: parts of the rows of each segment.
- `merged_parts`: results of segments, from parts of their pieces.
- `moved_squares`: squared distances from the mean of all pieces.
- `powers_of`: powers of distances that "skew" and "kurt" sum.
- `skewness`: skewness from sums of powers.
- `kurtosis`: kurtosis from sums of powers.
- `correlation`: correlation from a sum of products and sums of squares.
- `positive`: divisor, one where it is not positive.
- `COMBINE`: operator of each reduction.
- `identity_of_reduction`: identity element of a reduction.

Windows of one shard:

- `RowSequence`: rows of all shards as one sequence, seen from one shard.
- `WindowedRows`: rows, masks, and the second column of pairs.
- `check_bounds`: checks given bounds of windows.
- `position_dtype`: dtype of the positions of rows.
- `as_windowed`: results, with zeros in the padding.
- `over_short_windows`: windows read row by row.
- `over_windows`: windows combined from two scans.
- `segments_of_windows`: first and last rows of each row's segment.
- `scatter`: rows reduced by segment id.

Joins of one shard:

- `match_sides`: finds and counts the pairs of a join.
- `pairs_of_sides`: writes the pairs of a join.
- `Candidate`: a right row for each left row, and its time.
- `Found`: candidates before and behind each left row.
- `choose_rows`: the candidate that the rule takes.
- `find_positions`: positions of the right rows around each sorted row.
- `head_flags`: rows that differ from the row before.
- `is_nan_word`: words of NaN.
- `split_words`: words of groups, and the word of the time.
"""

from ..kernels.sort._put_back import inverse_of
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
from ._between_ranks import Interpolation, between_ranks, from_nearer_end, mean_of_both
from ._blockwise import COMBINE, BlockParts, identity_of_reduction
from ._bucket import as_bucket_ids, group_by_bucket
from ._compact import as_masked_rows, select_rows
from ._concatenate import PieceCounts, as_pieces, pack_pieces
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
from ._join import How, KeyedHow, as_pair_capacity, as_sides, match_sides, pairs_of_sides
from ._merge import check_merged_rows, concatenate_rows
from ._moments import correlation, kurtosis, positive, powers_of, skewness
from ._named_scan import scan_named
from ._one_device import OneDevice
from ._operator_scan import scan_by_operator, where_rows
from ._quantile import as_quantile_arguments, interpolated, quantile_dtype
from ._quantile_ranks import quantile_positions
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
from ._reduce_passes import MaskedRows, ReducePlan, Transform, masks_of, reduce_in_passes
from ._runs import KeyRuns, find_runs, runs_of_words
from ._scan_segments import (
    ScanArguments,
    SegmentEncoding,
    as_scan,
    as_segments,
    put_initial_first,
    scan_segments,
)
from ._searchsorted import as_search, check_same_columns
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

__all__ = [
    "ACCUMULATORS",
    "COMBINE",
    "LEAST_INDEXED_ROWS",
    "PARTS",
    "REDUCTIONS",
    "AsofRule",
    "BlockParts",
    "Candidate",
    "DirectIndex",
    "Direction",
    "Found",
    "How",
    "Interpolation",
    "KeyRuns",
    "KeySides",
    "KeyedHow",
    "MaskedRows",
    "OneDevice",
    "Order",
    "PieceCounts",
    "RankMethod",
    "Reach",
    "ReducePlan",
    "RowSequence",
    "ScanArguments",
    "SegmentEncoding",
    "SegmentIds",
    "Segments",
    "SetOp",
    "Transform",
    "Window",
    "WindowPlan",
    "WindowedRows",
    "argsort_columns",
    "as_asof",
    "as_bucket_ids",
    "as_digit_arguments",
    "as_histogram_arguments",
    "as_key_sides",
    "as_masked_rows",
    "as_nunique_arguments",
    "as_pair_capacity",
    "as_pieces",
    "as_quantile_arguments",
    "as_rank_arguments",
    "as_ranks",
    "as_reach",
    "as_reduce_plan",
    "as_reduction",
    "as_rows_to_reduce",
    "as_scan",
    "as_search",
    "as_segment_arguments",
    "as_segment_ids",
    "as_segment_quantile_arguments",
    "as_segmented",
    "as_segments",
    "as_shift_arguments",
    "as_sides",
    "as_window_segments",
    "as_windowed",
    "as_windows",
    "between_ranks",
    "can_index",
    "check_bounds",
    "check_encoding",
    "check_merged_rows",
    "check_order",
    "check_rows_of_sides",
    "check_same_columns",
    "choose_rows",
    "clipped",
    "concatenate_rows",
    "correlation",
    "count_digits",
    "count_rows",
    "differs_from_row_before",
    "factorize_columns",
    "find_positions",
    "find_runs",
    "first_rows_among",
    "from_nearer_end",
    "group_by_bucket",
    "has_sum_kernel",
    "head_flags",
    "identity_of_reduction",
    "index_numbers",
    "interpolated",
    "inverse_of",
    "is_nan_word",
    "keys_of_groups",
    "kurtosis",
    "masks_of",
    "match_sides",
    "mean_of_both",
    "merged_parts",
    "most_keys",
    "moved_squares",
    "of_runs",
    "over_short_windows",
    "over_windows",
    "pack_pieces",
    "pairs_of_sides",
    "parts_of",
    "place_segment_ids",
    "position_dtype",
    "positive",
    "powers_of",
    "put_initial_first",
    "quantile_dtype",
    "quantile_positions",
    "quantiles_of",
    "quotient",
    "ranges_of",
    "rank_dtype",
    "ranks_of",
    "reduce_columns",
    "reduce_in_passes",
    "reduce_indexed",
    "reduce_numbered",
    "reduce_on_one_device",
    "reduce_rows",
    "root_of",
    "rows_in_segments",
    "runs_of_words",
    "scan_by_operator",
    "scan_named",
    "scan_segments",
    "scan_sorted",
    "scatter",
    "segments_of",
    "segments_of_windows",
    "select_rows",
    "shifted_in",
    "skewness",
    "split_words",
    "stack_columns",
    "take_indexed",
    "unique_columns_of",
    "where_rows",
    "without_ids",
]
