// SPDX-License-Identifier: Apache-2.0
#include "join/direct_match.h"

#include <set>
#include <unordered_map>

#include "check.h"

using namespace jaxframes;
using namespace jaxframes_tests;

// Distinct keys from `least` on, in random order.
template <typename Word>
std::vector<Word> distinct_keys(int64_t num_keys, Word least) {
  std::vector<Word> keys(2 * num_keys);
  for (size_t i = 0; i < keys.size(); ++i) keys[i] = static_cast<Word>(least + i);
  std::shuffle(keys.begin(), keys.end(), random_bits());
  keys.resize(num_keys);
  return keys;
}

template <typename Word>
class Case {
 public:
  Case(int64_t num_right, int64_t num_left, Word least, bool at_front)
      : right_(distinct_keys<Word>(num_right, least)),
        left_(num_left),
        least_(least),
        at_front_(at_front) {
    // Mostly keys in the range, on both sides of it and far away.
    for (Word& key : left_) {
      const uint64_t bits = random_bits()();
      key = static_cast<Word>(bits % 50 == 0 ? bits >> 8 : least + bits % (2 * num_right + 7) - 3);
    }
  }

  void check(Executor& executor, int64_t num_valid, int64_t num_slots) {
    const int64_t num_right = static_cast<int64_t>(right_.size());
    const int64_t length = static_cast<int64_t>(left_.size());
    GuardedArray<Word> right(right_, at_front_), left(left_, at_front_);
    right.protect();
    left.protect();
    GuardedArray<int32_t> slots(num_slots, at_front_);
    const KeyTable<Word> table{slots.data(), num_slots, least_};
    const int64_t num_sampled = num_right / 3;
    CHECK(fill_key_table(executor, right.data(), num_right, num_sampled, table) == num_right);
    slots.protect();

    std::unordered_map<Word, int32_t> row_of;
    for (Word key : right_) row_of.emplace(key, static_cast<int32_t>(row_of.size()));
    std::vector<int32_t> expected(length, -1), lefts, rights;
    std::set<int32_t> matched;
    for (int64_t row = 0; row < num_valid; ++row) {
      const auto found = row_of.find(left_[row]);
      if (found == row_of.end()) continue;
      expected[row] = found->second;
      lefts.push_back(static_cast<int32_t>(row));
      rights.push_back(expected[row]);
      matched.insert(expected[row]);
    }
    GuardedArray<uint8_t> flags(num_right, at_front_);
    GuardedArray<int32_t> right_rows(length, at_front_),
        before(match_chunks(length).count, at_front_);
    const LookedUp found = look_up(executor, left.data(), num_valid, length, table, num_right,
                                   flags.data(), right_rows.data(), before.data());
    CHECK(right_rows.values() == expected);
    CHECK(found.num_matches == static_cast<int64_t>(lefts.size()));
    CHECK(found.num_unmatched_right == num_right - static_cast<int64_t>(matched.size()));
    right_rows.protect();
    before.protect();

    for (int64_t capacity : {length, found.num_matches, found.num_matches / 2, int64_t{0}}) {
      GuardedArray<int32_t> kept_left(capacity, at_front_), kept_right(capacity, at_front_);
      write_matches(executor, right_rows.data(), length, before.data(), found.num_matches,
                    capacity, kept_left.data(), kept_right.data());
      std::vector<int32_t> expected_left = lefts, expected_right = rights;
      expected_left.resize(capacity, -1);
      expected_right.resize(capacity, -1);
      CHECK(kept_left.values() == expected_left);
      CHECK(kept_right.values() == expected_right);
    }
  }

 private:
  const std::vector<Word> right_;
  std::vector<Word> left_;
  const Word least_;
  const bool at_front_;
};

template <typename Word>
void check_repeated(Executor& executor) {
  for (int64_t num_keys : {2, 500, 100000}) {
    for (int64_t num_sampled : {num_keys, num_keys / 2}) {
      for (int64_t repeated : {int64_t{0}, num_keys / 2 + 1, num_keys - 1}) {
        std::vector<Word> keys = distinct_keys<Word>(num_keys, 5);
        keys[repeated % num_keys] = keys[(repeated + 1) % num_keys];
        GuardedArray<int32_t> slots(2 * num_keys);
        const KeyTable<Word> table{slots.data(), slots.size(), 5};
        CHECK(fill_key_table(executor, keys.data(), num_keys, num_sampled, table) < num_keys);
      }
    }
  }
}

// Counts that do not match the rows: nothing outside the arrays is read or written.
void check_counts_that_lie() {
  SerialExecutor executor;
  const int64_t length = 200000;
  std::vector<int32_t> found(length);
  for (int32_t& row : found) row = random_bits()() % 2 ? 7 : -1;
  const GuardedArray<int32_t> right_rows(found);
  for (int64_t capacity : {int64_t{0}, int64_t{100}, length}) {
    for (int shift = 0; shift < 32; ++shift) {
      std::vector<int32_t> lies(match_chunks(length).count);
      for (int32_t& lie : lies) lie = static_cast<int32_t>(random_bits()()) >> shift;
      const GuardedArray<int32_t> before(lies);
      GuardedArray<int32_t> left(capacity), right(capacity);
      write_matches(executor, right_rows.data(), length, before.data(), lies[0] / 2, capacity,
                    left.data(), right.data());
    }
  }
}

int main() {
  Executors executors;
  int index = 0;
  for (int64_t num_right : {1, 10, 700}) {
    for (int64_t num_left : {0, 1, 1000, 70001}) {
      for (int64_t num_valid : {num_left, num_left / 2}) {
        ++index;
        Executor& executor = executors.next(num_left);
        current_case() = std::to_string(num_right) + " right, " + std::to_string(num_valid) +
                         " of " + std::to_string(num_left) + " left rows";
        const int64_t num_slots = 2 * num_right + index % 2;
        // The smallest key of the second case is negative.
        Case<uint32_t>(num_right, num_left, 40, index % 2).check(executor, num_valid, num_slots);
        Case<uint64_t>(num_right, num_left, ~uint64_t{0} - 4, index % 2)
            .check(executor, num_valid, num_slots);
      }
    }
  }
  for (Executor* executor : executors.all()) {
    current_case() = std::to_string(executor->num_threads()) + " threads";
    Case<uint32_t>(700, 70001, 40, false).check(*executor, 70001, 1400);
    check_repeated<uint32_t>(*executor);
    check_repeated<uint64_t>(*executor);
  }
  if (!kFindsRaces) check_counts_that_lie();
  return finish("direct_match");
}
