// SPDX-License-Identifier: Apache-2.0
#include "compact.h"

#include "check.h"

using namespace jaxframes;
using namespace jaxframes_tests;

// Flags that are set about once in `one_in` rows, or in runs of that length. The other bits
// of their bytes are anything.
std::vector<uint8_t> make_mask(int64_t num_rows, int64_t one_in, bool in_runs) {
  std::vector<uint8_t> mask(num_rows);
  for (int64_t i = 0; i < num_rows; ++i) {
    const uint64_t bits = random_bits()();
    const bool is_flagged = in_runs ? (i / one_in) % 2 : (bits >> 8) % one_in == 0;
    mask[i] = static_cast<uint8_t>((bits & 0xFE) | is_flagged);
  }
  return mask;
}

template <typename Word, typename Source>
void check_kept(Executor& executor, const std::vector<uint8_t>& mask, int64_t num_valid,
                int64_t capacity, const Source& source, bool at_front) {
  std::vector<Word> expected;
  for (int64_t i = 0; i < num_valid; ++i) {
    if (mask[i] & 1) expected.push_back(source[i]);
  }
  const int32_t expected_count = static_cast<int32_t>(expected.size());
  expected.resize(capacity, 0);

  GuardedArray<uint8_t> input(mask, at_front);
  input.protect();
  GuardedArray<Word> kept(capacity, at_front);
  const int64_t num_rows = static_cast<int64_t>(mask.size());
  GuardedArray<int32_t> before(flag_chunks(num_rows).count, at_front);
  const int32_t count = count_flags(executor, input.data(), num_rows, num_valid, before.data());
  before.protect();
  const Flags flags{input.data(), num_rows, before.data(), count};
  compact(executor, CompactRow<Word, Source>{flags, capacity, source, kept.data()});
  CHECK(kept.values() == expected);
  CHECK(count == expected_count);
}

template <typename Word>
void check_words(Executor& executor, const std::vector<uint8_t>& mask, int64_t num_valid,
                 int64_t capacity, bool at_front) {
  std::vector<Word> words(mask.size());
  for (Word& word : words) word = static_cast<Word>(random_bits()());
  GuardedArray<Word> input(words, at_front);
  input.protect();
  check_kept<Word, const Word*>(executor, mask, num_valid, capacity, input.data(), at_front);
}

void check_compact(Executor& executor, const std::vector<uint8_t>& mask, int64_t num_valid,
                   int64_t capacity, bool at_front) {
  check_kept<int32_t>(executor, mask, num_valid, capacity, RowIds{}, at_front);
  check_words<uint8_t>(executor, mask, num_valid, capacity, at_front);
  check_words<uint32_t>(executor, mask, num_valid, capacity, at_front);
  check_words<uint64_t>(executor, mask, num_valid, capacity, at_front);
}

// Counts that do not belong to the mask: what is kept means nothing, but nothing is read or
// written outside of the arrays, which would end in a fault.
void check_counts_that_lie(bool at_front) {
  SerialExecutor serial;
  const int64_t num_rows = 200000;
  const GuardedArray<uint8_t> mask(make_mask(num_rows, 2, false), at_front);
  const GuardedArray<uint64_t> words(num_rows, at_front);
  for (int64_t capacity : {int64_t{0}, int64_t{100}, num_rows}) {
    for (int shift = 0; shift < 32; ++shift) {
      std::vector<int32_t> lies(flag_chunks(num_rows).count);
      for (int32_t& lie : lies) lie = static_cast<int32_t>(random_bits()()) >> shift;
      const GuardedArray<int32_t> before(lies, at_front);
      const int32_t count = lies[0] / 2;
      const GuardedArray<uint64_t> kept(capacity, at_front);
      const Flags flags{mask.data(), num_rows, before.data(), count};
      compact(serial, CompactRow<uint64_t>{flags, capacity, words.data(), kept.data()});
      const int64_t num_kept = std::clamp<int64_t>(count, 0, capacity);
      const std::vector<uint64_t> all = kept.values();
      CHECK(std::all_of(all.begin() + num_kept, all.end(), [](uint64_t word) { return !word; }));
    }
  }
}

int main() {
  StdThreadPool two(2), five(5), sixteen(16);
  SerialExecutor serial;
  Executor* executors[] = {&serial, &two, &five, &sixteen};
  int index = 0;
  for (int64_t num_rows : {0, 1, 7, 8, 9, 63, 2039, 2040, 2041, 70000, 400003}) {
    for (int64_t one_in : {1, 2, 3, 100, 1000000}) {
      for (bool in_runs : {false, true}) {
        const std::vector<uint8_t> mask = make_mask(num_rows, one_in, in_runs);
        for (int64_t num_valid : {num_rows, num_rows / 2, std::min<int64_t>(num_rows, 5)}) {
          for (int64_t capacity : {num_rows, num_rows / 3, num_rows + 9, int64_t{0}}) {
            ++index;
            current_case() = std::to_string(num_valid) + " of " + std::to_string(num_rows) +
                             " rows, one in " + std::to_string(one_in) + ", capacity " +
                             std::to_string(capacity);
            check_compact(*executors[index % 4], mask, num_valid, capacity, index % 2);
          }
        }
      }
    }
  }
  check_counts_that_lie(false);
  check_counts_that_lie(true);
  return finish("compact");
}
