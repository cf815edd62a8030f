// SPDX-License-Identifier: Apache-2.0
#include "reduce/histogram.h"

#include "check.h"

using namespace jaxframes;
using namespace jaxframes_tests;

// The definition: compares every number with every bin.
template <typename Number, typename Edge>
std::vector<int32_t> counts_of(const std::vector<Number>& numbers, int64_t num_valid,
                               const std::vector<Edge>& edges) {
  const int64_t num_bins = static_cast<int64_t>(edges.size()) - 1;
  std::vector<int32_t> counts(num_bins, 0);
  for (int64_t i = 0; i < num_valid; ++i) {
    const Edge number = static_cast<Edge>(numbers[i]);
    if (!(number >= edges[0] && number <= edges[num_bins])) continue;
    const auto above = std::upper_bound(edges.begin(), edges.end(), number);
    const int64_t bin = above - edges.begin() - 1;
    // Equal edges at the end make empty bins: the last of all is the closed one.
    ++counts[std::min(bin, num_bins - 1)];
  }
  return counts;
}

template <typename Number, typename Edge>
void check_histogram(Executor& executor, const std::vector<Number>& numbers, int64_t num_valid,
                     const std::vector<Edge>& edges, bool is_uniform) {
  const int64_t num_bins = static_cast<int64_t>(edges.size()) - 1;
  current_case() = std::to_string(num_valid) + " numbers, " + std::to_string(num_bins) +
                   (is_uniform ? " equal" : "") + " bins, " +
                   std::to_string(executor.num_threads()) + " threads";
  GuardedArray<Number> input(numbers);
  GuardedArray<Edge> guarded_edges(edges);
  input.protect();
  guarded_edges.protect();
  GuardedArray<int32_t> counts(num_bins);
  histogram(executor, HistogramRow<Number, Edge>{input.data(), num_valid, guarded_edges.data(),
                                                 num_bins, is_uniform, counts.data()});
  CHECK(counts.values() == counts_of(numbers, num_valid, edges));
}

template <typename Number, typename Edge>
void check_all() {
  Executors executors;
  int index = 0;
  for (int64_t num_rows : {0, 1, 2, 3, 1000, 70001, 300000}) {
    for (int64_t num_bins : {1, 2, 10, 255, 256, 5000}) {
      ++index;
      // Most rows meet every second number of bins.
      if (num_rows == 300000 && index % 2 != 0) continue;
      std::vector<Number> numbers(num_rows);
      for (Number& number : numbers) {
        number = static_cast<Number>(static_cast<double>(random_bits()() % 20001) / 100 - 100);
      }
      if (std::is_floating_point_v<Number> && num_rows > 2) {
        numbers[0] = static_cast<Number>(NAN);
        numbers[1] = static_cast<Number>(INFINITY);
        numbers[2] = static_cast<Number>(-INFINITY);
      }
      std::vector<Edge> edges(num_bins + 1);
      const Edge first = -50, step = Edge{100} / num_bins;
      for (int64_t i = 0; i <= num_bins; ++i) edges[i] = first + i * step;
      // Numbers that lie on the edges.
      for (int64_t i = 3; i < num_rows && i <= num_bins; i += 2) {
        numbers[i] = static_cast<Number>(edges[i]);
      }
      const int64_t num_valid = index % 3 == 0 ? num_rows / 2 : num_rows;
      Executor& executor = executors.next(num_rows);
      check_histogram(executor, numbers, num_valid, edges, true);
      check_histogram(executor, numbers, num_valid, edges, false);
      // Edges that repeat, that are all equal, and that are NaN.
      for (int64_t i = 1; i < num_bins; i += 3) edges[i] = edges[i - 1];
      check_histogram(executor, numbers, num_valid, edges, false);
      std::fill(edges.begin(), edges.end(), Edge{0});
      check_histogram(executor, numbers, num_valid, edges, true);
      std::fill(edges.begin(), edges.end(), static_cast<Edge>(NAN));
      check_histogram(executor, numbers, num_valid, edges, true);
    }
  }
}

int main() {
  check_all<float, float>();
  check_all<int64_t, double>();
#if !defined(__SANITIZE_THREAD__)
  check_all<double, double>();
  check_all<float, double>();
  check_all<int32_t, double>();
  check_all<int32_t, float>();
#endif
  return finish("histogram");
}
