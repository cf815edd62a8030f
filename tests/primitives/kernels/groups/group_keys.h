// SPDX-License-Identifier: Apache-2.0
// Keys that go each way that rows may be grouped in, and a sort of their words.
#ifndef JAXFRAMES_TESTS_GROUP_KEYS_H_
#define JAXFRAMES_TESTS_GROUP_KEYS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "check.h"
#include "groups/group_sample.h"
#include "base/thread_pool.h"

namespace jaxframes_tests {

struct StableSort {
  template <typename Word>
  void operator()(jaxframes::Executor&, const Word* words, int64_t num_words, Word* sorted_words,
                  int32_t* positions) const {
    for (int64_t i = 0; i < num_words; ++i) positions[i] = static_cast<int32_t>(i);
    std::stable_sort(positions, positions + num_words,
                     [&](int32_t a, int32_t b) { return words[a] < words[b]; });
    for (int64_t i = 0; i < num_words; ++i) sorted_words[i] = words[positions[i]];
  }
};

// Few distinct keys in the rows that are sampled, then `num_late` others.
template <typename Key>
std::vector<Key> late_keys(int64_t num_rows, int64_t num_late, int64_t one_in) {
  std::vector<Key> keys(num_rows);
  for (int64_t i = 0; i < num_rows; ++i) {
    const uint64_t bits = random_bits()();
    const bool is_late = i > jaxframes::kSampleRows && bits % one_in == 0;
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

}  // namespace jaxframes_tests

#endif  // JAXFRAMES_TESTS_GROUP_KEYS_H_
