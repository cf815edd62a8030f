// SPDX-License-Identifier: Apache-2.0
#include "scan/window_moments.h"

#include <deque>

#include "check.h"
#include "keys.h"
#include "scan/moments_of.h"

using namespace jaxframes;
using namespace jaxframes_tests;

// Windows of `width` rows that stop at segments, in blocks as long.
struct Windows {
  std::vector<char> heads, is_split, has_front;
  std::vector<int32_t> first;
};

Windows windows_of(int64_t num_rows, int64_t width, int64_t mean_length) {
  Windows windows;
  int64_t start = 0, block = 0;
  for (int64_t i = 0; i < num_rows; ++i) {
    const bool is_start = i == 0 || random_bits()() % mean_length == 0;
    if (is_start) start = i;
    if (is_start || i % width == 0) block = i;
    const int64_t first = std::max(start, i - width + 1);
    windows.heads.push_back(i != 0 && block == i);
    windows.first.push_back(static_cast<int32_t>(first));
    windows.is_split.push_back(first < block);
    windows.has_front.push_back(1);
  }
  return windows;
}

template <typename Merge, typename T = typename Merge::T>
std::vector<std::vector<T>> reduced(Executor& executor, const std::vector<std::vector<T>>& columns,
                                    const std::vector<char>& held, const Windows& windows,
                                    bool at_front) {
  const int64_t num_rows = static_cast<int64_t>(windows.heads.size());
  std::deque<GuardedArray<T>> inputs, outputs;
  std::vector<const T*> values;
  std::vector<T*> results;
  for (const auto& column : columns) {
    inputs.emplace_back(column, at_front);
    inputs.back().protect();
    values.push_back(inputs.back().data());
  }
  for (int k = 0; k < Merge::kResults - Merge::kColumns; ++k) {
    outputs.emplace_back(num_rows, at_front);
    results.push_back(outputs.back().data());
  }
  GuardedArray<char> flags(held, at_front), heads(windows.heads, at_front),
      is_split(windows.is_split, at_front), has_front(windows.has_front, at_front);
  GuardedArray<int32_t> first(windows.first, at_front);
  const auto bools = [](GuardedArray<char>& array) {
    array.protect();
    return reinterpret_cast<const bool*>(array.data());
  };
  first.protect();
  const bool* given = held.empty() ? nullptr : bools(flags);
  window_moments<Merge>(
      executor, RowWindows<T>{values.data(), given, bools(heads), first.data(), bools(is_split),
                              bools(has_front), num_rows, results.data()});
  std::vector<std::vector<T>> numbers;
  for (auto& output : outputs) numbers.push_back(output.values());
  return numbers;
}

template <typename T>
void check_windows(Executor& executor, int64_t num_rows, int64_t width, int64_t mean_length,
                   bool is_masked) {
  const Windows windows = windows_of(num_rows, width, mean_length);
  auto x = values_around<T>(2, num_rows), y = values_around<T>(-1, num_rows);
  std::vector<char> held(num_rows, 1);
  for (int64_t i = 0; i < num_rows && is_masked; ++i) {
    held[i] = random_bits()() % 3 != 0;
    if (!held[i]) x[i] = y[i] = 0;
  }
  const auto flags = is_masked ? held : std::vector<char>{};
  const bool at_front = num_rows % 2;
  const auto of_x = reduced<MomentsMerge<T, 3>>(executor, {x}, flags, windows, at_front);
  const auto of_both = reduced<PairMomentsMerge<T>>(executor, {x, y}, flags, windows, at_front);
  for (int64_t row = 0; row < num_rows; row += 1 + num_rows / 300) {
    const auto exact = naive_moments(x, y, held, windows.first[row], row + 1);
    const int64_t n = static_cast<int64_t>(exact.count);
    CHECK(of_x[0][row] == exact.count && of_both[0][row] == exact.count);
    for (int k = 0; k < 3; ++k) CHECK(is_near(of_x[1 + k][row], exact.sums[k], n, n));
    CHECK(is_near(of_both[1][row], exact.sums[0], n, n));
    CHECK(is_near(of_both[2][row], exact.sums[3], n, n));
    CHECK(is_near(of_both[3][row], exact.sums[4], n, n));
  }
  SerialExecutor serial;
  const auto alone = reduced<MomentsMerge<T, 1>>(serial, {x}, flags, windows, at_front);
  CHECK(same_bits(alone[1], of_x[1]));
  const auto cubes = reduced<MomentsMerge<T, 2>>(serial, {x}, flags, windows, at_front);
  CHECK(same_bits(cubes[2], of_x[2]));
}

// Words that no wrapper writes: no row outside the arrays is read.
void check_any_first() {
  Windows windows = windows_of(1000, 10, 1000);
  for (int64_t i = 0; i < 1000; ++i) {
    windows.first[i] = static_cast<int32_t>(random_bits()());
    windows.is_split[i] = random_bits()() % 2;
    windows.has_front[i] = random_bits()() % 2;
  }
  SerialExecutor serial;
  current_case() = "any first rows";
  const auto numbers =
      reduced<MomentsMerge<double, 1>>(serial, {values_around<double>(0, 1000)}, {}, windows, true);
  CHECK(numbers[0].size() == 1000);
}

int main() {
  Executors executors;
  for (int64_t num_rows : {0, 1, 2, 63, 8192, 16385, 70001}) {
    for (int64_t width : {1, 2, 17, 1000, 30000}) {
      for (int64_t mean_length : {7, 100000}) {
        for (bool is_masked : {false, true}) {
          Executor& executor = executors.next(num_rows);
          current_case() = std::to_string(num_rows) + " rows, windows of " +
                           std::to_string(width) + ", segments of " +
                           std::to_string(mean_length) + (is_masked ? ", masked, " : ", ") +
                           std::to_string(executor.num_threads()) + " threads";
          check_windows<double>(executor, num_rows, width, mean_length, is_masked);
          if (!kFindsRaces) check_windows<float>(executor, num_rows, width, mean_length, is_masked);
        }
      }
    }
  }
  check_any_first();
  return finish("window_moments");
}
