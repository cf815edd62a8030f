// SPDX-License-Identifier: Apache-2.0
#include "sort/radix_sort_rows.h"

#include "check.h"
#include "keys.h"
#include "sort/radix_sort.h"

using namespace jaxframes;
using namespace jaxframes_tests;

// Columns of two widths, and one of row ids, move as in `expected_rows`.
template <typename Key, typename Order>
void check_columns(Executor& executor, const SortArguments<Order>& arguments,
                   const std::vector<int32_t>& expected_rows, bool at_front) {
  const int64_t num_rows = arguments.num_rows, size = arguments.batch * num_rows;
  std::vector<uint8_t> bytes(size), expected_bytes(size);
  std::vector<uint64_t> words(size), expected_words(size);
  std::vector<int32_t> ids(size);
  for (int64_t i = 0; i < size; ++i) {
    words[i] = random_bits()();
    bytes[i] = static_cast<uint8_t>(words[i] >> 7);
    ids[i] = static_cast<int32_t>(i % num_rows);
  }
  for (int64_t i = 0; i < size; ++i) {
    const int64_t row = i / num_rows * num_rows + expected_rows[i];
    expected_bytes[i] = bytes[row];
    expected_words[i] = words[row];
  }
  GuardedArray<uint8_t> byte_column(bytes, at_front), moved_bytes(size, at_front);
  GuardedArray<uint64_t> word_column(words, at_front), moved_words(size, at_front);
  GuardedArray<int32_t> id_column(ids, at_front), moved_ids(size, at_front);
  GuardedArray<char> scratch(
      arguments.batch * radix_sort_rows_row_scratch_bytes(num_rows, sizeof(Key)), at_front);
  radix_sort_rows(executor, arguments,
                  {{byte_column.data(), moved_bytes.data(), 1},
                   {word_column.data(), moved_words.data(), 8},
                   {id_column.data(), moved_ids.data(), 4}},
                  scratch.data());
  CHECK(moved_bytes.values() == expected_bytes);
  CHECK(moved_words.values() == expected_words);
  CHECK(moved_ids.values() == expected_rows);
}

// One call of each variant on a batch of rows that differ in their num_valid.
template <typename Case>
void check_sorts(Executor& executor, const std::string& distribution, int64_t batch,
                 int64_t num_rows, const Case& how, bool at_front) {
  using Key = typename Case::Key;
  using Arguments = SortArguments<decltype(how.order())>;
  current_case() = distribution + " " + std::to_string(8 * sizeof(Key)) + " bits, [" +
                   std::to_string(batch) + ", " + std::to_string(num_rows) + "], " + how.text() +
                   ", " + std::to_string(executor.num_threads()) + " threads";
  const std::vector<Key> keys = make_keys<Key>(distribution, batch * num_rows);
  std::vector<int32_t> num_valid(batch), given_ids(batch * num_rows);
  for (int64_t row = 0; row < batch; ++row) {
    // Most rows are full; the others have some padding, or only padding.
    const int64_t choices[] = {num_rows, num_rows, std::max<int64_t>(num_rows - 1, 0),
                               num_rows / 2, 0};
    num_valid[row] = static_cast<int32_t>(choices[random_bits()() % 5]);
  }
  for (int32_t& id : given_ids) id = static_cast<int32_t>(random_bits()());

  std::vector<Key> expected_keys;
  std::vector<int32_t> expected_rows, expected_given;
  for (int64_t row = 0; row < batch; ++row) {
    const auto begin = keys.begin() + row * num_rows;
    const std::vector<Key> row_keys(begin, begin + num_rows);
    for (int32_t id : stable_order(row_keys, num_valid[row], how)) {
      expected_keys.push_back(row_keys[id]);
      expected_rows.push_back(id);
      expected_given.push_back(given_ids[row * num_rows + id]);
    }
  }

  GuardedArray<Key> input(keys, at_front);
  GuardedArray<int32_t> ids(given_ids, at_front), valid(num_valid, at_front);
  input.protect();
  ids.protect();
  valid.protect();
  const auto scratch_for = [&](SortVariant variant) {
    return batch * radix_sort_row_scratch_bytes(num_rows, sizeof(Key), variant);
  };
  {
    GuardedArray<Key> sorted(batch * num_rows, at_front);
    GuardedArray<char> scratch(scratch_for(SortVariant::kKeys), at_front);
    radix_sort<SortVariant::kKeys>(
        executor,
        Arguments{batch, num_rows, input.data(), nullptr, valid.data(), sorted.data(),
                           nullptr, how.order(), how.bits},
        scratch.data());
    CHECK(sorted.values() == expected_keys);
  }
  {
    GuardedArray<int32_t> row_ids(batch * num_rows, at_front);
    GuardedArray<char> scratch(scratch_for(SortVariant::kArgsort), at_front);
    radix_sort<SortVariant::kArgsort>(
        executor,
        Arguments{batch, num_rows, input.data(), nullptr, valid.data(), nullptr,
                           row_ids.data(), how.order(), how.bits},
        scratch.data());
    CHECK(row_ids.values() == expected_rows);
    check_columns<Key>(
        executor,
        Arguments{batch, num_rows, input.data(), nullptr, valid.data(), nullptr, nullptr,
                  how.order(), how.bits},
        expected_rows, at_front);
  }
  for (const bool given : {false, true}) {
    GuardedArray<Key> sorted(batch * num_rows, at_front);
    GuardedArray<int32_t> row_ids(batch * num_rows, at_front);
    GuardedArray<char> scratch(scratch_for(SortVariant::kPairs), at_front);
    radix_sort<SortVariant::kPairs>(
        executor,
        Arguments{batch, num_rows, input.data(), given ? ids.data() : nullptr,
                           valid.data(), sorted.data(), row_ids.data(), how.order(), how.bits},
        scratch.data());
    CHECK(sorted.values() == expected_keys);
    CHECK(row_ids.values() == (given ? expected_given : expected_rows));
  }
}

// The tested orders: unsigned, signed, both descending, and any mask.
template <typename Key>
Key flip_of(int index) {
  const Key sign = static_cast<Key>(Key{1} << (8 * sizeof(Key) - 1));
  const Key flips[] = {0, sign, static_cast<Key>(~Key{0}), static_cast<Key>(~sign),
                       static_cast<Key>(0x0F0F0F0F12345678u)};
  return flips[index % 5];
}

template <typename Key>
int bits_of(int index) {
  const int kWordBits = 8 * sizeof(Key);
  const int choices[] = {kWordBits, kWordBits, kWordBits - 1, 13, kWordBits, 0, 1, 27};
  return choices[index % 8];
}

template <typename Key>
void check_all() {
  int index = 0;
  Executors executors;
  const auto check = [&](const std::string& distribution, int64_t batch, int64_t num_rows) {
    ++index;
    Executor& executor = executors.next(batch * num_rows);
    if (index % 3 == 0 || distribution == "float_corners") {
      const FloatCase<Key> how{index / 4 % 2 == 0};
      return check_sorts(executor, distribution, batch, num_rows, how, index % 2);
    }
    const IntegerCase<Key> how{flip_of<Key>(index / 4), bits_of<Key>(index / 3)};
    check_sorts(executor, distribution, batch, num_rows, how, index % 2);
  };
  const std::vector<int64_t> small = {0,  1,  2,  3,  7,  8,  23,  24,  25,  26,  31,
                                      32, 33, 63, 65, 96, 97, 255, 256, 257, 1000, 4097};
  std::vector<int64_t> large = {kCachedRows - 1, kCachedRows, kCachedRows + 1,
                                2 * kCachedRows + 1};
  if (!kFindsRaces) large.push_back(300000);
  for (const std::string& distribution : key_distributions()) {
    for (int64_t num_rows : small) check(distribution, 1, num_rows);
    for (int64_t num_rows : {int64_t{0}, int64_t{1}, int64_t{5}, int64_t{40}, int64_t{700}}) {
      check(distribution, 33, num_rows);
    }
    for (int64_t num_rows : large) check(distribution, 1, num_rows);
    check(distribution, 3, kCachedRows + 5);
    check(distribution, 0, 5);
  }
  // All combinations of order and compared bits, on keys with ties.
  for (int flip = 0; flip < 5; ++flip) {
    for (int bits = 0; bits < 8; ++bits) {
      const IntegerCase<Key> how{flip_of<Key>(flip), bits_of<Key>(bits)};
      check_sorts(executors.next(1000), "small_some", 2, 500, how, bits % 2);
      if ((flip + bits) % 5 == 0) {
        check_sorts(executors.next(kCachedRows), "uniform", 1, kCachedRows + 999, how, bits % 2);
      }
    }
  }
  // Both directions of floating point, from one chunk to several.
  for (Executor* executor : executors.all()) {
    for (const bool descending : {false, true}) {
      const FloatCase<Key> how{descending};
      for (int64_t num_rows : {int64_t{3}, int64_t{1000}, 2 * kCachedRows}) {
        check_sorts(*executor, "float_corners", 1, num_rows, how, descending);
      }
    }
  }
}

int main() {
  check_all<uint32_t>();
  check_all<uint64_t>();
  return finish("radix_sort");
}
