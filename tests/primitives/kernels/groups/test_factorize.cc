// SPDX-License-Identifier: Apache-2.0
#include "groups/factorize.h"

#include <algorithm>
#include <map>

#include "check.h"
#include "keys.h"
#include "groups/group_keys.h"
#include "groups/key_sides.h"

using namespace jaxframes;
using namespace jaxframes_tests;

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

template <typename Key>
void check_all() {
  Executors executors;
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
      Executor& executor = executors.next(num_rows);
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
#if !defined(__SANITIZE_THREAD__)
  check_all<uint32_t>();
#endif
  check_all<uint64_t>();
  return finish("factorize");
}
