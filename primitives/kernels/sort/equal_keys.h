// SPDX-License-Identifier: Apache-2.0
// Restores the bits of keys that compare equal but differ in their bits, which sorts of ordered
// words lose.
#ifndef JAXFRAMES_KERNELS_SORT_EQUAL_KEYS_H_
#define JAXFRAMES_KERNELS_SORT_EQUAL_KEYS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/key_order.h"
#include "base/thread_pool.h"

namespace jaxframes {

// Overwrites the zeros of `sorted_keys` with the zeros of `keys`, in their original order, and
// likewise the NaNs. No row moves: each kind fills its own range.
template <typename Key>
void restore_equal_keys(Executor& executor, const Key* keys, int64_t num_keys,
                        const FloatOrder<Key>& order, Key* sorted_keys) {
  struct Places {
    int64_t zero;
    int64_t nan;
  };
  const Chunks chunks(num_keys, 1 << 16, executor.num_threads());
  std::vector<Places> positions(chunks.count);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    int64_t num_zeros = 0, num_nans = 0;
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      num_zeros += order.is_zero(keys[i]);
      num_nans += order.is_nan(keys[i]);
    }
    positions[chunk] = {num_zeros, num_nans};
  });

  // Exclusive scan. The ranges start at the first zero and at the first NaN.
  int64_t nan_position = num_keys;
  for (const Places& counts : positions) nan_position -= counts.nan;
  const Key zero = order.ordered(0);
  int64_t zero_position = std::partition_point(sorted_keys, sorted_keys + nan_position,
                                            [&](Key key) { return order.ordered(key) < zero; }) -
                       sorted_keys;
  for (Places& position : positions) {
    const Places counts = position;
    position = {zero_position, nan_position};
    zero_position += counts.zero;
    nan_position += counts.nan;
  }

  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    Places position = positions[chunk];
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      const Key key = keys[i];
      if (order.is_zero(key)) sorted_keys[position.zero++] = key;
      if (order.is_nan(key)) sorted_keys[position.nan++] = key;
    }
  });
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_EQUAL_KEYS_H_
