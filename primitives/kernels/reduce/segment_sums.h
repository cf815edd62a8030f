// SPDX-License-Identifier: Apache-2.0
// Sums of several columns and of products of two columns by segment, and the number of rows, in one
// pass over the segment ids.
#ifndef JAXFRAMES_KERNELS_REDUCE_SEGMENT_SUMS_H_
#define JAXFRAMES_KERNELS_REDUCE_SEGMENT_SUMS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/compensated_sum.h"
#include "base/thread_pool.h"
#include "reduce/integer_sums.h"
#include "reduce/segment_sum.h"

namespace jaxframes {

// A result with one number for each segment. Rows are added in their order, because another order
// could change the bits of floats; integers may be added in any order instead. `finish` writes the
// results of some segments after all of their rows.
struct SegmentTable {
  std::function<void(int64_t begin, int64_t end)> clear;
  std::function<void(const ListedRows&)> add;
  std::function<void(int64_t begin, int64_t end)> finish;
  IntegerSum integers;  // without functions for floats; sums of integers may be doubles

  bool is_integer() const { return static_cast<bool>(integers.words); }
};

// The numbers of a column.
template <typename Number>
struct ColumnRows {
  Number operator()(int64_t row) const { return numbers[row]; }

  // The address of a row if its bits are those of its word.
  const uint64_t* words(int64_t row) const {
    constexpr bool are_words = std::is_integral_v<Number> && sizeof(Number) == sizeof(uint64_t);
    return are_words ? reinterpret_cast<const uint64_t*>(numbers + row) : nullptr;
  }

  // Whether these are integers whose magnitudes can be read.
  static constexpr bool kIsIntegerColumn = std::is_integral_v<Number>;

  const Number* numbers;
};

// The products of the numbers of two columns, in their own type.
template <typename Number>
struct ProductRows {
  Number operator()(int64_t row) const { return wrapping_product(left[row], right[row]); }
  const uint64_t* words(int64_t) const { return nullptr; }

  static constexpr bool kIsIntegerColumn = false;

  const Number* left;
  const Number* right;
};

template <typename Rows, typename Sum>
SegmentTable table_of_rows(const Rows& numbers, Sum* sums, int64_t num_segments) {
  const SumTable<Sum> so_far(sums, num_segments);
  SegmentTable table;
  table.clear = [=](int64_t begin, int64_t end) { so_far.clear(begin, end); };
  table.add = [=](const ListedRows& rows) {
    for (int64_t i = 0; i < rows.count; ++i) {
      so_far.add(rows.segments[i], static_cast<Sum>(numbers(rows.first_row + rows.positions[i])));
    }
  };
  table.finish = [=](int64_t begin, int64_t end) { so_far.finish(begin, end); };
  if constexpr (std::is_integral_v<Sum> || Rows::kIsIntegerColumn) {
    table.integers.words = [=](const ListedRows& rows, uint64_t* space) {
      const uint64_t* const words = numbers.words(rows.first_row + rows.positions[0]);
      if (words != nullptr && internal::are_consecutive(rows)) return words;
      return internal::write_words(
          rows, space, [&](int64_t row) { return static_cast<uint64_t>(numbers(row)); });
    };
    table.integers.store = internal::store_to(sums);
    if constexpr (std::is_floating_point_v<Sum>) {
      table.integers.are_exact = [=](Executor& executor, int64_t num_rows) {
        return internal::add_up_as_doubles(executor, numbers.numbers, num_rows);
      };
    }
  }
  return table;
}

template <typename Number, typename Sum>
SegmentTable sum_table(const Number* numbers, Sum* sums, int64_t num_segments) {
  return table_of_rows(ColumnRows<Number>{numbers}, sums, num_segments);
}

template <typename Number, typename Sum>
SegmentTable product_table(const Number* left, const Number* right, Sum* sums,
                           int64_t num_segments) {
  return table_of_rows(ProductRows<Number>{left, right}, sums, num_segments);
}

inline SegmentTable count_table(int32_t* counts) {
  SegmentTable table;
  table.clear = [=](int64_t begin, int64_t end) { std::fill(counts + begin, counts + end, 0); };
  table.add = [=](const ListedRows& rows) {
    for (int64_t i = 0; i < rows.count; ++i) ++counts[rows.segments[i]];
  };
  table.finish = [](int64_t, int64_t) {};
  table.integers.words = [](const ListedRows& rows, uint64_t* space) -> const uint64_t* {
    std::fill(space, space + rows.count, 1);
    return space;
  };
  table.integers.store = internal::store_to(counts);
  return table;
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
  for (int64_t i = 0; i < num_tables; ++i) tables[i].finish(begin, end);
}

// Threads divide the rows of integers and the tables of the others.
template <typename Id>
void add_tables(Executor& executor, const SegmentIds<Id>& rows,
                const std::vector<SegmentTable>& tables) {
  std::vector<SegmentTable> ordered;
  std::vector<IntegerSum> unordered;
  const int64_t num_integers =
      std::count_if(tables.begin(), tables.end(), std::mem_fn(&SegmentTable::is_integer));
  const bool any_order = IntegerSums<Id>::fits(rows, num_integers);
  for (const SegmentTable& table : tables) {
    const auto& are_exact = table.integers.are_exact;
    if (any_order && table.is_integer() && (!are_exact || are_exact(executor, rows.num_valid))) {
      unordered.push_back(table.integers);
    } else {
      ordered.push_back(table);
    }
  }
  const int64_t num_ordered = static_cast<int64_t>(ordered.size());
  const int64_t num_parts = std::min<int64_t>(executor.num_threads(), num_ordered);
  IntegerSums<Id> integers(executor, rows, std::move(unordered));
  // The longest tasks first.
  parallel_for(executor, num_parts + integers.num_tasks(), [&](int worker, int64_t task) {
    if (task >= num_parts) return integers.run_task(worker, task - num_parts);
    const int64_t begin = num_ordered * task / num_parts;
    const int64_t end = num_ordered * (task + 1) / num_parts;
    add_rows(rows, 0, rows.num_segments, ordered.data() + begin, end - begin);
  });
  integers.finish(executor);
}

}  // namespace internal

// Threads divide the segments if a table does not fit the cache.
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
  SerialExecutor serial;
  internal::add_tables(rows.num_valid < kMinRows ? serial : executor, rows, tables);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_SEGMENT_SUMS_H_
