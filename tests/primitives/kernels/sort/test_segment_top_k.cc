// SPDX-License-Identifier: Apache-2.0
#include "sort/segment_top_k.h"

#include "check.h"
#include "keys.h"

using namespace jaxframes;
using namespace jaxframes_tests;

template <typename Case>
void check_segment_top_k(Executor& executor, const std::vector<typename Case::Key>& keys,
                         const std::vector<int32_t>& ids, int64_t num_segments, int64_t k,
                         const Case& how, bool at_front) {
  using Key = typename Case::Key;
  std::vector<std::vector<int32_t>> rows(num_segments);
  for (int32_t row : stable_order(keys, static_cast<int64_t>(keys.size()), how)) {
    if (0 <= ids[row] && ids[row] < num_segments) rows[ids[row]].push_back(row);
  }
  std::vector<int32_t> expected;
  for (std::vector<int32_t>& some : rows) {
    some.resize(k, -1);
    expected.insert(expected.end(), some.begin(), some.end());
  }
  GuardedArray<Key> guarded_keys(keys, at_front);
  GuardedArray<int32_t> guarded_ids(ids, at_front);
  GuardedArray<int32_t> row_ids(num_segments * k, at_front);
  guarded_keys.protect();
  guarded_ids.protect();
  const SegmentIds<int32_t> segments(guarded_ids.data(), 0, guarded_ids.size(), num_segments);
  segment_top_k(executor, SegmentTopKRow<decltype(how.order())>{
                              guarded_keys.data(), segments, how.order(), k, row_ids.data()});
  CHECK(row_ids.values() == expected);
}

template <typename Case>
void check_sizes(const Case& how) {
  using Key = typename Case::Key;
  Executors executors;
  int index = 0;
  for (const std::string& distribution : key_distributions()) {
    for (int64_t num_rows : {0, 1, 700, 20000}) {
      for (int64_t num_segments : {1, 2, 300}) {
        ++index;
        const int64_t k = index % 2 ? 2 : 1 + index % 40;
        current_case() = how.text() + ", " + distribution + ", " + std::to_string(num_rows) +
                         " rows, " + std::to_string(num_segments) + " segments, k " +
                         std::to_string(k);
        std::vector<int32_t> ids(num_rows);
        // Some rows have no segment.
        for (int32_t& id : ids) id = static_cast<int32_t>(random_bits()() % (num_segments + 2)) - 1;
        check_segment_top_k(executors.next(num_rows * num_segments),
                            make_keys<Key>(distribution, num_rows), ids,
                            num_segments, k, how, index % 2);
      }
    }
  }
}

int main() {
  check_sizes(IntegerCase<uint32_t>{0});
#if !defined(__SANITIZE_THREAD__)
  check_sizes(IntegerCase<uint64_t>{~uint64_t{0}});
  check_sizes(FloatCase<uint32_t>{false});
#endif
  check_sizes(FloatCase<uint64_t>{true});
  return finish("segment_top_k");
}
