// SPDX-License-Identifier: Apache-2.0
// Estimates from a sample of keys, for sorts that verify them as they proceed.
#ifndef JAXFRAMES_KERNELS_SORT_KEY_SAMPLE_H_
#define JAXFRAMES_KERNELS_SORT_KEY_SAMPLE_H_

#include <algorithm>
#include <cstdint>

#include "sort/ordered_word.h"

namespace jaxframes {

template <typename Key>
struct KeySample {
  // The probable range of all keys, judged by the sample. Its width is a power of two: that costs
  // no bits, and leaves a margin for other keys.
  KeyRange<Key> guess;
  // Bits that vary in the sample.
  Key varying = 0;

  // Whether the keys cover nearly all numbers of `compared`, low bits: a search for their range
  // would save at most one bit.
  bool spans(Key compared) const {
    constexpr int kNarrowBits = 32;
    const Key width = static_cast<Key>(guess.largest - guess.smallest);
    if (varying == 0 || bit_width(width) + 1 < bit_width(compared)) return false;
    // Keys with equal low bits may still fit narrow words.
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
  // Ranges like [0, 2^k) start at a multiple of their width. For others the sample is assumed to be
  // the middle; these cross such a multiple, so base stays above 0.
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
