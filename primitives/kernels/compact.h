// SPDX-License-Identifier: Apache-2.0
// The row ids of the rows that a mask flags, in order, by two reads of the mask.
#ifndef JAXFRAMES_KERNELS_COMPACT_H_
#define JAXFRAMES_KERNELS_COMPACT_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "thread_pool.h"

namespace jaxframes {

// One row of a batch. The mask holds bytes that are 0 or 1.
struct CompactRow {
  const uint8_t* mask;
  int64_t num_valid;
  int64_t capacity;
  int32_t* row_ids;
  int32_t* count;
};

namespace internal {

// Eight flags at once. Their order in the word does not matter to a sum.
inline uint64_t eight_flags(const uint8_t* mask) {
  uint64_t word;
  std::memcpy(&word, mask, sizeof(word));
  return word;
}

inline int64_t count_flags(const uint8_t* mask, int64_t num_rows) {
  // A byte of the sums holds up to 255 flags.
  constexpr int64_t kBlockRows = 255 * 8;
  constexpr uint64_t kOnes = 0x0101010101010101u, kEvenBytes = 0x00FF00FF00FF00FFu;
  int64_t count = 0, i = 0;
  while (i + 8 <= num_rows) {
    const int64_t end = std::min(i + kBlockRows, i + (num_rows - i) / 8 * 8);
    uint64_t sums = 0;
    for (; i < end; i += 8) sums += eight_flags(mask + i);
    const uint64_t pairs = (sums & kEvenBytes) + (sums >> 8 & kEvenBytes);
    count += static_cast<int64_t>(pairs * (kOnes & kEvenBytes) >> 48);
  }
  for (; i < num_rows; ++i) count += mask[i];
  return count;
}

// Writes the ids of the flagged rows from `begin` on to row_ids[place, end_place),
// as many as that holds. There are no fewer.
inline void write_flagged(const uint8_t* mask, int64_t begin, int32_t* row_ids, int64_t place,
                          int64_t end_place) {
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
      row_ids[place] = static_cast<int32_t>(i);
      place += mask[i];
    }
  }
  for (; place < end_place; ++i) {
    row_ids[place] = static_cast<int32_t>(i);
    place += mask[i];
  }
}

}  // namespace internal

// Fills `row_ids` with the ids of the flagged rows, then with zeros. The count is
// that of all flagged rows, those that do not fit included.
inline void compact(Executor& executor, const CompactRow& row) {
  constexpr int64_t kMinChunkRows = 1 << 16;
  const Chunks chunks(row.num_valid, kMinChunkRows, executor.num_threads());
  std::vector<int64_t> offsets(chunks.count + 1, 0);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    const int64_t begin = chunks.begin(chunk);
    offsets[chunk + 1] = internal::count_flags(row.mask + begin, chunks.end(chunk) - begin);
  });
  for (int64_t chunk = 0; chunk < chunks.count; ++chunk) offsets[chunk + 1] += offsets[chunk];
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    internal::write_flagged(row.mask, chunks.begin(chunk), row.row_ids,
                            std::min(offsets[chunk], row.capacity),
                            std::min(offsets[chunk + 1], row.capacity));
  });
  const int64_t count = offsets[chunks.count];
  *row.count = static_cast<int32_t>(count);
  if (count < row.capacity) std::fill(row.row_ids + count, row.row_ids + row.capacity, 0);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_COMPACT_H_
