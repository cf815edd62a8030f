// SPDX-License-Identifier: Apache-2.0
// Stable merge of two sorted sequences by merge path.
#ifndef JAXFRAMES_KERNELS_SORT_MERGE_H_
#define JAXFRAMES_KERNELS_SORT_MERGE_H_

#include <algorithm>
#include <cstdint>

#include "base/huge_pages.h"
#include "base/thread_pool.h"
#include "sort/merge_path.h"

namespace jaxframes {

// One row of a batch: sequences a and b, both in `order`, and the results: merged keys and their
// positions in [a; b]. Either result may be null.
template <typename Order>
struct MergeRow {
  using Key = typename Order::Key;

  const Key* a;
  const Key* b;
  int64_t size_a;  // with padding
  int64_t size_b;
  int64_t valid_a;
  int64_t valid_b;
  Order order;
  Key* merged_keys;
  int32_t* source_positions;

  bool takes_a(int64_t i, int64_t j) const {
    return order.ordered(a[i]) <= order.ordered(b[j]);
  }
};

// The results to write.
enum class MergeResult { kKeys, kPositions, kBoth };

// Writes row `merged_row` of the results from row i of a or row j of b.
template <MergeResult kResult, typename Order>
void put_merged(const MergeRow<Order>& row, int64_t merged_row, bool from_a, int64_t i, int64_t j) {
  if (kResult != MergeResult::kPositions) {
    row.merged_keys[merged_row] = from_a ? row.a[i] : row.b[j];
  }
  if (kResult != MergeResult::kKeys) {
    // Arithmetic, because a branch would take twice as long.
    const int64_t position_b = row.size_a + j;
    const int64_t position = position_b + (-int64_t{from_a} & (i - position_b));
    row.source_positions[merged_row] = static_cast<int32_t>(position);
  }
}

template <typename Order>
int64_t merge_path(const MergeRow<Order>& row, int64_t diagonal) {
  return merge_path(row.valid_a, row.valid_b, diagonal,
                    [&](int64_t i, int64_t j) { return row.takes_a(i, j); });
}

// A part of the path, from (i, j) to (end_i, end_j).
struct MergeLane {
  int64_t i, j, end_i, end_j;

  int64_t safe_steps() const { return std::min(end_i - i, end_j - j); }
};

// Merges one row while both sequences have rows left. No branch depends on keys, which would be
// unpredictable.
template <MergeResult kResult, typename Order>
void merge_step(const MergeRow<Order>& row, MergeLane& lane) {
  const bool takes_a = row.takes_a(lane.i, lane.j);
  put_merged<kResult>(row, lane.i + lane.j, takes_a, lane.i, lane.j);
  lane.i += takes_a;
  lane.j += !takes_a;
}

template <MergeResult kResult, typename Order>
void finish_lane(const MergeRow<Order>& row, MergeLane lane) {
  for (int64_t steps; (steps = lane.safe_steps()) > 0;) {
    for (; steps > 0; --steps) merge_step<kResult>(row, lane);
  }
  for (; lane.i < lane.end_i; ++lane.i) {
    put_merged<kResult>(row, lane.i + lane.j, true, lane.i, lane.j);
  }
  for (; lane.j < lane.end_j; ++lane.j) {
    put_merged<kResult>(row, lane.i + lane.j, false, lane.i, lane.j);
  }
}

// Merges rows [begin, end) of the result. Each step of a merge depends on the previous one; four
// interleaved merges hide this latency.
template <MergeResult kResult, typename Order>
void merge_range(const MergeRow<Order>& row, int64_t begin, int64_t end) {
  constexpr int kLanes = 4;
  MergeLane lanes[kLanes];
  int64_t i = merge_path(row, begin), j = begin - i;
  for (int k = 0; k < kLanes; ++k) {
    const int64_t diagonal = begin + (end - begin) * (k + 1) / kLanes;
    const int64_t end_i = merge_path(row, diagonal);
    lanes[k] = {i, j, end_i, diagonal - end_i};
    i = end_i;
    j = diagonal - end_i;
  }
  for (;;) {
    int64_t steps = lanes[0].safe_steps();
    for (int k = 1; k < kLanes; ++k) steps = std::min(steps, lanes[k].safe_steps());
    if (steps <= 0) break;
    for (; steps > 0; --steps) {
      for (MergeLane& lane : lanes) merge_step<kResult>(row, lane);
    }
  }
  for (const MergeLane& lane : lanes) finish_lane<kResult>(row, lane);
}

// Merges one row by all threads of `executor`; the padding of a, then of b, is last.
template <MergeResult kResult, typename Order>
void merge(Executor& executor, const MergeRow<Order>& row) {
  const int64_t num_valid = row.valid_a + row.valid_b;
  const int64_t num_rows = row.size_a + row.size_b;
  if (kResult != MergeResult::kPositions) {
    advise_huge_pages(row.merged_keys, num_rows * sizeof(typename Order::Key));
  }
  if (kResult != MergeResult::kKeys) advise_huge_pages(row.source_positions, num_rows * 4);
  if (num_valid > 0) {
    const Chunks chunks(num_valid, 1 << 15, executor.num_threads());
    parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
      merge_range<kResult>(row, chunks.begin(chunk), chunks.end(chunk));
    });
  }
  int64_t merged_row = num_valid;
  for (int64_t i = row.valid_a; i < row.size_a; ++i) {
    put_merged<kResult>(row, merged_row++, true, i, 0);
  }
  for (int64_t j = row.valid_b; j < row.size_b; ++j) {
    put_merged<kResult>(row, merged_row++, false, 0, j);
  }
}

// The same, for the results that are not null.
template <typename Order>
void merge(Executor& executor, const MergeRow<Order>& row) {
  if (row.merged_keys == nullptr) return merge<MergeResult::kPositions>(executor, row);
  if (row.source_positions == nullptr) return merge<MergeResult::kKeys>(executor, row);
  merge<MergeResult::kBoth>(executor, row);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_MERGE_H_
