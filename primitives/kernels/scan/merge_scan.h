// SPDX-License-Identifier: Apache-2.0
// Segmented scans of rows of several numbers by a merge, in the order of the rows.
//
// The merges are those of `_linear_recurrence.py` and `_moments.py`, operation by operation, so that
// the bits are those of the definition.
#ifndef JAXFRAMES_KERNELS_SCAN_MERGE_SCAN_H_
#define JAXFRAMES_KERNELS_SCAN_MERGE_SCAN_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "scan/segmented_scan.h"

namespace jaxframes {

// A row is an array of kArguments numbers, and the state after it one of kResults. `start` is the
// state after a row that nothing comes before.

// h = a * h + b.
template <typename Value>
struct Recurrence {
  using T = Value;
  static constexpr int kArguments = 2, kResults = 1;
  static void start(const T* row, T* state) { state[0] = row[1]; }
  static void next(const T* row, T* state) { state[0] = row[0] * state[0] + row[1]; }
};

namespace internal {

// The mean of two parts, and the distances of their own means from it.
template <typename T>
struct MeanOfBoth {
  MeanOfBoth(T left_count, T right_count, T left_mean, T right_mean) {
    const T count = left_count + right_count;
    const T share = right_count / (count > 0 ? count : T{1});
    const T apart = right_mean - left_mean;
    mean = left_mean + apart * share;
    left = -apart * share;
    right = apart * (1 - share);
  }
  T mean, left, right;
};

// The sum of products of distances, about an origin that is `x` and `y` below the means.
template <typename T>
T moved_products(T count, T products, T x, T y) {
  return products + (count > 0 ? count * (x * y) : T{0});
}

// Moves the sums of powers from 2 to kSums + 1 to an origin that is `distance` below the mean.
template <int kSums, typename T>
void move_sums(T count, T distance, T* sums) {
  const T square = distance * distance, cube = distance * square;
  if constexpr (kSums > 2) {
    const T from_count = sums[2] + square * square * count;
    sums[2] = from_count + 6 * square * sums[0] + 4 * distance * sums[1];
  }
  if constexpr (kSums > 1) sums[1] = sums[1] + cube * count + 3 * distance * sums[0];
  sums[0] = moved_products(count, sums[0], distance, distance);
}

}  // namespace internal

// A count, a mean, and the sums of the powers 2, 3, and so on of the distances from it.
template <typename Value, int kSums>
struct MomentsMerge {
  using T = Value;
  static constexpr int kColumns = 1, kArguments = 2 + kSums, kResults = kArguments;
  // The moments of one row. Infinities have no distance from themselves.
  static void of_values(bool is_held, const T* values, T* row) {
    row[0] = is_held ? 1 : 0;
    row[1] = values[0];
    std::fill(row + 2, row + kArguments, values[0] - values[0]);
  }
  static void start(const T* row, T* state) { std::copy(row, row + kResults, state); }
  static void next(const T* row, T* state) {
    const internal::MeanOfBoth<T> both(state[0], row[0], state[1], row[1]);
    T moved[kSums];
    std::copy(row + 2, row + 2 + kSums, moved);
    internal::move_sums<kSums>(row[0], both.right, moved);
    internal::move_sums<kSums>(state[0], both.left, state + 2);
    state[0] += row[0];
    state[1] = both.mean;
    for (int sum = 0; sum < kSums; ++sum) state[2 + sum] += moved[sum];
  }
};

// A count, two means, both sums of squared distances from them, and the sum of their products.
template <typename Value>
struct PairMomentsMerge {
  using T = Value;
  static constexpr int kColumns = 2, kArguments = 6, kResults = 6;
  static void of_values(bool is_held, const T* values, T* row) {
    row[0] = is_held ? 1 : 0;
    std::copy(values, values + 2, row + 1);
    row[3] = values[0] - values[0];
    row[4] = values[1] - values[1];
    row[5] = row[3] * row[4];
  }
  static void start(const T* row, T* state) { std::copy(row, row + kResults, state); }
  static void next(const T* row, T* state) {
    const internal::MeanOfBoth<T> x(state[0], row[0], state[1], row[1]);
    const internal::MeanOfBoth<T> y(state[0], row[0], state[2], row[2]);
    const auto merged = [&](int sum, const internal::MeanOfBoth<T>& a,
                            const internal::MeanOfBoth<T>& b) {
      const T left = internal::moved_products(state[0], state[sum], a.left, b.left);
      return left + internal::moved_products(row[0], row[sum], a.right, b.right);
    };
    state[3] = merged(3, x, x);
    state[4] = merged(4, y, y);
    state[5] = merged(5, x, y);
    state[0] += row[0];
    state[1] = x.mean;
    state[2] = y.mean;
  }
};

// One row of a batch: a column for each number. The scan goes from the last row to the first if it
// is reversed. It restarts where `heads` is set, and always starts at its first row; `heads` may be
// null.
template <typename T>
struct MergedColumns {
  const T* const* arguments;
  const bool* heads;
  int64_t num_rows;
  bool reverse;
  T* const* results;
};

namespace internal {

// Where parts of at least `kLeastPartRows` rows begin, in the order of a scan, and where the last
// one ends. Each part but the first begins at a head, so that no result depends on their number.
inline std::vector<int64_t> parts_at_heads(const bool* heads, int64_t num_rows, bool reverse,
                                           int num_threads) {
  constexpr int64_t kLeastPartRows = 1 << 13;
  const int64_t num_parts =
      heads == nullptr ? 1 : std::clamp<int64_t>(num_rows / kLeastPartRows, 1, 4 * num_threads);
  std::vector<int64_t> begins(num_parts + 1, num_rows);
  begins[0] = 0;
  for (int64_t part = 1; part < num_parts; ++part) {
    const int64_t begin = std::max(num_rows / num_parts * part, begins[part - 1]);
    const int64_t position = reverse ? num_rows - 1 - begin : begin;
    begins[part] = begin + rows_before_head(heads + position, num_rows - begin, reverse ? -1 : 1);
  }
  return begins;
}

// Scans the rows from `begin` to `end`, counted in the order of the scan. The first one starts.
template <typename Merge>
void scan_merges(const MergedColumns<typename Merge::T>& columns, int64_t begin, int64_t end) {
  using T = typename Merge::T;
  const T* arguments[Merge::kArguments];
  T* results[Merge::kResults];
  std::copy(columns.arguments, columns.arguments + Merge::kArguments, arguments);
  std::copy(columns.results, columns.results + Merge::kResults, results);
  T state[Merge::kResults] = {};
  for (int64_t i = begin; i < end; ++i) {
    const int64_t position = columns.reverse ? columns.num_rows - 1 - i : i;
    T row[Merge::kArguments];
    for (int k = 0; k < Merge::kArguments; ++k) row[k] = arguments[k][position];
    if (i == begin || (columns.heads != nullptr && columns.heads[position])) {
      Merge::start(row, state);
    } else {
      Merge::next(row, state);
    }
    for (int k = 0; k < Merge::kResults; ++k) results[k][position] = state[k];
  }
}

}  // namespace internal

template <typename Merge>
void merge_scan(Executor& executor, const MergedColumns<typename Merge::T>& columns) {
  const std::vector<int64_t> begins = internal::parts_at_heads(
      columns.heads, columns.num_rows, columns.reverse, executor.num_threads());
  parallel_for(executor, static_cast<int64_t>(begins.size()) - 1, [&](int, int64_t part) {
    internal::scan_merges<Merge>(columns, begins[part], begins[part + 1]);
  });
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_MERGE_SCAN_H_
