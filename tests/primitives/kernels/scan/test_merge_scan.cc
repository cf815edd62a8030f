// SPDX-License-Identifier: Apache-2.0
#include "scan/merge_scan.h"

#include <deque>

#include "check.h"
#include "keys.h"
#include "scan/moments_of.h"

using namespace jaxframes;
using namespace jaxframes_tests;

template <typename T>
using Columns = std::vector<std::vector<T>>;

template <typename Merge>
Columns<typename Merge::T> scanned(Executor& executor, const Columns<typename Merge::T>& columns,
                                   const std::vector<char>& heads, bool reverse, bool at_front) {
  using T = typename Merge::T;
  const int64_t num_rows = static_cast<int64_t>(columns[0].size());
  std::deque<GuardedArray<T>> inputs, outputs;
  for (const auto& column : columns) {
    inputs.emplace_back(column, at_front);
    inputs.back().protect();
  }
  for (int k = 0; k < Merge::kResults; ++k) outputs.emplace_back(num_rows, at_front);
  GuardedArray<char> flags(heads, at_front);
  flags.protect();
  std::vector<const T*> arguments;
  std::vector<T*> results;
  for (auto& input : inputs) arguments.push_back(input.data());
  for (auto& output : outputs) results.push_back(output.data());
  const bool* given = heads.empty() ? nullptr : reinterpret_cast<const bool*>(flags.data());
  merge_scan<Merge>(executor,
                    MergedColumns<T>{arguments.data(), given, num_rows, reverse, results.data()});
  Columns<T> numbers;
  for (auto& output : outputs) numbers.push_back(output.values());
  return numbers;
}

std::vector<char> heads_of(int64_t num_rows, int64_t mean_length) {
  std::vector<char> heads(mean_length == 0 ? 0 : num_rows);
  for (char& head : heads) head = random_bits()() % mean_length == 0;
  return heads;
}

// The other end of the rows that each row is scanned with, itself included.
std::vector<int64_t> starts_of(const std::vector<char>& heads, int64_t num_rows, bool reverse) {
  std::vector<int64_t> starts(num_rows);
  for (int64_t i = 0; i < num_rows; ++i) {
    const int64_t row = reverse ? num_rows - 1 - i : i;
    const bool is_start = i == 0 || (!heads.empty() && heads[row]);
    starts[row] = is_start ? row : starts[reverse ? row + 1 : row - 1];
  }
  return starts;
}

template <typename T>
void check_recurrence(Executor& executor, int64_t num_rows, const std::vector<char>& heads,
                      bool reverse) {
  const Columns<T> columns{values_around<T>(0, num_rows), values_around<T>(3, num_rows)};
  const auto starts = starts_of(heads, num_rows, reverse);
  std::vector<T> expected(num_rows);
  for (int64_t i = 0; i < num_rows; ++i) {
    const int64_t row = reverse ? num_rows - 1 - i : i;
    expected[row] = columns[1][row];
    if (starts[row] == row) continue;
    const T before = expected[reverse ? row + 1 : row - 1];
    const T product = columns[0][row] * before;
    expected[row] = product + columns[1][row];
  }
  CHECK(same_bits(scanned<Recurrence<T>>(executor, columns, heads, reverse, num_rows % 2)[0],
                  expected));
}

template <typename T>
void check_moments(Executor& executor, int64_t num_rows, const std::vector<char>& heads,
                   bool reverse) {
  auto x = values_around<T>(2, num_rows), y = values_around<T>(-1, num_rows);
  std::vector<char> held(num_rows, 1);
  for (char& flag : held) flag = random_bits()() % 4 != 0;
  std::vector<T> counts(num_rows);
  const std::vector<T> zeros(num_rows);
  for (int64_t i = 0; i < num_rows; ++i) {
    counts[i] = held[i];
    if (!held[i]) x[i] = y[i] = 0;
  }
  const auto starts = starts_of(heads, num_rows, reverse);
  const auto of_x = scanned<MomentsMerge<T, 3>>(executor, {counts, x, zeros, zeros, zeros}, heads,
                                                reverse, num_rows % 2);
  const auto of_both = scanned<PairMomentsMerge<T>>(executor, {counts, x, y, zeros, zeros, zeros},
                                                    heads, reverse, num_rows % 2);
  for (int64_t row = 0; row < num_rows; row += 1 + num_rows / 300) {
    const auto exact = naive_moments(x, y, held, std::min(row, starts[row]),
                                     std::max(row, starts[row]) + 1);
    const int64_t n = static_cast<int64_t>(exact.count);
    CHECK(of_x[0][row] == exact.count && of_both[0][row] == exact.count);
    CHECK(is_near(of_x[1][row], exact.x_mean, n, 3) && is_near(of_both[2][row], exact.y_mean, n, 3));
    for (int k = 0; k < 3; ++k) CHECK(is_near(of_x[2 + k][row], exact.sums[k], n, n));
    CHECK(is_near(of_both[3][row], exact.sums[0], n, n));
    CHECK(is_near(of_both[4][row], exact.sums[3], n, n));
    CHECK(is_near(of_both[5][row], exact.sums[4], n, n));
  }
  // Fewer powers are the same numbers.
  const auto squares =
      scanned<MomentsMerge<T, 1>>(executor, {counts, x, zeros}, heads, reverse, num_rows % 2);
  const auto cubes =
      scanned<MomentsMerge<T, 2>>(executor, {counts, x, zeros, zeros}, heads, reverse, num_rows % 2);
  CHECK(same_bits(squares[2], of_x[2]) && same_bits(cubes[3], of_x[3]));
}

int main() {
  Executors executors;
  for (int64_t num_rows : {0, 1, 2, 63, 8192, 16384, 16385, 70001}) {
    for (int64_t mean_length : {0, 1, 3, 700, 40000}) {
      for (bool reverse : {false, true}) {
        const auto heads = heads_of(num_rows, mean_length);
        Executor& executor = executors.next(num_rows);
        current_case() = std::to_string(num_rows) + " rows, segments of " +
                         std::to_string(mean_length) + (reverse ? ", reverse, " : ", ") +
                         std::to_string(executor.num_threads()) + " threads";
        check_recurrence<float>(executor, num_rows, heads, reverse);
        if (kFindsRaces) continue;
        check_recurrence<double>(executor, num_rows, heads, reverse);
        check_moments<double>(executor, num_rows, heads, reverse);
        check_moments<float>(executor, num_rows, heads, reverse);
      }
    }
  }
  return finish("merge_scan");
}
