// SPDX-License-Identifier: Apache-2.0
// What a few of the keys say of all of them, for sorts that can check it as they go.
#ifndef JAXFRAMES_KERNELS_KEY_SAMPLE_H_
#define JAXFRAMES_KERNELS_KEY_SAMPLE_H_

#include <algorithm>
#include <cstdint>

#include "ordered_word.h"

namespace jaxframes {

// A range that all keys lie in, if the rest are like the sample. It is as wide as a
// power of two: that costs no bits, and leaves some room for what was not sampled.
template <typename Order, typename Key>
KeyRange<Key> guess_range(const Key* keys, int64_t num_keys, const Order& order,
                          Key compared) {
  constexpr int64_t kSampleSize = 256;
  Key smallest = static_cast<Key>(~Key{0}), largest = 0;
  for (int64_t i = 0; i < kSampleSize; ++i) {
    const Key key = order.ordered(keys[num_keys * i / kSampleSize]) & compared;
    smallest = std::min(smallest, key);
    largest = std::max(largest, key);
  }
  const Key span = static_cast<Key>(largest - smallest);
  const Key width = low_bits<Key>(bit_width(span));
  // Ranges like [0, 2^k) begin at a multiple of their width. Of others the sample is
  // taken to be the middle; these lie across such a multiple, so base stays above 0.
  Key base = smallest & ~width;
  if (largest > base + width) base = smallest - (width - span) / 2;
  KeyRange<Key> range;
  range.smallest = base;
  range.largest = base + width;
  range.varying = width;
  return range;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_KEY_SAMPLE_H_
