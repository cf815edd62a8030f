// SPDX-License-Identifier: Apache-2.0
// What a few of the keys say of all of them, for sorts that can check it as they go.
#ifndef JAXFRAMES_KERNELS_SORT_KEY_SAMPLE_H_
#define JAXFRAMES_KERNELS_SORT_KEY_SAMPLE_H_

#include <algorithm>
#include <cstdint>

#include "sort/ordered_word.h"

namespace jaxframes {

template <typename Key>
struct KeySample {
  // A range that all keys lie in, if the rest are like the sample. It is as wide as a
  // power of two: that costs no bits, and leaves some room for what was not sampled.
  KeyRange<Key> guess;
  // Bits that are not the same in all keys of the sample.
  Key varying = 0;

  // Whether the keys spread over nearly all numbers of `compared`, low bits: to look for
  // their range would gain one bit at most.
  bool spans(Key compared) const {
    constexpr int kNarrowBits = 32;
    const Key width = static_cast<Key>(guess.largest - guess.smallest);
    if (varying == 0 || bit_width(width) + 1 < bit_width(compared)) return false;
    // Keys that all end in the same bits may yet fit narrow words.
    return sizeof(Key) == 4 || bit_width(varying) - trailing_zeros(varying) > kNarrowBits;
  }
};

template <typename Order, typename Key>
KeySample<Key> sample_keys(const Key* keys, int64_t num_keys, const Order& order,
                           Key compared) {
  constexpr int64_t kSampleSize = 256;
  const Key reference = order.ordered(keys[0]) & compared;
  Key smallest = static_cast<Key>(~Key{0}), largest = 0, varying = 0;
  for (int64_t i = 0; i < kSampleSize; ++i) {
    const Key key = order.ordered(keys[num_keys * i / kSampleSize]) & compared;
    smallest = std::min(smallest, key);
    largest = std::max(largest, key);
    varying |= key ^ reference;
  }
  const Key span = static_cast<Key>(largest - smallest);
  const Key width = low_bits<Key>(bit_width(span));
  // Ranges like [0, 2^k) begin at a multiple of their width. Of others the sample is
  // taken to be the middle; these lie across such a multiple, so base stays above 0.
  Key base = smallest & ~width;
  if (largest > base + width) base = smallest - (width - span) / 2;
  KeySample<Key> sample;
  sample.guess.smallest = base;
  sample.guess.largest = base + width;
  sample.guess.varying = width;
  sample.varying = varying;
  return sample;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_KEY_SAMPLE_H_
