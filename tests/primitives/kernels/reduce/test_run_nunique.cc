// SPDX-License-Identifier: Apache-2.0
#include "reduce/run_nunique.h"

#include <set>

#include "check.h"

using namespace jaxframes;
using namespace jaxframes_tests;

template <typename Word>
void check_runs(Executor& executor, int64_t num_rows, int64_t num_segments, int64_t most_rows,
                int64_t num_words, bool in_order) {
  current_case() = std::to_string(num_rows) + " rows, " + std::to_string(num_segments) +
                   " segments, " + std::to_string(most_rows) + " rows in a run, " +
                   std::to_string(executor.num_threads()) + " threads";
  std::vector<int32_t> ids(num_rows);
  std::vector<Word> words(num_rows);
  std::vector<int32_t> expected(num_segments);
  std::set<Word> seen;
  bool are_short = in_order;
  // Runs of 1 to `most_rows` rows; the last rows have no segment.
  int64_t segment = 0, rest = 1 + random_bits()() % most_rows, length = 0;
  for (int64_t row = 0; row < num_rows; ++row) {
    if (rest-- == 0) {
      segment += 1 + random_bits()() % 3;
      rest = random_bits()() % most_rows;
      length = 0;
      seen.clear();
    }
    ++length;
    words[row] = static_cast<Word>(random_bits()() % num_words) << (8 * sizeof(Word) - 8);
    ids[row] = segment < num_segments ? static_cast<int32_t>(segment) : -1;
    if (segment >= num_segments) continue;
    are_short = are_short && length <= kMostRunRows;
    if (seen.insert(words[row]).second) ++expected[segment];
  }
  if (!in_order && num_rows > 1 && ids[0] >= 0) ids[num_rows / 2] = ids[0] == 0 ? -1 : 0;
  GuardedArray<int32_t> guarded_ids(ids);
  GuardedArray<Word> guarded_words(words);
  guarded_ids.protect();
  guarded_words.protect();
  GuardedArray<int32_t> counts(num_segments);
  const SegmentIds<int32_t> rows(guarded_ids.data(), 0, num_rows, num_segments);
  const bool is_done =
      count_distinct_in_runs(executor, rows, guarded_words.data(), counts.data());
  if (in_order) CHECK(is_done == are_short);
  if (!in_order || !is_done) return;
  CHECK(counts.values() == expected);
}

int main() {
  Executors executors;
  for (int64_t num_rows : {0, 1, 2, 7, 8, 9, 1000, 70001}) {
    for (int64_t num_segments : {1, 3, 1000, 100000}) {
      for (int64_t most_rows : {1, 4, 8, 9, 100}) {
        for (int64_t num_words : {1, 3, 100}) {
          Executor& executor = executors.next(num_rows);
          check_runs<uint32_t>(executor, num_rows, num_segments, most_rows, num_words, true);
          check_runs<uint64_t>(executor, num_rows, num_segments, most_rows, num_words, true);
          check_runs<uint64_t>(executor, num_rows, num_segments, most_rows, num_words, false);
        }
      }
    }
  }
  return finish("run_nunique");
}
