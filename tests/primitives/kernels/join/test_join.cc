// SPDX-License-Identifier: Apache-2.0
#include "join/join.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "check.h"

using namespace jaxframes;
using namespace jaxframes_tests;

using Pair = std::pair<int32_t, int32_t>;

// Nested loops over rows; for kOuter over groups.
std::vector<Pair> expected_pairs(How how, const std::vector<int32_t>& left,
                                 const std::vector<int32_t>& right, int32_t num_groups) {
  const auto rows_of = [](const std::vector<int32_t>& groups, int32_t group) {
    std::vector<int32_t> rows;
    for (size_t row = 0; row < groups.size(); ++row) {
      if (groups[row] == group) rows.push_back(static_cast<int32_t>(row));
    }
    return rows;
  };
  std::vector<Pair> pairs;
  if (how == How::kOuter) {
    for (int32_t group = 0; group < num_groups; ++group) {
      std::vector<int32_t> left_rows = rows_of(left, group), right_rows = rows_of(right, group);
      if (left_rows.empty()) left_rows.push_back(-1);
      if (right_rows.empty()) right_rows.push_back(-1);
      for (int32_t l : left_rows) {
        for (int32_t r : right_rows) pairs.emplace_back(l, r);
      }
    }
    return pairs;
  }
  for (size_t row = 0; row < left.size(); ++row) {
    const int32_t l = static_cast<int32_t>(row);
    const std::vector<int32_t> matches = rows_of(right, left[row]);
    if (how == How::kInner || how == How::kLeft) {
      for (int32_t r : matches) pairs.emplace_back(l, r);
      if (how == How::kLeft && matches.empty()) pairs.emplace_back(l, -1);
    } else if (matches.empty() == (how == How::kAnti)) {
      pairs.emplace_back(l, -1);
    }
  }
  return pairs;
}

// The number of rows in groups that the other side lacks.
int64_t num_missing(const std::vector<int32_t>& groups, const std::vector<int32_t>& others) {
  return std::count_if(groups.begin(), groups.end(), [&](int32_t group) {
    return std::find(others.begin(), others.end(), group) == others.end();
  });
}

void check_join(Executor& executor, How how, const std::vector<int32_t>& left,
                const std::vector<int32_t>& right, int32_t num_groups, int64_t capacity,
                bool at_front) {
  const std::vector<Pair> pairs = expected_pairs(how, left, right, num_groups);
  std::vector<int32_t> left_expected(capacity, -1), right_expected(capacity, -1);
  for (int64_t i = 0; i < std::min<int64_t>(capacity, pairs.size()); ++i) {
    std::tie(left_expected[i], right_expected[i]) = pairs[i];
  }
  GuardedArray<int32_t> left_groups(left, at_front), right_groups(right, at_front);
  GuardedArray<int32_t> left_rows(capacity, at_front), right_rows(capacity, at_front);
  GuardedArray<int32_t> offsets(num_groups + 2, at_front), rows(right.size(), at_front);
  left_groups.protect();
  right_groups.protect();
  const GroupedRows grouped =
      group_rows(right_groups.data(), static_cast<int64_t>(right.size()), num_groups,
                 offsets.data(), rows.data());
  offsets.protect();
  rows.protect();
  const int64_t count =
      join(executor, how,
           JoinRow{left_groups.data(), static_cast<int64_t>(left.size()), grouped, num_groups,
                   capacity, left_rows.data(), right_rows.data()});
  CHECK(count == static_cast<int64_t>(pairs.size()));
  const MatchCounts counts = count_matches(executor, how, left_groups.data(),
                                           static_cast<int64_t>(left.size()), grouped, num_groups);
  CHECK(counts.num_pairs == count);
  CHECK(counts.num_unmatched_left == num_missing(left, right));
  CHECK(counts.num_unmatched_right == num_missing(right, left));
  CHECK(left_rows.values() == left_expected);
  CHECK(right_rows.values() == right_expected);
}

// Groups of both sides: each of [0, num_groups) that is drawn by one of them, renumbered.
std::vector<int32_t> draw(int64_t num_rows, int32_t num_groups) {
  std::vector<int32_t> groups(num_rows);
  for (int32_t& group : groups) group = static_cast<int32_t>(random_bits()() % num_groups);
  return groups;
}

int32_t renumber(std::vector<int32_t>& left, std::vector<int32_t>& right) {
  std::vector<int32_t> numbers(1000, -1);
  int32_t num_groups = 0;
  for (std::vector<int32_t>* side : {&left, &right}) {
    for (int32_t& group : *side) {
      if (numbers[group] < 0) numbers[group] = num_groups++;
      group = numbers[group];
    }
  }
  return num_groups;
}

int main() {
  Executors executors;
  int index = 0;
  const int64_t sizes[][2] = {{0, 0}, {0, 3}, {4, 0}, {1, 1}, {40, 7}, {7, 40}, {300, 200}};
  for (How how : {How::kInner, How::kLeft, How::kOuter, How::kSemi, How::kAnti}) {
    for (const auto& [num_left, num_right] : sizes) {
      for (int32_t most_groups : {1, 5, 1000}) {
        std::vector<int32_t> left = draw(num_left, most_groups);
        std::vector<int32_t> right = draw(num_right, most_groups);
        const int32_t num_groups = renumber(left, right);
        for (int64_t capacity : {int64_t{0}, int64_t{10}, num_left * num_right + 500}) {
          ++index;
          current_case() = std::to_string(num_left) + " and " + std::to_string(num_right) +
                           " rows of " + std::to_string(most_groups) + " groups, how " +
                           std::to_string(static_cast<int>(how)) + ", capacity " +
                           std::to_string(capacity);
          check_join(executors.next(num_left), how, left, right, num_groups, capacity, index % 2);
        }
      }
    }
  }
  // Chunks enough for all threads, and more pairs than 32 bits count.
  for (How how : {How::kInner, How::kLeft, How::kOuter}) {
    current_case() = "many rows of one group";
    const std::vector<int32_t> left(100000, 0), right(50000, 0);
    std::vector<int32_t> offsets(3), rows(50000);
    const GroupedRows grouped =
        group_rows(right.data(), 50000, 1, offsets.data(), rows.data());
    for (Executor* executor : executors.all()) {
      std::vector<int32_t> left_rows(70000), right_rows(70000);
      const int64_t count = join(*executor, how, JoinRow{left.data(), 100000, grouped, 1, 70000,
                                                         left_rows.data(), right_rows.data()});
      CHECK(count == int64_t{5000000000});
      const MatchCounts counts = count_matches(*executor, how, left.data(), 100000, grouped, 1);
      CHECK(counts.num_pairs == count);
      CHECK(counts.num_unmatched_left == 0 && counts.num_unmatched_right == 0);
      CHECK(left_rows[49999] == 0 && right_rows[49999] == 49999);
      CHECK(left_rows[69999] == 1 && right_rows[69999] == 19999);
    }
  }
  return finish("join");
}
