// SPDX-License-Identifier: Apache-2.0
#include "sort/merge.h"

#include "check.h"
#include "keys.h"

using namespace jaxframes;
using namespace jaxframes_tests;

template <typename Case>
void check_merge(Executor& executor, const std::string& distribution, int64_t size_a,
                 int64_t size_b, int64_t valid_a, int64_t valid_b, const Case& how) {
  using Key = typename Case::Key;
  current_case() = distribution + " " + std::to_string(8 * sizeof(Key)) + " bits, a " +
                   std::to_string(valid_a) + " of " + std::to_string(size_a) + ", b " +
                   std::to_string(valid_b) + " of " + std::to_string(size_b) + ", " +
                   how.text() + ", " + std::to_string(executor.num_threads()) +
                   " threads";
  const auto before = [&](Key x, Key y) { return how.before(x, y); };
  std::vector<Key> all = make_keys<Key>(distribution, size_a + size_b);
  const auto middle = all.begin() + size_a;
  std::sort(all.begin(), all.begin() + valid_a, before);
  std::sort(middle, middle + valid_b, before);

  std::vector<int32_t> expected;
  for (int64_t i = 0; i < valid_a; ++i) expected.push_back(static_cast<int32_t>(i));
  for (int64_t j = 0; j < valid_b; ++j) expected.push_back(static_cast<int32_t>(size_a + j));
  std::stable_sort(expected.begin(), expected.end(),
                   [&](int32_t x, int32_t y) { return before(all[x], all[y]); });
  for (int64_t i = valid_a; i < size_a; ++i) expected.push_back(static_cast<int32_t>(i));
  for (int64_t j = valid_b; j < size_b; ++j) {
    expected.push_back(static_cast<int32_t>(size_a + j));
  }

  std::vector<Key> expected_keys;
  for (int32_t position : expected) expected_keys.push_back(all[position]);
  for (const bool at_front : {false, true}) {
    GuardedArray<Key> a(std::vector<Key>(all.begin(), middle), at_front);
    GuardedArray<Key> b(std::vector<Key>(middle, all.end()), at_front);
    GuardedArray<int32_t> positions(size_a + size_b, at_front);
    GuardedArray<Key> keys(size_a + size_b, at_front);
    a.protect();
    b.protect();
    const auto check_results = [&](bool wants_keys, bool wants_positions) {
      std::fill_n(keys.data(), keys.size(), Key{0xA5});
      std::fill_n(positions.data(), positions.size(), -1);
      merge(executor, MergeRow<decltype(how.order())>{
                          a.data(), b.data(), size_a, size_b, valid_a, valid_b, how.order(),
                          wants_keys ? keys.data() : nullptr,
                          wants_positions ? positions.data() : nullptr});
      if (wants_keys) CHECK(keys.values() == expected_keys);
      if (wants_positions) CHECK(positions.values() == expected);
    };
    check_results(false, true);
    check_results(true, false);
    check_results(true, true);
  }
}

template <typename Key>
void check_all() {
  Executors executors;
  const Key sign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  const Key flips[] = {0, sign, static_cast<Key>(~Key{0})};
  int index = 0;
  const auto check = [&](const std::string& distribution, int64_t size_a, int64_t size_b,
                         int64_t valid_a, int64_t valid_b) {
    ++index;
    Executor& executor = executors.next(size_a + size_b);
    if (index % 3 == 0 || distribution == "float_corners") {
      const FloatCase<Key> how{index % 2 == 0};
      return check_merge(executor, distribution, size_a, size_b, valid_a, valid_b, how);
    }
    const IntegerCase<Key> how{flips[index / 2 % 3]};
    check_merge(executor, distribution, size_a, size_b, valid_a, valid_b, how);
  };
  const std::vector<int64_t> sizes = {0, 1, 2, 3, 4, 5, 17, 64, 1000};
  for (const std::string& distribution : key_distributions()) {
    for (int64_t size_a : sizes) {
      for (int64_t size_b : sizes) {
        const int64_t valid_a = index % 3 ? size_a : size_a / 2;
        const int64_t valid_b = index % 5 ? size_b : size_b / 2;
        check(distribution, size_a, size_b, valid_a, valid_b);
      }
    }
    // Several chunks, balanced and not, around the rows of a chunk.
    const int64_t chunk = 1 << 15;
    const std::vector<std::pair<int64_t, int64_t>> large = {
        {chunk, chunk}, {chunk - 1, chunk + 2}, {100000, 3}, {0, 100000}, {70000, 130000}};
    for (const auto& [size_a, size_b] : large) {
      check(distribution, size_a, size_b, size_a, size_b - size_b / 9);
    }
  }
}

int main() {
#if !defined(__SANITIZE_THREAD__)
  check_all<uint32_t>();
#endif
  check_all<uint64_t>();
  return finish("merge");
}
