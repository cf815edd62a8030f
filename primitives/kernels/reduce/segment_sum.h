// SPDX-License-Identifier: Apache-2.0
// Sums and counts of rows by segment; segment ids are consecutive integers.
#ifndef JAXFRAMES_KERNELS_REDUCE_SEGMENT_SUM_H_
#define JAXFRAMES_KERNELS_REDUCE_SEGMENT_SUM_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/compensated_sum.h"
#include "base/thread_pool.h"

namespace jaxframes {

// The segment of each row of one row of a batch: segment s has the id first_id + s.
template <typename IdType>
struct SegmentIds {
  using Id = IdType;

  SegmentIds(const Id* ids, Id first_id, int64_t num_valid, int64_t num_segments)
      : ids(ids), first(as_word(first_id)), num_valid(num_valid), num_segments(num_segments) {
    // Distances wrap around at the largest integer, so no segment may lie past it.
    const uint64_t last = as_word(std::numeric_limits<Id>::max()) - first;
    num_named = last < static_cast<uint64_t>(num_segments) ? last + 1 : num_segments;
  }

  // A row has a segment if this is less than `num_named`.
  uint64_t segment(int64_t row) const { return as_word(ids[row]) - first; }

  const Id* ids;
  uint64_t first;
  int64_t num_valid;
  int64_t num_segments;
  uint64_t num_named;

 private:
  // Sign-extends narrow ids, so that distances between them do not wrap around.
  static uint64_t as_word(Id id) { return static_cast<uint64_t>(id); }
};

// The listed rows of a block: positions in the block and segments.
struct ListedRows {
  int64_t first_row;
  int64_t count;
  const uint32_t* positions;
  const uint32_t* segments;
};

namespace internal {

// Calls each_list(rows) for the rows from `first_row` to `end_row` in the segments from `begin` to
// `end`, block by block and in their order. To list them first avoids an unpredictable branch.
template <typename Id, typename EachList>
void for_listed_rows(const SegmentIds<Id>& rows, int64_t first_row, int64_t end_row, int64_t begin,
                     int64_t end, const EachList& each_list) {
  const uint64_t first = static_cast<uint64_t>(begin);
  if (rows.num_named <= first) return;
  const uint64_t size = std::min<uint64_t>(end, rows.num_named) - first;
  // The ids of a block and its list stay in the first cache.
  constexpr int64_t kBlockRows = 1 << 10;
  uint32_t positions[kBlockRows], segments[kBlockRows];
  for (int64_t row = first_row; row < end_row; row += kBlockRows) {
    const int64_t block_rows = std::min(kBlockRows, end_row - row);
    int64_t num_listed = 0;
    for (int64_t i = 0; i < block_rows; ++i) {
      const uint64_t segment = rows.segment(row + i) - first;
      positions[num_listed] = static_cast<uint32_t>(i);
      segments[num_listed] = static_cast<uint32_t>(segment + first);
      num_listed += segment < size;
    }
    each_list(ListedRows{row, num_listed, positions, segments});
  }
}

// The same for all valid rows.
template <typename Id, typename EachList>
void for_listed_rows(const SegmentIds<Id>& rows, int64_t begin, int64_t end,
                     const EachList& each_list) {
  for_listed_rows(rows, 0, rows.num_valid, begin, end, each_list);
}

// Calls each_row(row, segment) for the rows in the segments from `begin` to `end`, in
// their order.
template <typename Id, typename EachRow>
void for_rows_in(const SegmentIds<Id>& rows, int64_t begin, int64_t end,
                 const EachRow& each_row) {
  for_listed_rows(rows, begin, end, [&](const ListedRows& listed) {
    for (int64_t i = 0; i < listed.count; ++i) {
      each_row(listed.first_row + listed.positions[i], static_cast<int64_t>(listed.segments[i]));
    }
  });
}

// Calls each_part(begin, end) for parts of the segments if threads should divide segments instead
// of rows: if results of `item_bytes` do not fit the cache, additions wait for memory. Each thread
// then reads the ids of all rows. Otherwise returns false and does nothing.
template <typename Id, typename EachPart>
bool share_out_segments(Executor& executor, const SegmentIds<Id>& rows, int64_t item_bytes,
                        const EachPart& each_part) {
  constexpr int64_t kCachedBytes = 1 << 21, kMinRows = 1 << 15, kMostParts = 8;
  const int64_t size = rows.num_segments;
  const int64_t num_parts = std::min<int64_t>(executor.num_threads(), kMostParts);
  if (num_parts == 1 || size * item_bytes <= kCachedBytes || rows.num_valid < kMinRows) {
    return false;
  }
  parallel_for(executor, num_parts, [&](int, int64_t part) {
    each_part(size * part / num_parts, size * (part + 1) / num_parts);
  });
  return true;
}

template <typename Id>
void count_rows_of(const SegmentIds<Id>& rows, int64_t begin, int64_t end, int32_t* counts) {
  for (int64_t row = begin; row < end; ++row) {
    const uint64_t segment = rows.segment(row);
    if (segment < rows.num_named) ++counts[segment];
  }
}

// A part of rows that may be in the order of their segments: all rows of the segments from `begin`
// to `end`, if they are.
struct PartInOrder {
  int64_t first_row;
  int64_t end_row;
  int64_t begin;
  int64_t end;
};

// The first row of the segment of a row, for rows in order.
template <typename Id>
int64_t first_row_of_segment(const SegmentIds<Id>& rows, int64_t row) {
  const uint64_t segment = rows.segment(row);
  int64_t begin = 0, end = row;
  while (begin < end) {
    const int64_t middle = begin + (end - begin) / 2;
    if (rows.segment(middle) < segment) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return begin;
}

// Calls count_part(part) for parts with about as many rows each. Returns whether all calls return
// true: the rows of each part are in the order of their segments, and belong to those of the part.
// Rows of no segment must come last. Returns false soon for most rows in another order.
template <typename Id, typename CountPart>
bool for_parts_in_order(Executor& executor, const SegmentIds<Id>& rows,
                        const CountPart& count_part) {
  constexpr int64_t kSampleRows = 1 << 10, kMinRows = 1 << 15;
  const int64_t step = rows.num_valid / kSampleRows + 1;
  for (int64_t row = step; row < rows.num_valid; row += step) {
    if (rows.segment(row) < rows.segment(row - step)) return false;
  }
  const int64_t num_parts = rows.num_valid < kMinRows ? 1 : executor.num_threads();
  std::vector<PartInOrder> parts(num_parts, {0, rows.num_valid, 0, rows.num_segments});
  for (int64_t i = 1; i < num_parts; ++i) {
    const int64_t row = first_row_of_segment(rows, rows.num_valid * i / num_parts);
    const int64_t begin =
        static_cast<int64_t>(std::min<uint64_t>(rows.segment(row), rows.num_segments));
    if (row < parts[i - 1].first_row || begin < parts[i - 1].begin) return false;
    // All segments before the first row are those of the parts before.
    parts[i].first_row = parts[i - 1].end_row = row;
    parts[i].begin = parts[i - 1].end = row == 0 ? 0 : begin;
  }
  std::atomic<bool> in_order{true};
  parallel_for(executor, num_parts, [&](int, int64_t part) {
    if (!count_part(parts[part])) in_order.store(false, std::memory_order_relaxed);
  });
  return in_order;
}

// Counts the rows of each segment of a part; false unless they are in order.
template <typename Id>
bool count_in_order(const SegmentIds<Id>& rows, const PartInOrder& part, int32_t* counts) {
  std::fill(counts + part.begin, counts + part.end, 0);
  const uint64_t end = std::min<uint64_t>(part.end, rows.num_named);
  uint64_t last = part.begin;
  int32_t count = 0;
  for (int64_t row = part.first_row; row < part.end_row; ++row) {
    const uint64_t segment = rows.segment(row);
    if (segment < last) return false;
    if (segment >= end) {
      if (segment < rows.num_named) return false;
      last = segment;
      continue;
    }
    // In a register: an addition in memory would wait for the one before it.
    count = segment == last ? count + 1 : 1;
    counts[segment] = count;
    last = segment;
  }
  return true;
}

}  // namespace internal

// Adds the numbers of each segment in the order of the rows: another order could change the bits of
// floats, though these keep what they round away.
template <typename Id, typename Number>
void sum_segments(Executor& executor, const SegmentIds<Id>& rows, const Number* numbers,
                  Number* sums) {
  constexpr int64_t kRowsAhead = 16;
  const SumTable<Number> table(sums, rows.num_segments);
  const bool is_done = internal::share_out_segments(
      executor, rows, sizeof(SumSoFar<Number>), [&](int64_t begin, int64_t end) {
        table.clear(begin, end);
        internal::for_listed_rows(rows, begin, end, [&](const ListedRows& listed) {
          const Number* const block = numbers + listed.first_row;
          for (int64_t i = 0; i < listed.count; ++i) {
            // The processor looks ahead over few rows: an addition with its error takes many
            // instructions.
            if (i + kRowsAhead < listed.count) table.prefetch(listed.segments[i + kRowsAhead]);
            table.add(listed.segments[i], block[listed.positions[i]]);
          }
        });
        table.finish(begin, end);
      });
  if (is_done) return;
  table.clear(0, rows.num_segments);
  for (int64_t row = 0; row < rows.num_valid; ++row) {
    const uint64_t segment = rows.segment(row);
    if (segment < rows.num_named) table.add(segment, numbers[row]);
  }
  table.finish(0, rows.num_segments);
}

// Counts the rows of each segment. Threads have separate tables if rows far outnumber segments, and
// separate rows if these are in the order of their segments.
template <typename Id>
void count_segments(Executor& executor, const SegmentIds<Id>& rows, int32_t* counts) {
  const int64_t size = rows.num_segments;
  const Chunks chunks(rows.num_valid, std::max<int64_t>(1 << 15, 4 * size),
                      executor.num_threads());
  if (chunks.count == 1) {
    const bool in_order =
        internal::for_parts_in_order(executor, rows, [&](const internal::PartInOrder& part) {
          return internal::count_in_order(rows, part, counts);
        });
    if (in_order) return;
    const bool is_done = internal::share_out_segments(
        executor, rows, sizeof(int32_t), [&](int64_t begin, int64_t end) {
          std::fill(counts + begin, counts + end, 0);
          internal::for_rows_in(rows, begin, end,
                                [&](int64_t, int64_t segment) { ++counts[segment]; });
        });
    if (is_done) return;
  }
  std::fill(counts, counts + size, 0);
  if (chunks.count == 1) return internal::count_rows_of(rows, 0, rows.num_valid, counts);
  const int64_t num_workers = std::min<int64_t>(executor.num_threads(), chunks.count);
  std::vector<int32_t> tables(num_workers * size, 0);
  parallel_for(executor, chunks.count, [&](int worker, int64_t chunk) {
    internal::count_rows_of(rows, chunks.begin(chunk), chunks.end(chunk),
                            tables.data() + worker * size);
  });
  for (int64_t worker = 0; worker < num_workers; ++worker) {
    for (int64_t i = 0; i < size; ++i) counts[i] += tables[worker * size + i];
  }
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_SEGMENT_SUM_H_
