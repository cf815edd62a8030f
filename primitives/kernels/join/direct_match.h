// SPDX-License-Identifier: Apache-2.0
// Matches rows by direct addressing: the right keys are distinct integers in a dense range.
#ifndef JAXFRAMES_KERNELS_JOIN_DIRECT_MATCH_H_
#define JAXFRAMES_KERNELS_JOIN_DIRECT_MATCH_H_

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/huge_pages.h"
#include "base/thread_pool.h"

namespace jaxframes {

// Chunks of left rows. The Python wrapper allocates a count of matches before each.
inline Chunks match_chunks(int64_t num_rows) { return Chunks::of_rows(num_rows, 1 << 16); }

// The right row of each key, -1 for none, by the distance of the key from the smallest one. Keys
// and distances are unsigned numbers of the width of the keys: no two keys have the same distance.
template <typename Word>
struct KeyTable {
  int32_t* rows;  // [num_slots]
  int64_t num_slots;
  Word least;

  // The slot of a key, num_slots or more for a key outside of the table.
  uint64_t slot(Word key) const { return static_cast<Word>(key - least); }
};

namespace internal {

template <typename T>
int64_t num_where(Executor& executor, int64_t size, const T& holds) {
  const Chunks chunks(size, 1 << 14, executor.num_threads());
  std::vector<int64_t> counts(chunks.count);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    int64_t count = 0;
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) count += holds(i);
    counts[chunk] = count;
  });
  int64_t total = 0;
  for (int64_t count : counts) total += count;
  return total;
}

}  // namespace internal

// Fills a table with the rows of `keys`; returns the number of distinct keys. If a key is repeated
// among the first `num_sampled` rows, the table has those only. A slot of a repeated key has the
// last of these rows there, otherwise any of its rows.
template <typename Word>
int64_t fill_key_table(Executor& executor, const Word* keys, int64_t num_keys, int64_t num_sampled,
                       const KeyTable<Word>& table) {
  advise_huge_pages(table.rows, table.num_slots * 4);
  const Chunks slots(table.num_slots, 1 << 16, executor.num_threads());
  parallel_for(executor, slots.count, [&](int, int64_t chunk) {
    std::fill(table.rows + slots.begin(chunk), table.rows + slots.end(chunk), -1);
  });
  num_sampled = std::min(num_sampled, num_keys);
  int64_t num_distinct = 0;
  for (int64_t row = 0; row < num_sampled; ++row) {
    const uint64_t slot = table.slot(keys[row]);
    if (slot >= static_cast<uint64_t>(table.num_slots)) continue;
    num_distinct += table.rows[slot] < 0;
    table.rows[slot] = static_cast<int32_t>(row);
  }
  if (num_distinct < num_sampled || num_sampled == num_keys) return num_distinct;
  const Chunks rest(num_keys - num_sampled, 1 << 14, executor.num_threads());
  parallel_for(executor, rest.count, [&](int, int64_t chunk) {
    for (int64_t i = rest.begin(chunk); i < rest.end(chunk); ++i) {
      const int64_t row = num_sampled + i;
      const uint64_t slot = table.slot(keys[row]);
      // Another thread may write the same slot, if the key is repeated.
      if (slot < static_cast<uint64_t>(table.num_slots)) {
        __atomic_store_n(&table.rows[slot], static_cast<int32_t>(row), __ATOMIC_RELAXED);
      }
    }
  });
  return internal::num_where(executor, table.num_slots, [&](int64_t i) { return table.rows[i] >= 0; });
}

struct LookedUp {
  int64_t num_matches;
  int64_t num_unmatched_right;
};

// Writes the right row of each of `length` left rows, -1 for none and in padding, and the number of
// matches before each chunk. `is_matched` [num_right] is memory for a flag of each right row.
template <typename Word>
LookedUp look_up(Executor& executor, const Word* keys, int64_t num_keys, int64_t length,
                 const KeyTable<Word>& table, int64_t num_right, uint8_t* is_matched,
                 int32_t* right_rows, int32_t* before) {
  advise_huge_pages(right_rows, length * 4);
  std::fill(is_matched, is_matched + num_right, uint8_t{0});
  const Chunks chunks = match_chunks(length);
  parallel_for(executor, chunks.count, [&](int, int64_t index) {
    // Far apart, because two threads that first write to the same new page both clear it.
    const int64_t chunk = chunks.apart(index, executor.num_threads());
    const int64_t end = std::clamp(num_keys, chunks.begin(chunk), chunks.end(chunk));
    int32_t count = 0;
    for (int64_t row = chunks.begin(chunk); row < end; ++row) {
      const uint64_t slot = table.slot(keys[row]);
      // Without a branch, because whether a key has a match may be unpredictable.
      const bool is_near = slot < static_cast<uint64_t>(table.num_slots);
      const int32_t found = table.rows[is_near ? slot : 0];
      const int32_t right_row = is_near ? found : -1;
      right_rows[row] = right_row;
      count += right_row >= 0;
    }
    for (int64_t row = chunks.begin(chunk); row < end; ++row) {
      const int32_t right_row = right_rows[row];
      if (right_row < 0 || right_row >= num_right) continue;
      // Read first: usually the flag is set, and a write would take the line from other threads.
      uint8_t* const flag = is_matched + right_row;
      if (!__atomic_load_n(flag, __ATOMIC_RELAXED)) __atomic_store_n(flag, 1, __ATOMIC_RELAXED);
    }
    std::fill(right_rows + end, right_rows + chunks.end(chunk), -1);
    before[chunk] = count;
  });
  int32_t num_matches = 0;
  for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
    num_matches += std::exchange(before[chunk], num_matches);
  }
  const int64_t num_unmatched =
      internal::num_where(executor, num_right, [&](int64_t i) { return is_matched[i] == 0; });
  return {num_matches, num_unmatched};
}

// Writes the left and the right rows of the matches, in the order of the left rows, up to the
// capacity; padding is -1.
inline void write_matches(Executor& executor, const int32_t* found, int64_t length,
                          const int32_t* before, int64_t num_matches, int64_t capacity,
                          int32_t* left_rows, int32_t* right_rows) {
  advise_huge_pages(left_rows, capacity * 4);
  advise_huge_pages(right_rows, capacity * 4);
  const Chunks chunks = match_chunks(length);
  const int64_t num_kept = std::clamp<int64_t>(num_matches, 0, capacity);
  // For any counts, nothing is written out of bounds or past the kept matches.
  const auto position_of = [&](int64_t chunk) {
    return chunk < chunks.count ? std::clamp<int64_t>(before[chunk], 0, num_kept) : num_kept;
  };
  parallel_for(executor, chunks.count, [&](int, int64_t index) {
    const int64_t chunk = chunks.apart(index, executor.num_threads());
    int64_t row = chunks.begin(chunk);
    int64_t position = position_of(chunk);
    const int64_t end_row = chunks.end(chunk), end = position_of(chunk + 1);
    // Every row is written at the next position, and stays there if it has a match: no branch
    // depends on a match.
    for (; row < end_row && position < end; ++row) {
      left_rows[position] = static_cast<int32_t>(row);
      right_rows[position] = found[row];
      position += found[row] >= 0;
    }
    // Counts that are too large.
    for (; position < end; ++position) left_rows[position] = right_rows[position] = -1;
  });
  std::fill(left_rows + num_kept, left_rows + capacity, -1);
  std::fill(right_rows + num_kept, right_rows + capacity, -1);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_JOIN_DIRECT_MATCH_H_
