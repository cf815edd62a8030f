// SPDX-License-Identifier: Apache-2.0
// Numbers of distinct values of segments whose rows are neighbours and few.
#ifndef JAXFRAMES_KERNELS_REDUCE_RUN_NUNIQUE_H_
#define JAXFRAMES_KERNELS_REDUCE_RUN_NUNIQUE_H_

#include <algorithm>
#include <cstdint>

#include "base/thread_pool.h"
#include "base/vector_unit.h"
#include "reduce/segment_sum.h"

namespace jaxframes {

// The most rows of a segment: each is compared with all rows before it.
constexpr int64_t kMostRunRows = 8;

namespace internal {

// The flags of a block of rows stay in the first cache.
constexpr int64_t kRepeatRows = 256;

// For each row, bit d - 1 tells whether the word d rows before is the same, for d up to `most`.
struct FlagRepeats {
  template <typename Word>
  JAXFRAMES_ALWAYS_INLINE static void run(const Word* words, int64_t num_rows, int64_t most,
                                          Word* flags) {
    for (int64_t i = 0; i < num_rows; ++i) flags[i] = 0;
    for (int64_t distance = 1; distance <= most; ++distance) {
      const Word bit = Word{1} << (distance - 1);
      for (int64_t i = 0; i < num_rows; ++i) {
        flags[i] |= words[i] == words[i - distance] ? bit : Word{0};
      }
    }
  }
};

// Counts the distinct words of each segment of a part; false unless its rows are in order, and at
// most `kMostRunRows` in a segment.
template <typename Word>
bool count_distinct_in_order(const SegmentIds<int32_t>& rows, const Word* words,
                             const PartInOrder& part, int32_t* counts) {
  std::fill(counts + part.begin, counts + part.end, 0);
  const uint64_t end = std::min<uint64_t>(part.end, rows.num_named);
  uint64_t last = part.begin;
  int32_t count = 0;
  uint32_t before = 0;
  Word flags[kRepeatRows];
  for (int64_t first = part.first_row; first < part.end_row;) {
    // The first rows have fewer before them.
    const bool is_start = first < kMostRunRows;
    const int64_t num_rows = is_start ? 1 : std::min(kRepeatRows, part.end_row - first);
    const int64_t most = std::min(first, kMostRunRows - 1);
    if (is_start) {
      FlagRepeats::run(words + first, num_rows, most, flags);
    } else {
      run_with_widest_vectors<FlagRepeats>(words + first, num_rows, most, flags);
    }
    for (int64_t i = 0; i < num_rows; ++i) {
      const uint64_t segment = rows.segment(first + i);
      if (segment < last) return false;
      if (segment >= end) {
        if (segment < rows.num_named) return false;
        last = segment;
        continue;
      }
      // All ones if the row before it is of the same segment. Without branches, because the lengths
      // of runs are unpredictable.
      const int32_t is_same = -((segment == last) & (first + i > part.first_row));
      // The bits of the rows before it in its segment.
      before = (before << 1 | 1) & static_cast<uint32_t>(is_same);
      if (before >> (kMostRunRows - 1) != 0) return false;
      count = (count & is_same) + ((static_cast<uint32_t>(flags[i]) & before) == 0);
      counts[segment] = count;
      last = segment;
    }
    first += num_rows;
  }
  return true;
}

}  // namespace internal

// Counts the distinct words of each segment. Returns false, with arbitrary counts, unless the rows
// are in the order of their segments, rows of no segment last, at most `kMostRunRows` in each. The
// ids are those of the segments.
template <typename Word>
bool count_distinct_in_runs(Executor& executor, const SegmentIds<int32_t>& rows,
                            const Word* words, int32_t* counts) {
  const bool are_counted =
      internal::for_parts_in_order(executor, rows, [&](const internal::PartInOrder& part) {
        return internal::count_distinct_in_order(rows, words, part, counts);
      });
  // All of the result is written.
  if (!are_counted) std::fill(counts, counts + rows.num_segments, 0);
  return are_counted;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_RUN_NUNIQUE_H_
