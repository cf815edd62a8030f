// SPDX-License-Identifier: Apache-2.0
// One digit of a radix sort, and the moves by it on one thread.
#ifndef JAXFRAMES_KERNELS_SORT_DIGIT_H_
#define JAXFRAMES_KERNELS_SORT_DIGIT_H_

#include <cstdint>

namespace jaxframes {

constexpr int kMaxDigitBits = 11;

// Bits [shift, shift + num_bits) of a word.
struct Digit {
  int shift;
  int num_bits;

  template <typename Word>
  uint32_t of(Word word) const {
    return static_cast<uint32_t>(word >> shift) & ((uint32_t{1} << num_bits) - 1);
  }
  int64_t num_bins() const { return int64_t{1} << num_bits; }
};

// Turns counts into the offset of each bin's first row.
inline void exclusive_scan(uint32_t* counts, int64_t num_bins) {
  uint32_t offset = 0;
  for (int64_t bin = 0; bin < num_bins; ++bin) {
    const uint32_t count = counts[bin];
    counts[bin] = offset;
    offset += count;
  }
}

// Moves each row to the next position of its digit's bin, in row order.
template <bool kPrefetch = false, typename Source, typename AnyDigit, typename Sink>
void downsweep(const Source& source, int64_t begin, int64_t end, const AnyDigit& digit,
               uint32_t* offsets, const Sink& sink) {
  int64_t i = begin;
  if constexpr (Sink::kNumColumns == 1) {
    // Four reads ahead of four writes save 10 to 20 % of the time; with two columns
    // to write they cost 8 %.
    constexpr int kAhead = 4;
    for (; i + kAhead <= end; i += kAhead) {
      decltype(source.word(0)) words[kAhead];
      int32_t ids[kAhead];
      uint32_t positions[kAhead];
      for (int k = 0; k < kAhead; ++k) {
        words[k] = source.word(i + k);
        ids[k] = source.id(i + k);
      }
      for (int k = 0; k < kAhead; ++k) positions[k] = offsets[digit.of(words[k])]++;
      for (int k = 0; k < kAhead; ++k) {
        sink.put(positions[k], words[k], ids[k]);
        if constexpr (kPrefetch) sink.prefetch_after(positions[k]);
      }
    }
  }
  for (; i < end; ++i) {
    const auto word = source.word(i);
    const uint32_t position = offsets[digit.of(word)]++;
    sink.put(position, word, source.id(i));
    if constexpr (kPrefetch) sink.prefetch_after(position);
  }
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_DIGIT_H_
