// SPDX-License-Identifier: Apache-2.0
// Detects keys that need no sort: sorted and reversed ones.
#ifndef JAXFRAMES_KERNELS_SORT_KEY_RUNS_H_
#define JAXFRAMES_KERNELS_SORT_KEY_RUNS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "base/thread_pool.h"

namespace jaxframes {

enum class Arrangement { kOther, kInOrder, kReversed };

namespace internal {

// Whether no adjacent pair is out of order. Random keys fail in the first block of each chunk.
template <typename IsOutOfOrder>
bool all_in_order(Executor& executor, int64_t num_keys, const IsOutOfOrder& is_out_of_order) {
  constexpr int64_t kBlockKeys = 64;
  const int64_t num_pairs = num_keys - 1;
  const Chunks chunks(num_pairs, 1 << 16, executor.num_threads());
  std::atomic<bool> in_order{true};
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    const int64_t end = chunks.end(chunk);
    for (int64_t i = chunks.begin(chunk); i < end; i += kBlockKeys) {
      if (!in_order.load(std::memory_order_relaxed)) return;
      const int64_t block_end = std::min(i + kBlockKeys, end);
      bool any = false;
      for (int64_t pair = i; pair < block_end; ++pair) any |= is_out_of_order(pair);
      if (any) in_order.store(false, std::memory_order_relaxed);
    }
  });
  return in_order.load(std::memory_order_relaxed);
}

}  // namespace internal

// Reversed keys are distinct: only then is their stable order the exact reverse.
template <typename Order, typename Key>
Arrangement arrangement(Executor& executor, const Key* keys, int64_t num_keys,
                        const Order& order, Key compared) {
  const auto key = [&](int64_t i) { return order.ordered(keys[i]) & compared; };
  if (num_keys < 2 || key(0) <= key(num_keys - 1)) {
    const auto descends = [&](int64_t i) { return key(i) > key(i + 1); };
    const bool in_order = internal::all_in_order(executor, num_keys, descends);
    return in_order ? Arrangement::kInOrder : Arrangement::kOther;
  }
  const auto ascends = [&](int64_t i) { return key(i) <= key(i + 1); };
  const bool is_reversed = internal::all_in_order(executor, num_keys, ascends);
  return is_reversed ? Arrangement::kReversed : Arrangement::kOther;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_KEY_RUNS_H_
