// SPDX-License-Identifier: Apache-2.0
// The k smallest words of each segment, in one pass over the rows.
#ifndef JAXFRAMES_KERNELS_SORT_SEGMENT_TOP_K_H_
#define JAXFRAMES_KERNELS_SORT_SEGMENT_TOP_K_H_

#include <algorithm>
#include <cstdint>
#include <limits>

#include "base/thread_pool.h"
#include "base/work_array.h"
#include "reduce/segment_sum.h"

namespace jaxframes {

// One row of a batch.
template <typename Order>
struct SegmentTopKRow {
  using Word = typename Order::Key;

  const Word* keys;                // [num_rows]
  SegmentIds<int32_t> segments;
  Order order;
  int64_t k;
  int32_t* row_ids;  // [num_segments, k], by word, then row id; -1 if the segment has fewer rows
};

namespace internal {

// The candidates of some segments. Rows are added in their order, so that ties keep the first.
template <typename Order>
class SegmentCandidates {
 public:
  using Word = typename Order::Key;

  SegmentCandidates(const SegmentTopKRow<Order>& row, int64_t begin, int64_t end)
      : row_(row), begin_(begin), limits_(end - begin), words_((end - begin) * row.k) {
    std::fill_n(limits_.data(), end - begin, kGreatest);
    std::fill(row.row_ids + begin * row.k, row.row_ids + end * row.k, -1);
  }

  void add(int64_t row, int64_t segment) {
    const Word word = row_.order.ordered(row_.keys[row]);
    const Word limit = limits_[segment - begin_];
    // Most rows are rejected here.
    if (word >= limit && limit != kGreatest) return;
    insert(word, static_cast<int32_t>(row), segment);
  }

 private:
  static constexpr Word kGreatest = std::numeric_limits<Word>::max();

  void insert(Word word, int32_t row, int64_t segment) {
    Word* const words = words_.data() + (segment - begin_) * row_.k;
    int32_t* const rows = row_.row_ids + segment * row_.k;
    int64_t position = row_.k;
    while (position > 0 && (rows[position - 1] < 0 || word < words[position - 1])) --position;
    if (position == row_.k) return;
    std::copy_backward(words + position, words + row_.k - 1, words + row_.k);
    std::copy_backward(rows + position, rows + row_.k - 1, rows + row_.k);
    words[position] = word;
    rows[position] = row;
    if (rows[row_.k - 1] >= 0) limits_[segment - begin_] = words[row_.k - 1];
  }

  const SegmentTopKRow<Order>& row_;
  const int64_t begin_;
  WorkArray<Word> limits_;  // the greatest candidate of each segment with k of them
  WorkArray<Word> words_;
};

}  // namespace internal

// Threads divide the segments, and each reads the ids of all rows.
template <typename Order>
void segment_top_k(Executor& executor, const SegmentTopKRow<Order>& row) {
  constexpr int64_t kMinRows = 1 << 14, kMostParts = 8;
  if (row.k == 0) return;
  const int64_t size = row.segments.num_segments;
  const int64_t num_parts =
      row.segments.num_valid < kMinRows
          ? 1
          : std::min({int64_t{executor.num_threads()}, kMostParts, std::max<int64_t>(size, 1)});
  parallel_for(executor, num_parts, [&](int, int64_t part) {
    const int64_t begin = size * part / num_parts, end = size * (part + 1) / num_parts;
    internal::SegmentCandidates<Order> candidates(row, begin, end);
    internal::for_rows_in(row.segments, begin, end, [&](int64_t row_id, int64_t segment) {
      candidates.add(row_id, segment);
    });
  });
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_SEGMENT_TOP_K_H_
