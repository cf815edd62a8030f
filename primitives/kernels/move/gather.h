// SPDX-License-Identifier: Apache-2.0
// Gathers rows by row id, of several arrays in one pass over the ids.
#ifndef JAXFRAMES_KERNELS_MOVE_GATHER_H_
#define JAXFRAMES_KERNELS_MOVE_GATHER_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"

namespace jaxframes {

// An array of a batch, with words of 1, 2, 4, 8 or 16 bytes, one for each row. An id out of range
// gives the word `fill`.
struct GatheredWords {
  const void* source;
  void* gathered;
  const void* fill;
  int64_t word_bytes;
};

namespace internal {

struct Word128 {
  uint64_t low, high;
};

// Ids of a tile stay in the first cache while all arrays are gathered by them.
constexpr int64_t kTileRows = 2048;

enum class TileIds { kConsecutive, kInRange, kAny };

inline TileIds ids_of_tile(const int32_t* row_ids, int64_t num_ids, int64_t num_rows) {
  // As unsigned numbers, negative ids are greater than all others.
  uint32_t greatest = 0, all_steps = 0;
  const uint32_t first = static_cast<uint32_t>(row_ids[0]);
  for (int64_t i = 0; i < num_ids; ++i) {
    const uint32_t id = static_cast<uint32_t>(row_ids[i]);
    greatest = std::max(greatest, id);
    all_steps |= id - first - static_cast<uint32_t>(i);
  }
  if (greatest >= static_cast<uint64_t>(num_rows)) return TileIds::kAny;
  return all_steps == 0 ? TileIds::kConsecutive : TileIds::kInRange;
}

template <typename Word>
void gather_tile(TileIds ids, const int32_t* row_ids, int64_t num_ids, int64_t num_rows,
                 const Word* source, Word fill, Word* gathered) {
  switch (ids) {
    case TileIds::kConsecutive:
      std::memcpy(gathered, source + row_ids[0], num_ids * sizeof(Word));
      return;
    case TileIds::kInRange:
      for (int64_t i = 0; i < num_ids; ++i) gathered[i] = source[row_ids[i]];
      return;
    case TileIds::kAny:
      for (int64_t i = 0; i < num_ids; ++i) {
        const bool is_row = static_cast<uint32_t>(row_ids[i]) < static_cast<uint64_t>(num_rows);
        gathered[i] = is_row ? source[row_ids[i]] : fill;
      }
  }
}

}  // namespace internal

// Fills row `row` of the batch of each of `arrays`; `num_rows` is the length of the sources.
inline void gather_rows(Executor& executor, const int32_t* row_ids, int64_t num_ids,
                        int64_t num_rows, int64_t row, const std::vector<GatheredWords>& arrays) {
  const auto gather = [&](auto word, const GatheredWords& words, internal::TileIds ids,
                          int64_t begin, int64_t size) {
    using Word = decltype(word);
    Word fill;
    std::memcpy(&fill, static_cast<const char*>(words.fill) + row * sizeof(Word), sizeof(Word));
    internal::gather_tile(ids, row_ids + begin, size, num_rows,
                          static_cast<const Word*>(words.source) + row * num_rows, fill,
                          static_cast<Word*>(words.gathered) + row * num_ids + begin);
  };
  const Chunks chunks = Chunks::of_rows(num_ids, 1 << 16);
  const auto run = [&](int, int64_t index) {
    // Far apart, because two threads that first write to the same new page both clear it.
    const int64_t chunk = chunks.apart(index, executor.num_threads());
    for (int64_t begin = chunks.begin(chunk); begin < chunks.end(chunk);
         begin += internal::kTileRows) {
      const int64_t size = std::min(internal::kTileRows, chunks.end(chunk) - begin);
      const internal::TileIds ids = internal::ids_of_tile(row_ids + begin, size, num_rows);
      for (const GatheredWords& words : arrays) {
        switch (words.word_bytes) {
          case 1: gather(uint8_t{}, words, ids, begin, size); break;
          case 2: gather(uint16_t{}, words, ids, begin, size); break;
          case 4: gather(uint32_t{}, words, ids, begin, size); break;
          case 8: gather(uint64_t{}, words, ids, begin, size); break;
          default: gather(internal::Word128{}, words, ids, begin, size);
        }
      }
    }
  };
  parallel_for(executor, chunks.count, run);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_MOVE_GATHER_H_
