// SPDX-License-Identifier: Apache-2.0
// Stable selection of rows, or of their ids, by a mask: the flags are counted first, once for all
// columns.
#ifndef JAXFRAMES_KERNELS_MOVE_COMPACT_H_
#define JAXFRAMES_KERNELS_MOVE_COMPACT_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "base/vector_unit.h"
#include "move/kept_words.h"

namespace jaxframes {

// A source of row ids.
struct RowIds {
  int32_t operator[](int64_t row) const { return static_cast<int32_t>(row); }
};

// Chunks of rows for one thread.
inline Chunks flag_chunks(int64_t num_rows) { return Chunks::of_rows(num_rows, kFlagChunkRows); }

// The counted flags of one row of a batch: before[chunk] flags before a chunk, `count` in total.
// One bit of each byte of the mask is used.
struct Flags {
  const uint8_t* mask;
  int64_t num_rows;
  const int32_t* before;
  int32_t count;
};

namespace internal {

constexpr uint64_t kOnes = 0x0101010101010101u;

// Eight flags at once. Their order in the word does not affect a sum.
inline uint64_t eight_flags(const uint8_t* mask) {
  uint64_t word;
  std::memcpy(&word, mask, sizeof(word));
  return word & kOnes;
}
inline int64_t flag(const uint8_t* mask) { return *mask & 1; }

inline int64_t num_flags(const uint8_t* mask, int64_t num_rows) {
  // A byte of the sums counts up to 255 flags.
  constexpr int64_t kSumRows = 255 * 8;
  constexpr uint64_t kEvenBytes = 0x00FF00FF00FF00FFu;
  int64_t count = 0, i = 0;
  while (i + 8 <= num_rows) {
    const int64_t end = std::min(i + kSumRows, i + (num_rows - i) / 8 * 8);
    uint64_t sums = 0;
    for (; i < end; i += 8) sums += eight_flags(mask + i);
    const uint64_t pairs = (sums & kEvenBytes) + (sums >> 8 & kEvenBytes);
    count += static_cast<int64_t>(pairs * (kOnes & kEvenBytes) >> 48);
  }
  for (; i < num_rows; ++i) count += flag(mask + i);
  return count;
}

// A walk over the rows of a chunk: the selection of the flagged rows from `row` on goes to
// kept[position, end_position). Their numbers are equal if the counts are correct.
struct Walk {
  int64_t row;
  int64_t end_row;
  int64_t position;
  int64_t end_position;
};

#if defined(JAXFRAMES_AVX512)
template <typename Word>
JAXFRAMES_AVX512 inline __m512i lanes_at(const Word* source, int64_t row) {
  return _mm512_loadu_si512(source + row);
}

JAXFRAMES_AVX512 inline __m512i lanes_at(RowIds, int64_t row) {
  const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
  return _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int32_t>(row)));
}

// A block has 64 rows, the number of flags in a register.
constexpr int64_t kBlockRows = 64;

JAXFRAMES_AVX512 inline uint64_t block_flags(const uint8_t* mask) {
  return _mm512_test_epi8_mask(_mm512_loadu_si512(mask), _mm512_set1_epi8(1));
}

template <typename Word>
inline void prefetch_block(const Word* source, int64_t row) {
  constexpr int64_t kLineWords = 64 / sizeof(Word);
  for (int64_t i = 0; i < kBlockRows; i += kLineWords) __builtin_prefetch(source + row + i);
}

inline void prefetch_block(RowIds, int64_t) {}

// Continues a walk with few flagged rows, from one to the next. It stops before the last rows, and
// before a block with more flagged rows than the remaining capacity.
template <typename Word, typename Source>
JAXFRAMES_AVX512 void write_few_avx512(const uint8_t* mask, Source source, Word* kept,
                                       Walk& walk) {
  for (; walk.row + kBlockRows <= walk.end_row && walk.position < walk.end_position;
       walk.row += kBlockRows) {
    uint64_t flags = block_flags(mask + walk.row);
    if (walk.position + __builtin_popcountll(flags) > walk.end_position) return;
    for (; flags != 0; flags &= flags - 1) {
      kept[walk.position++] = source[walk.row + __builtin_ctzll(flags)];
    }
  }
}

// Continues a walk while a block remains, and the capacity for its flagged rows plus one vector.
template <typename Word, typename Source>
JAXFRAMES_AVX512 void write_many_avx512(const uint8_t* mask, Source source, Word* kept,
                                        Walk& walk) {
  constexpr int64_t kLanes = 64 / sizeof(Word);
  constexpr uint64_t kAllLanes = (uint64_t{1} << kLanes) - 1;
  // A page ahead, because hardware prefetchers stop at the end of a page.
  constexpr int64_t kAheadRows = 4096 / sizeof(Word);
  for (; walk.row + kBlockRows <= walk.end_row; walk.row += kBlockRows) {
    const int64_t ahead = walk.row + kAheadRows;
    if (ahead + kBlockRows <= walk.end_row && block_flags(mask + ahead) != 0) {
      prefetch_block(source, ahead);
    }
    const uint64_t flags = block_flags(mask + walk.row);
    if (flags == 0) continue;
    if (walk.position + __builtin_popcountll(flags) + kLanes > walk.end_position) return;
    for (int64_t lane = 0; lane < kBlockRows; lane += kLanes) {
      const uint64_t lane_flags = flags >> lane & kAllLanes;
      const __m512i lanes = lanes_at(source, walk.row + lane);
      // Compressed in a register, because a compressing store is slow on some processors.
      const __m512i front = sizeof(Word) == 8 ? _mm512_maskz_compress_epi64(lane_flags, lanes)
                                              : _mm512_maskz_compress_epi32(lane_flags, lanes);
      _mm512_storeu_si512(kept + walk.position, front);
      walk.position += __builtin_popcountll(lane_flags);
    }
  }
}

template <typename Word, typename Source>
void write_flagged_avx512(const uint8_t* mask, Source source, Word* kept, Walk& walk) {
  // At this density both ways take about the same time: a vector has eight rows of 8 bytes, or
  // sixteen of 4.
  constexpr int64_t kFewOneIn = sizeof(Word) == 8 ? 40 : 80;
  if ((walk.end_position - walk.position) * kFewOneIn < walk.end_row - walk.row) {
    write_few_avx512(mask, source, kept, walk);
  } else {
    write_many_avx512(mask, source, kept, walk);
  }
}

#endif

template <typename Word, typename Source>
void write_flagged(const uint8_t* mask, Source source, Word* kept, Walk walk) {
  if (walk.position >= walk.end_position) return;
#if defined(JAXFRAMES_AVX512)
  if constexpr (sizeof(Word) >= 4) {
    if (has_avx512()) write_flagged_avx512(mask, source, kept, walk);
  }
#endif
  auto [row, end_row, position, end_position] = walk;
  while (row + 8 <= end_row && position + 8 <= end_position) {
    if (eight_flags(mask + row) == 0) {
      row += 8;
      continue;
    }
    // Every row is written where the next flagged one belongs, and stays there if
    // it is flagged: no branch depends on a flag. Eight such writes lie below
    // `end_position`, which keeps them out of the positions of other threads.
    for (const int64_t next = row + 8; row < next; ++row) {
      kept[position] = source[row];
      position += flag(mask + row);
    }
  }
  // The last few flags may be far apart.
  while (row < end_row && position < end_position) {
    if (row + 8 <= end_row && eight_flags(mask + row) == 0) {
      row += 8;
      continue;
    }
    kept[position] = source[row];
    position += flag(mask + row);
    ++row;
  }
}

template <typename Word>
void write_words(const uint8_t* mask, const void* source, void* kept, const Walk& walk) {
  write_flagged(mask, static_cast<const Word*>(source), static_cast<Word*>(kept), walk);
}

}  // namespace internal

// Counts the flags of the first `num_valid` rows, before each chunk and in total. Padding has none.
inline int32_t count_flags(Executor& executor, const uint8_t* mask, int64_t num_rows,
                           int64_t num_valid, int32_t* before) {
  const Chunks chunks = flag_chunks(num_rows);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    const int64_t begin = chunks.begin(chunk), end = std::min(chunks.end(chunk), num_valid);
    before[chunk] = static_cast<int32_t>(internal::num_flags(mask + begin, end - begin));
  });
  int32_t count = 0;
  for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
    count += std::exchange(before[chunk], count);
  }
  return count;
}

// Fills row `row` of each of `arrays` with its selected rows up to the capacity, then with zeros.
inline void compact(Executor& executor, const Flags& flags, int64_t row, int64_t capacity,
                    const std::vector<KeptWords>& arrays) {
  const Chunks chunks = flag_chunks(flags.num_rows);
  const int64_t num_kept = std::clamp<int64_t>(flags.count, 0, capacity);
  const Chunks zeros = flag_chunks(capacity - num_kept);
  // For any counts, nothing is written out of bounds or past the selected rows.
  const auto positions_before = [&](int64_t chunk) {
    return chunk < chunks.count ? std::clamp<int64_t>(flags.before[chunk], 0, num_kept) : num_kept;
  };
  const auto kept_of = [&](const KeptWords& words) {
    return static_cast<uint8_t*>(words.kept) + row * capacity * words.word_bytes;
  };
  const auto write_chunk = [&](const KeptWords& words, const internal::Walk& walk) {
    uint8_t* const kept = kept_of(words);
    if (words.are_ids) {
      return internal::write_flagged(flags.mask, RowIds{}, reinterpret_cast<int32_t*>(kept), walk);
    }
    const uint8_t* const source =
        static_cast<const uint8_t*>(words.source) + row * flags.num_rows * words.word_bytes;
    switch (words.word_bytes) {
      case 1: return internal::write_words<uint8_t>(flags.mask, source, kept, walk);
      case 2: return internal::write_words<uint16_t>(flags.mask, source, kept, walk);
      case 4: return internal::write_words<uint32_t>(flags.mask, source, kept, walk);
      default: return internal::write_words<uint64_t>(flags.mask, source, kept, walk);
    }
  };
  const auto clear_chunk = [&](const KeptWords& words, int64_t chunk) {
    uint8_t* const rest = kept_of(words) + num_kept * words.word_bytes;
    std::fill(rest + zeros.begin(chunk) * words.word_bytes,
              rest + zeros.end(chunk) * words.word_bytes, uint8_t{0});
  };
  const auto run = [&](int, int64_t index) {
    if (index >= chunks.count) {
      for (const KeptWords& words : arrays) clear_chunk(words, index - chunks.count);
      return;
    }
    // Far apart, because two threads that first write to the same new page both clear it.
    const int64_t chunk = chunks.apart(index, executor.num_threads());
    const internal::Walk walk{chunks.begin(chunk), chunks.end(chunk), positions_before(chunk),
                              positions_before(chunk + 1)};
    for (const KeptWords& words : arrays) write_chunk(words, walk);
  };
  // This few rows are moved before another thread wakes up.
  SerialExecutor serial;
  const bool are_few = chunks.count == 1 && zeros.count == 1;
  parallel_for(are_few ? serial : executor, chunks.count + zeros.count, run);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_MOVE_COMPACT_H_
