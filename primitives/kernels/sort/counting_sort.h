// SPDX-License-Identifier: Apache-2.0
// Sorts keys with few values without moving them: counts each value, then writes its copies.
#ifndef JAXFRAMES_KERNELS_SORT_COUNTING_SORT_H_
#define JAXFRAMES_KERNELS_SORT_COUNTING_SORT_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sort/ordered_word.h"
#include "base/thread_pool.h"

namespace jaxframes {

// The counts of more values do not fit the second cache.
constexpr int kMaxCountedBits = 16;

// Whether counting pays: clearing and reading the counts must cost less than the rows.
inline bool counts_well(int64_t num_keys, int num_bits) {
  return num_bits <= kMaxCountedBits && num_keys >= int64_t{4} << num_bits;
}

// All bits of the keys must be compared, so that equal keys are the same key. Returns whether all
// keys were in the range of `order`; otherwise nothing is written.
template <typename Order, typename Key>
bool counting_sort(Executor& executor, const Key* keys, int64_t num_keys,
                   const OrderedWord<Order, uint32_t>& order, Key* sorted_keys) {
  const int64_t num_values = int64_t{1} << order.num_bits;
  const Chunks chunks(num_keys, 1 << 16, executor.num_threads());

  // Upsweep: counts are per worker, in any assignment of keys to workers. Adjacent keys use two
  // copies of the counts, so that equal keys do not stall each other.
  std::vector<std::vector<uint32_t>> counts(2 * executor.num_threads());
  std::vector<Key> excess(chunks.count);
  parallel_for(executor, chunks.count, [&](int worker, int64_t chunk) {
    std::vector<uint32_t>& even = counts[2 * worker];
    std::vector<uint32_t>& odd = counts[2 * worker + 1];
    even.resize(num_values);
    odd.resize(num_values);
    uint32_t* const copies[] = {even.data(), odd.data()};
    const uint32_t mask = low_bits<uint32_t>(order.num_bits);
    Key offsets = 0;
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      const Key offset = order.offset(keys[i], static_cast<Key>(~Key{0}));
      offsets |= offset;
      ++copies[i % 2][static_cast<uint32_t>(offset >> order.shift) & mask];
    }
    excess[chunk] = offsets & order.excess_bits();
  });
  if (std::any_of(excess.begin(), excess.end(), [](Key bits) { return bits != 0; })) {
    return false;
  }

  // Exclusive scan of the counts of all workers.
  std::vector<uint32_t> ends(num_values);
  for (const std::vector<uint32_t>& worker_counts : counts) {
    if (worker_counts.empty()) continue;
    for (int64_t value = 0; value < num_values; ++value) ends[value] += worker_counts[value];
  }
  uint32_t offset = 0;
  for (uint32_t& end : ends) end = offset += end;

  // Downsweep: each chunk of the result starts with the value at its position.
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    int64_t i = chunks.begin(chunk);
    const int64_t end = chunks.end(chunk);
    int64_t value = std::upper_bound(ends.begin(), ends.end(), i) - ends.begin();
    for (; i < end; ++value) {
      const int64_t run_end = std::min<int64_t>(ends[value], end);
      std::fill(sorted_keys + i, sorted_keys + run_end,
                order.to_key(static_cast<uint32_t>(value)));
      i = run_end;
    }
  });
  return true;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_COUNTING_SORT_H_
