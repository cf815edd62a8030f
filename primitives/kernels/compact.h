// SPDX-License-Identifier: Apache-2.0
// The rows that a mask flags, or their ids, in order, by two reads of the mask.
#ifndef JAXFRAMES_KERNELS_COMPACT_H_
#define JAXFRAMES_KERNELS_COMPACT_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "thread_pool.h"

namespace jaxframes {

// What is kept of a flagged row: its id.
struct RowIds {
  using Word = int32_t;
  Word operator[](int64_t row) const { return static_cast<Word>(row); }
};

// One row of a batch. The mask holds bytes that are 0 or 1; `source[i]` is what is
// kept of row i, a word.
template <typename Word, typename Source = const Word*>
struct CompactRow {
  const uint8_t* mask;
  int64_t num_valid;
  int64_t capacity;
  Source source;
  Word* kept;
  int32_t* count;
};

namespace internal {

constexpr uint64_t kOnes = 0x0101010101010101u;

// Eight flags at once. Their order in the word does not matter to a sum. Of each byte one
// bit is looked at: whoever hands over bools of other bytes gets no write out of bounds.
inline uint64_t eight_flags(const uint8_t* mask) {
  uint64_t word;
  std::memcpy(&word, mask, sizeof(word));
  return word & kOnes;
}
inline int64_t flag(const uint8_t* mask) { return *mask & 1; }

inline int64_t count_flags(const uint8_t* mask, int64_t num_rows) {
  // A byte of the sums holds up to 255 flags.
  constexpr int64_t kBlockRows = 255 * 8;
  constexpr uint64_t kEvenBytes = 0x00FF00FF00FF00FFu;
  int64_t count = 0, i = 0;
  while (i + 8 <= num_rows) {
    const int64_t end = std::min(i + kBlockRows, i + (num_rows - i) / 8 * 8);
    uint64_t sums = 0;
    for (; i < end; i += 8) sums += eight_flags(mask + i);
    const uint64_t pairs = (sums & kEvenBytes) + (sums >> 8 & kEvenBytes);
    count += static_cast<int64_t>(pairs * (kOnes & kEvenBytes) >> 48);
  }
  for (; i < num_rows; ++i) count += flag(mask + i);
  return count;
}

// Writes what is kept of the flagged rows from `begin` on to kept[place, end_place),
// as many as that holds. There are no fewer.
template <typename Word, typename Source>
void write_flagged(const uint8_t* mask, const Source& source, int64_t begin, Word* kept,
                   int64_t place, int64_t end_place) {
  int64_t i = begin;
  // Every row is written where the next flagged one belongs, and stays there if
  // it is flagged: no branch depends on a flag. Eight such writes lie below
  // `end_place`, which keeps them out of the places of other threads.
  while (place + 8 <= end_place) {
    if (eight_flags(mask + i) == 0) {
      i += 8;
      continue;
    }
    for (int64_t next = i + 8; i < next; ++i) {
      kept[place] = source[i];
      place += flag(mask + i);
    }
  }
  for (; place < end_place; ++i) {
    kept[place] = source[i];
    place += flag(mask + i);
  }
}

}  // namespace internal

// Fills `kept` with what is kept of the flagged rows, then with zeros. The count is
// that of all flagged rows, those that do not fit included.
template <typename Word, typename Source>
void compact(Executor& executor, const CompactRow<Word, Source>& row) {
  constexpr int64_t kMinChunkRows = 1 << 16;
  const Chunks chunks(row.num_valid, kMinChunkRows, executor.num_threads());
  std::vector<int64_t> offsets(chunks.count + 1, 0);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    const int64_t begin = chunks.begin(chunk);
    offsets[chunk + 1] = internal::count_flags(row.mask + begin, chunks.end(chunk) - begin);
  });
  for (int64_t chunk = 0; chunk < chunks.count; ++chunk) offsets[chunk + 1] += offsets[chunk];
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    internal::write_flagged(row.mask, row.source, chunks.begin(chunk), row.kept,
                            std::min(offsets[chunk], row.capacity),
                            std::min(offsets[chunk + 1], row.capacity));
  });
  const int64_t count = offsets[chunks.count];
  *row.count = static_cast<int32_t>(count);
  if (count >= row.capacity) return;
  const Chunks rest(row.capacity - count, kMinChunkRows, executor.num_threads());
  parallel_for(executor, rest.count, [&](int, int64_t chunk) {
    std::fill(row.kept + count + rest.begin(chunk), row.kept + count + rest.end(chunk), Word{0});
  });
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_COMPACT_H_
