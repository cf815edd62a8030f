// SPDX-License-Identifier: Apache-2.0
// Sums of several columns by segment, and the number of rows, in one pass over the segment ids.
#ifndef JAXFRAMES_KERNELS_REDUCE_SEGMENT_SUMS_H_
#define JAXFRAMES_KERNELS_REDUCE_SEGMENT_SUMS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "base/thread_pool.h"
#include "reduce/segment_sum.h"

namespace jaxframes {

// A result with one number for each segment. Rows are added in their order, because another order
// would change the bits of floats.
struct SegmentTable {
  std::function<void(int64_t begin, int64_t end)> clear;
  std::function<void(const ListedRows&)> add;
};

// Integers wrap around; for signed ones C++ leaves that undefined.
template <typename Sum>
Sum wrapping_sum(Sum left, Sum right) {
  if constexpr (std::is_integral_v<Sum>) {
    using Bits = std::make_unsigned_t<Sum>;
    return static_cast<Sum>(static_cast<Bits>(left) + static_cast<Bits>(right));
  } else {
    return left + right;
  }
}

template <typename Number, typename Sum>
SegmentTable sum_table(const Number* numbers, Sum* sums) {
  return {[=](int64_t begin, int64_t end) { std::fill(sums + begin, sums + end, Sum{0}); },
          [=](const ListedRows& rows) {
            const Number* const block = numbers + rows.first_row;
            for (int64_t i = 0; i < rows.count; ++i) {
              Sum& sum = sums[rows.segments[i]];
              sum = wrapping_sum(sum, static_cast<Sum>(block[rows.positions[i]]));
            }
          }};
}

inline SegmentTable count_table(int32_t* counts) {
  return {[=](int64_t begin, int64_t end) { std::fill(counts + begin, counts + end, 0); },
          [=](const ListedRows& rows) {
            for (int64_t i = 0; i < rows.count; ++i) ++counts[rows.segments[i]];
          }};
}

namespace internal {

// Adds the rows in the segments from `begin` to `end` to tables.
template <typename Id>
void add_rows(const SegmentIds<Id>& rows, int64_t begin, int64_t end, const SegmentTable* tables,
              int64_t num_tables) {
  for (int64_t i = 0; i < num_tables; ++i) tables[i].clear(begin, end);
  for_listed_rows(rows, begin, end, [&](const ListedRows& listed) {
    for (int64_t i = 0; i < num_tables; ++i) tables[i].add(listed);
  });
}

}  // namespace internal

// Threads divide the tables, or, if a table does not fit the cache, the segments.
template <typename Id>
void add_segments(Executor& executor, const SegmentIds<Id>& rows,
                  const std::vector<SegmentTable>& tables) {
  const int64_t num_tables = static_cast<int64_t>(tables.size());
  const bool is_done = internal::share_out_segments(
      executor, rows, sizeof(int64_t), [&](int64_t begin, int64_t end) {
        internal::add_rows(rows, begin, end, tables.data(), num_tables);
      });
  if (is_done) return;
  constexpr int64_t kMinRows = 1 << 14;
  const int64_t num_parts =
      rows.num_valid < kMinRows ? 1 : std::min<int64_t>(executor.num_threads(), num_tables);
  parallel_for(executor, num_parts, [&](int, int64_t part) {
    const int64_t begin = num_tables * part / num_parts, end = num_tables * (part + 1) / num_parts;
    internal::add_rows(rows, 0, rows.num_segments, tables.data() + begin, end - begin);
  });
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_SEGMENT_SUMS_H_
