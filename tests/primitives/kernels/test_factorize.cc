// SPDX-License-Identifier: Apache-2.0
#include "factorize.h"

#include <algorithm>
#include <map>

#include "check.h"
#include "key_sides.h"

using namespace jaxframes;
using namespace jaxframes_tests;

struct StableSort {
  template <typename Word>
  void operator()(Executor&, const Word* words, int64_t num_words, Word* sorted_words,
                  int32_t* positions) const {
    for (int64_t i = 0; i < num_words; ++i) positions[i] = static_cast<int32_t>(i);
    std::stable_sort(positions, positions + num_words,
                     [&](int32_t a, int32_t b) { return words[a] < words[b]; });
    for (int64_t i = 0; i < num_words; ++i) sorted_words[i] = words[positions[i]];
  }
};

template <typename Case>
void check_factorize(Executor& executor, const std::vector<typename Case::Key>& keys,
                     int64_t num_valid, int64_t capacity, const Case& how, bool in_key_order,
                     bool at_front) {
  using Key = typename Case::Key;
  const auto order = how.order();
  std::map<Key, int32_t> first_rows;
  std::vector<Key> by_first_row;
  for (int64_t i = 0; i < num_valid; ++i) {
    const Key word = order.ordered(keys[i]);
    if (first_rows.emplace(word, static_cast<int32_t>(i)).second) by_first_row.push_back(word);
  }
  std::vector<Key> words = by_first_row;
  if (in_key_order) std::sort(words.begin(), words.end());
  std::map<Key, int32_t> number_of;
  std::vector<int32_t> expected_rows;
  for (const Key word : words) {
    number_of.emplace(word, static_cast<int32_t>(number_of.size()));
    expected_rows.push_back(first_rows[word]);
  }
  expected_rows.resize(capacity, 0);
  std::vector<int32_t> expected_ids(num_valid);
  for (int64_t i = 0; i < num_valid; ++i) expected_ids[i] = number_of[order.ordered(keys[i])];

  const int64_t num_rows = static_cast<int64_t>(keys.size());
  GuardedArray<Key> input(keys, at_front);
  input.protect();
  GuardedArray<int32_t> group_ids(num_valid, at_front), first_row_ids(capacity, at_front);
  std::vector<uint64_t> scratch(many_groups_scratch_bytes(num_rows, sizeof(Key)) / 8 + 8);
  using Column = KeyColumn<decltype(how.order())>;
  const int64_t count =
      factorize(executor,
                FactorizeRow<Column>{Column{input.data(), order}, num_valid, in_key_order,
                                     capacity, group_ids.data(), first_row_ids.data()},
                StableSort(), scratch.data());
  CHECK(group_ids.values() == expected_ids);
  CHECK(first_row_ids.values() == expected_rows);
  CHECK(count == static_cast<int64_t>(words.size()));
}

// Few distinct keys in the rows that are sampled, then `num_late` others.
template <typename Key>
std::vector<Key> late_keys(int64_t num_rows, int64_t num_late, int64_t one_in) {
  std::vector<Key> keys(num_rows);
  for (int64_t i = 0; i < num_rows; ++i) {
    const uint64_t bits = random_bits()();
    const bool is_late = i > kSampleRows && bits % one_in == 0;
    keys[i] = static_cast<Key>(is_late ? (bits >> 20) % num_late * 977 + 100 : bits % 50);
  }
  return keys;
}

// Keys that come in their time, one after the other, but are not sorted.
template <typename Key>
std::vector<Key> keys_in_turn(int64_t num_rows, int64_t num_keys) {
  std::vector<Key> keys(num_rows);
  for (int64_t i = 0; i < num_rows; ++i) {
    const uint64_t turn = i * num_keys / num_rows;
    // Now and then the key of another turn.
    const uint64_t other = random_bits()() % num_keys;
    keys[i] = static_cast<Key>((other % 20 == 0 ? other : turn) * 0x9E3779B1u);
  }
  return keys;
}

template <typename Key>
std::vector<Key> drawn_keys(int64_t num_rows, int64_t num_keys) {
  std::vector<Key> keys(num_rows);
  for (Key& key : keys) key = static_cast<Key>(random_bits()() % num_keys * 0x9E3779B1u);
  return keys;
}

// Keys that the perfect table has one bucket for: multiples of the inverse of its factor.
template <typename Key>
std::vector<Key> crowded_keys(int64_t num_rows) {
  constexpr uint64_t kInverse = 0xF1DE83E19937733Dull;
  static_assert(kInverse * 0x9E3779B97F4A7C15ull == 1, "");
  std::vector<Key> keys(num_rows);
  for (Key& key : keys) key = static_cast<Key>((random_bits()() % 3000) * kInverse);
  return keys;
}

template <typename Key>
void check_all() {
  StdThreadPool two(2), five(5), sixteen(16);
  SerialExecutor serial;
  Executor* executors[] = {&serial, &two, &five, &sixteen};
  const Key sign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  int index = 0;
  const auto check_keys = [&](const std::string& name, const std::vector<Key>& keys,
                              bool is_float) {
    const int64_t num_rows = static_cast<int64_t>(keys.size());
    for (bool in_key_order : {false, true}) {
      ++index;
      const int64_t num_valid = index % 3 == 0 ? num_rows / 2 : num_rows;
      const int64_t capacity = index % 5 == 0 ? num_rows / 7 : num_rows;
      current_case() = name + " " + std::to_string(8 * sizeof(Key)) + " bits, " +
                       std::to_string(num_valid) + " of " + std::to_string(num_rows) +
                       (in_key_order ? ", in key order" : "");
      Executor& executor = *executors[index % 4];
      if (is_float) {
        check_factorize(executor, keys, num_valid, capacity, FloatCase<Key>{false}, in_key_order,
                        index % 2);
      } else {
        check_factorize(executor, keys, num_valid, capacity,
                        IntegerCase<Key>{index % 2 ? sign : Key{0}}, in_key_order, index % 2);
      }
    }
  };
  for (const std::string& distribution : key_distributions()) {
    for (int64_t num_rows : {0, 1, 2, 257, 32768, 40000, 150001}) {
      check_keys(distribution, make_keys<Key>(distribution, num_rows),
                 distribution == "float_corners" || num_rows % 3 == 1);
    }
  }
  check_keys("few late keys", late_keys<Key>(100000, 300, 100), false);
  check_keys("more late keys than the table holds", late_keys<Key>(900000, 40000, 20), false);
  check_keys("keys in turn", keys_in_turn<Key>(300000, 2000), false);
  check_keys("many keys in turn", keys_in_turn<Key>(500000, 12000), false);
  for (int64_t num_keys : {9000, 140000}) {
    check_keys(std::to_string(num_keys) + " keys", drawn_keys<Key>(500000, num_keys), false);
  }
  check_keys("crowded keys", crowded_keys<Key>(20000), false);
  check_keys("mostly late keys", late_keys<Key>(100000, 300, 2), false);
}

int main() {
  check_all<uint32_t>();
  check_all<uint64_t>();
  return finish("factorize");
}
