// SPDX-License-Identifier: Apache-2.0
#include "compact.h"

#include "check.h"

using namespace jaxframes;
using namespace jaxframes_tests;

// Flags that are set about once in `one_in` rows, or in runs of that length.
std::vector<uint8_t> make_mask(int64_t num_rows, int64_t one_in, bool in_runs) {
  std::vector<uint8_t> mask(num_rows);
  for (int64_t i = 0; i < num_rows; ++i) {
    mask[i] = in_runs ? (i / one_in) % 2 : random_bits()() % one_in == 0;
  }
  return mask;
}

template <typename Word, typename Source>
void check_kept(Executor& executor, const std::vector<uint8_t>& mask, int64_t num_valid,
                int64_t capacity, const Source& source, bool at_front) {
  std::vector<Word> expected;
  for (int64_t i = 0; i < num_valid; ++i) {
    if (mask[i]) expected.push_back(source[i]);
  }
  const int32_t expected_count = static_cast<int32_t>(expected.size());
  expected.resize(capacity, 0);

  GuardedArray<uint8_t> input(mask, at_front);
  input.protect();
  GuardedArray<Word> kept(capacity, at_front);
  GuardedArray<int32_t> count(1, at_front);
  compact(executor, CompactRow<Word, Source>{input.data(), num_valid, capacity, source,
                                             kept.data(), count.data()});
  CHECK(kept.values() == expected);
  CHECK(count.values()[0] == expected_count);
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
  check_words<uint64_t>(executor, mask, num_valid, capacity, at_front);
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
  return finish("compact");
}
