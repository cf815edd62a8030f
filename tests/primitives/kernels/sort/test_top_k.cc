// SPDX-License-Identifier: Apache-2.0
#include "sort/top_k.h"

#include "check.h"
#include "keys.h"

using namespace jaxframes;
using namespace jaxframes_tests;

template <typename Case>
void check_top_k(Executor& executor, const std::string& distribution, int64_t num_rows,
                 int64_t num_valid, const Case& how, const std::vector<int64_t>& ks,
                 bool at_front) {
  using Key = typename Case::Key;
  const std::vector<Key> keys = make_keys<Key>(distribution, num_rows);
  const std::vector<int32_t> order = stable_order(keys, num_valid, how);
  GuardedArray<Key> input(keys, at_front);
  input.protect();
  for (int64_t k : ks) {
    if (k < 0 || k > num_rows) continue;
    current_case() = distribution + " " + std::to_string(8 * sizeof(Key)) + " bits, k " +
                     std::to_string(k) + " of " + std::to_string(num_valid) + " of " +
                     std::to_string(num_rows) + ", " + how.text() + ", " +
                     std::to_string(executor.num_threads()) + " threads";
    GuardedArray<int32_t> row_ids(k, at_front);
    top_k(executor, TopKRow<decltype(how.order())>{input.data(), num_rows, num_valid, k,
                                                   how.order(), row_ids.data()});
    CHECK(row_ids.values() == std::vector<int32_t>(order.begin(), order.begin() + k));
  }
}

template <typename Key>
void check_all() {
  Executors executors;
  const Key sign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  const Key flips[] = {0, sign, static_cast<Key>(~Key{0}), static_cast<Key>(~sign)};
  int index = 0;
  for (const std::string& distribution : key_distributions()) {
    for (int64_t num_rows : {0, 1, 2, 10, 255, 256, 257, 513, 3000, 70000, 200001}) {
      ++index;
      const int64_t valid[] = {num_rows, num_rows, num_rows / 2, std::min<int64_t>(num_rows, 7),
                               0};
      const std::vector<int64_t> ks = {
          0, 1, 2, 10, 100, num_rows / 33, num_rows / 31, num_rows - 1, num_rows};
      const auto check = [&](const auto& how) {
        check_top_k(executors.next(num_rows), distribution, num_rows, valid[index % 5], how, ks,
                    index % 2);
      };
      if (index % 3 == 0 || distribution == "float_corners") {
        check(FloatCase<Key>{index % 2 == 0});
      } else {
        check(IntegerCase<Key>{flips[index / 2 % 4]});
      }
    }
  }
  // Two chunks for each executor.
  for (Executor* executor : executors.all()) {
    check_top_k(*executor, "uniform", 70000, 70000, IntegerCase<Key>{sign}, {1, 100}, false);
  }
}

int main() {
#if !defined(__SANITIZE_THREAD__)
  check_all<uint32_t>();
#endif
  check_all<uint64_t>();
  return finish("top_k");
}
