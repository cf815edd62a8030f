// SPDX-License-Identifier: Apache-2.0
// Sorts rows with 64-bit words that fit the cache, on one thread. The highest bits of a word and
// the position of its row share one word, so a pass moves 8 bytes to one address, not 12 to two.
#ifndef JAXFRAMES_KERNELS_SORT_CACHED_WIDE_SORT_H_
#define JAXFRAMES_KERNELS_SORT_CACHED_WIDE_SORT_H_

#include <algorithm>
#include <cstdint>

#include "sort/cached_radix_sort.h"
#include "sort/ordered_word.h"
#include "sort/rows.h"

namespace jaxframes {

// The rows of `source` with their positions as ids: the bits of `compared` from `shift` up.
template <typename Source>
struct PlacedSource {
  const Source& source;
  uint64_t compared;
  int shift;

  uint64_t word(int64_t i) const { return (source.word(i) & compared) >> shift; }
  int32_t id(int64_t i) const { return static_cast<int32_t>(i); }
};

// Completes the sort of rows that are sorted by their highest bits only. `positions` has the bits
// of `compared` from `shift` up.
template <typename Source>
void finish_ties(const Source& source, PlacedRows positions, int64_t size, uint64_t compared,
                 int shift, const SortWorkspace<uint64_t, true>& workspace) {
  const uint64_t placed_bits = low_bits<uint64_t>(PlacedRows::kWordBits);
  if (size <= kInsertionRows) {
    insertion_sort(positions, size, placed_bits);
  } else {
    cached_radix_sort(positions, size, placed_bits, workspace.placed(0), workspace.placed(1),
                      workspace.counts(), positions, true);
  }
  if (shift == 0) return;
  // Remaining ties are mostly equal keys.
  const auto is_less = [&](uint64_t left, uint64_t right) {
    return (source.word(PlacedRows::position(left)) & compared) <
           (source.word(PlacedRows::position(right)) & compared);
  };
  if (std::is_sorted(positions.rows, positions.rows + size, is_less)) return;
  std::stable_sort(positions.rows, positions.rows + size, is_less);
}

// Sorts `size` rows of `source`, at most as many as positions, by the bits of `compared` (low
// bits, all of one run) into `sink`, which must not overlap `source`.
template <typename Source, typename Sink>
void cached_wide_sort(const Source& source, int64_t size, uint64_t compared,
                      const SortWorkspace<uint64_t, true>& workspace, const Sink& sink) {
  if (size <= kInsertionRows) {
    return cached_radix_sort(source, size, compared, workspace.buffer(0), workspace.buffer(1),
                             workspace.counts(), sink, false);
  }
  const int num_bits = bit_width(varying_bits(source, 0, size) & compared);
  compared = low_bits<uint64_t>(num_bits);
  const int shift = std::max(num_bits - PlacedRows::kWordBits, 0);
  const int num_placed_bits = num_bits - shift;
  const int num_low_bits =
      std::max(num_placed_bits - telling_bits(bit_width(static_cast<uint64_t>(size))), 0);
  const uint64_t telling = low_bits<uint64_t>(num_placed_bits) & ~low_bits<uint64_t>(num_low_bits);
  const PlacedSource<Source> input{source, compared, shift};
  const PlacedRows sorted = workspace.placed(2);
  cached_radix_sort(input, size, telling, workspace.placed(0), workspace.placed(1),
                    workspace.counts(), sorted, false);
  const auto ties = [&](int64_t i, int64_t j) {
    return ((sorted.word(i) ^ sorted.word(j)) & telling) == 0;
  };
  const bool has_ties = num_low_bits + shift > 0;
  int64_t finished = 0;
  for (int64_t i = 0; i < size; ++i) {
    if (has_ties && i >= finished && i + 1 < size && ties(i, i + 1)) {
      for (finished = i + 2; finished < size && ties(i, finished);) ++finished;
      finish_ties(source, sorted + i, finished - i, compared, shift, workspace);
    }
    const int32_t position = sorted.id(i);
    sink.put(i, source.word(position), source.id(position));
  }
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_CACHED_WIDE_SORT_H_
