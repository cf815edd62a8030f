// SPDX-License-Identifier: Apache-2.0
// Moments of the windows of rows that end with their own row, in one pass.
//
// Rows are cut into blocks at heads. A window is the end of one block and the front of the next, or
// one of both, so a scan from the end of each block and one from its front hold all of its parts
// (van Herk; Gil and Werman). `_windows.py` says where windows begin.
#ifndef JAXFRAMES_KERNELS_SCAN_WINDOW_MOMENTS_H_
#define JAXFRAMES_KERNELS_SCAN_WINDOW_MOMENTS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "scan/merge_scan.h"

namespace jaxframes {

// One row of a batch.
template <typename T>
struct RowWindows {
  const T* const* columns;   // the values, zero where a row is not held
  const bool* held;          // whether a row counts; null if all do
  const bool* heads;         // the first rows of blocks; the first row of all is one, too
  const int32_t* first;      // the first row of the window that ends with a row
  const bool* is_split;      // whether it begins in the block before that of its last row
  const bool* has_front;     // whether the front of the block of its last row is part of it
  int64_t num_rows;
  T* const* results;         // counts, and the sums without the means
};

namespace internal {

template <typename Merge>
class WindowPart {
 public:
  using T = typename Merge::T;
  struct State {
    T numbers[Merge::kResults];
  };

  explicit WindowPart(const RowWindows<T>& rows) : rows_(rows) {
    std::copy(rows.columns, rows.columns + Merge::kColumns, columns_);
    std::copy(rows.results, rows.results + kNumResults, results_);
  }

  // The windows of the blocks from `begin`, where one begins, to `end`.
  void run(int64_t begin, int64_t end) {
    if (begin > 0 && begin < end) {
      // The windows of the first block begin in the one before.
      const int64_t before = rows_before_head(rows_.heads + begin - 1, begin, -1);
      scan_end(std::max<int64_t>(begin - 1 - before, 0), begin);
    }
    while (begin < end) {
      const int64_t next = begin + 1 + rows_before_head(rows_.heads + begin + 1,
                                                        rows_.num_rows - begin - 1, 1);
      reduce_block(begin, next);
      if (next < end) scan_end(begin, next);
      begin = next;
    }
  }

 private:
  static constexpr int kNumResults = Merge::kResults - Merge::kColumns;

  void load(int64_t position, T* row) const {
    T values[Merge::kColumns];
    for (int k = 0; k < Merge::kColumns; ++k) values[k] = columns_[k][position];
    Merge::of_values(rows_.held == nullptr || rows_.held[position], values, row);
  }

  // The scan from the last row of a block to its first one.
  void scan_end(int64_t begin, int64_t end) {
    first_of_ends_ = begin;
    ends_.resize(end - begin);
    State state{};
    for (int64_t position = end - 1; position >= begin; --position) {
      T row[Merge::kArguments];
      load(position, row);
      if (position == end - 1) {
        Merge::start(row, state.numbers);
      } else {
        Merge::next(row, state.numbers);
      }
      ends_[position - begin] = state;
    }
  }

  void reduce_block(int64_t begin, int64_t end) {
    const State nothing{};
    State front{};
    for (int64_t position = begin; position < end; ++position) {
      T row[Merge::kArguments];
      load(position, row);
      if (position == begin) {
        Merge::start(row, front.numbers);
      } else {
        Merge::next(row, front.numbers);
      }
      const int64_t place = rows_.first[position] - first_of_ends_;
      const bool has_end = rows_.is_split[position] && place >= 0 &&
                           place < static_cast<int64_t>(ends_.size());
      State window = has_end ? ends_[place] : nothing;
      const State& of_front = rows_.has_front[position] ? front : nothing;
      Merge::next(of_front.numbers, window.numbers);
      results_[0][position] = window.numbers[0];
      for (int k = 1; k < kNumResults; ++k) {
        results_[k][position] = window.numbers[k + Merge::kColumns];
      }
    }
  }

  const RowWindows<T>& rows_;
  const T* columns_[Merge::kColumns];
  T* results_[kNumResults];
  // The states of the last block but one, from its end.
  std::vector<State> ends_;
  int64_t first_of_ends_ = 0;
};

}  // namespace internal

template <typename Merge>
void window_moments(Executor& executor, const RowWindows<typename Merge::T>& rows) {
  const std::vector<int64_t> begins =
      internal::parts_at_heads(rows.heads, rows.num_rows, false, executor.num_threads());
  parallel_for(executor, static_cast<int64_t>(begins.size()) - 1, [&](int, int64_t part) {
    internal::WindowPart<Merge>(rows).run(begins[part], begins[part + 1]);
  });
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_WINDOW_MOMENTS_H_
