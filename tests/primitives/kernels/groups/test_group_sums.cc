// SPDX-License-Identifier: Apache-2.0
#include "groups/group_sums.h"

#include <map>
#include <set>

#include "check.h"
#include "keys.h"
#include "exact_sum.h"
#include "groups/group_keys.h"
#include "groups/key_sides.h"

using namespace jaxframes;
using namespace jaxframes_tests;

template <typename Number, typename Case>
void check_sums(Executor& executor, const std::vector<typename Case::Key>& keys,
                int64_t num_valid, int64_t capacity, const Case& how, bool at_front) {
  using Key = typename Case::Key;
  const auto order = how.order();
  std::vector<Number> numbers(keys.size());
  // Different magnitudes, so that plain sums of floats depend on the order of the rows. Whole ones
  // of float32: what their additions round away is then added up without rounding.
  constexpr bool kIsWhole = std::is_same_v<Number, float>;
  for (Number& number : numbers) {
    const uint64_t bits = random_bits()();
    number = static_cast<Number>(static_cast<Number>(bits % 1000) / (kIsWhole ? 1 : 7) *
                                 static_cast<Number>(uint32_t{1} << (bits >> (kIsWhole ? 60 : 59))));
  }
  struct Group {
    int32_t first_row;
    ExactSum<Number> sum;
  };
  std::map<Key, Group> groups;
  for (int64_t i = 0; i < num_valid; ++i) {
    const auto found = groups.emplace(order.ordered(keys[i]),
                                      Group{static_cast<int32_t>(i), {}});
    found.first->second.sum += numbers[i];
  }
  std::vector<int32_t> expected_rows;
  std::vector<Number> expected_sums;
  for (const auto& [word, group] : groups) {
    expected_rows.push_back(group.first_row);
    expected_sums.push_back(group.sum.value());
  }
  expected_rows.resize(capacity, 0);
  expected_sums.resize(capacity, Number{0});

  const int64_t num_rows = static_cast<int64_t>(keys.size());
  GuardedArray<Key> input(keys, at_front);
  // Only the numbers of valid rows are read.
  GuardedArray<Number> guarded(std::vector<Number>(numbers.begin(), numbers.begin() + num_valid),
                               at_front);
  input.protect();
  guarded.protect();
  GuardedArray<int32_t> first_row_ids(capacity, at_front);
  GuardedArray<Number> sums(capacity, at_front);
  // Unwritten memory must not look like a sum.
  std::vector<uint64_t> scratch(group_sums_scratch_bytes(num_rows, sizeof(Key)) / 8 + 8,
                                0x4045454545454545u);
  using Column = KeyColumn<decltype(how.order())>;
  const int64_t count = sum_groups(
      executor,
      GroupSumsRow<Column, Number>{Column{input.data(), order}, num_valid, guarded.data(),
                                   capacity, first_row_ids.data(), sums.data()},
      StableSort(), scratch.data());
  CHECK(count == static_cast<int64_t>(groups.size()));
  CHECK(first_row_ids.values() == expected_rows);
  CHECK(sums.values() == expected_sums);
}

template <typename Key>
void check_all() {
  Executors executors;
  const Key sign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  int index = 0;
  const auto check_keys = [&](const std::string& name, const std::vector<Key>& keys,
                              bool is_float) {
    const int64_t num_rows = static_cast<int64_t>(keys.size());
    for (int round = 0; round < 2; ++round) {
      ++index;
      const int64_t num_valid = index % 3 == 0 ? num_rows / 2 : num_rows;
      const int64_t capacity = index % 5 == 0 ? num_rows / 700 : num_rows;
      current_case() = name + " " + std::to_string(8 * sizeof(Key)) + " bits, " +
                       std::to_string(num_valid) + " of " + std::to_string(num_rows) +
                       ", room for " + std::to_string(capacity);
      Executor& executor = executors.next(num_rows);
      if (is_float) {
        check_sums<float>(executor, keys, num_valid, capacity, FloatCase<Key>{false}, index % 2);
      } else {
        const IntegerCase<Key> how{index % 2 ? sign : Key{0}};
        if (round) check_sums<double>(executor, keys, num_valid, capacity, how, index % 2);
        else check_sums<uint32_t>(executor, keys, num_valid, capacity, how, index % 2);
      }
    }
  };
  for (const std::string& distribution : key_distributions()) {
    for (int64_t num_rows : {0, 1, 257, 40000, 150001}) {
      check_keys(distribution, make_keys<Key>(distribution, num_rows),
                 distribution == "float_corners" || num_rows % 3 == 1);
    }
  }
  check_keys("few late keys", late_keys<Key>(100000, 300, 100), false);
  check_keys("more late keys than the table holds", late_keys<Key>(900000, 40000, 20), false);
  check_keys("keys in turn", keys_in_turn<Key>(300000, 2000), false);
  // The last are so many that rows are sorted, and runs of equal keys lie across chunks.
  for (int64_t num_keys : {9000, 140000, 400000}) {
    check_keys(std::to_string(num_keys) + " keys", drawn_keys<Key>(500000, num_keys), false);
  }
  check_keys("crowded keys", crowded_keys<Key>(20000), false);
  check_keys("mostly late keys", late_keys<Key>(100000, 300, 2), false);
}

// Tiles are added in order, for any order of lookups.
void check_turns() {
  constexpr int64_t kTiles = 7;
  const Chunks tiles = Chunks::of_rows(kTiles * TileSums<double>::kTileRows - 5,
                                       TileSums<double>::kTileRows);
  CHECK(tiles.count == kTiles);
  std::vector<double> numbers(tiles.size);
  // Too many magnitudes for a sum and a rest: another order gives other bits.
  SumSoFar<double> expected{};
  for (double& number : numbers) {
    number = std::ldexp(static_cast<double>(random_bits()() % 1000) - 500,
                        static_cast<int>(random_bits()() % 300));
    expected.add(number);
  }
  TileSums<double> sums(tiles, numbers.data());
  sums.start(1);
  std::set<int32_t*> buffers;
  for (int64_t tile : {3, 0, 2, 6, 1, 5, 4}) {
    int32_t* const ids = sums.begin(tile);
    buffers.insert(ids);
    std::fill_n(ids, tiles.end(tile) - tiles.begin(tile), 0);
    sums.end(tile, ids);
  }
  CHECK(sums.sum(0) == expected.value());
  // Buffers of added tiles are reused.
  CHECK(buffers.size() < kTiles);
}

int main() {
  check_turns();
#if !defined(__SANITIZE_THREAD__)
  check_all<uint32_t>();
#endif
  check_all<uint64_t>();
  return finish("group_sums");
}
