// SPDX-License-Identifier: Apache-2.0
// The sum of floats, in an order that depends on how many there are alone.
#ifndef JAXFRAMES_KERNELS_REDUCE_PAIRWISE_SUM_H_
#define JAXFRAMES_KERNELS_REDUCE_PAIRWISE_SUM_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/thread_pool.h"

namespace jaxframes {

// A block is a matrix of numbers, row after row. Its rows are added up one after the other,
// and what they came to is halved until one number is left: the second half is added to the
// first, number by number. What the blocks came to, with zeros up to a power of two, is
// halved likewise.
constexpr int64_t kSumRows = 64, kSumLanes = 16, kSumBlock = kSumRows * kSumLanes;

namespace internal {

// Adds up `size` numbers, a power of two of them, in their own place.
template <typename Sum>
Sum halve_to_one(Sum* numbers, int64_t size) {
  for (int64_t half = size / 2; half > 0; half /= 2) {
    for (int64_t i = 0; i < half; ++i) numbers[i] += numbers[half + i];
  }
  return numbers[0];
}

// What each of some blocks comes to. Always inlined: each caller has its instructions.
template <typename Number, typename Sum>
__attribute__((always_inline)) inline void add_blocks(const Number* numbers, int64_t num_blocks,
                                                      Sum* sums) {
  // The processor does not look far enough ahead by itself. What lies behind the last number
  // is no pointer, but may be prefetched.
  constexpr int64_t kAheadBytes = 4 * kSumBlock * static_cast<int64_t>(sizeof(Number));
  for (int64_t block = 0; block < num_blocks; ++block) {
    Sum lanes[kSumLanes];
    for (int64_t i = 0; i < kSumLanes; ++i) lanes[i] = static_cast<Sum>(numbers[i]);
    for (int64_t row = 1; row < kSumRows; ++row) {
      const Number* next = numbers + row * kSumLanes;
      const auto ahead = reinterpret_cast<uintptr_t>(next) + kAheadBytes;
      __builtin_prefetch(reinterpret_cast<const void*>(ahead));
      for (int64_t i = 0; i < kSumLanes; ++i) lanes[i] += static_cast<Sum>(next[i]);
    }
    sums[block] = halve_to_one(lanes, kSumLanes);
    numbers += kSumBlock;
  }
}

#if defined(__x86_64__)
// Twice as many numbers at a time as every x86-64 processor has.
template <typename Number, typename Sum>
__attribute__((target("avx2"))) void sum_blocks_avx2(const Number* numbers, int64_t num_blocks,
                                                     Sum* sums) {
  add_blocks(numbers, num_blocks, sums);
}
#endif

template <typename Number, typename Sum>
void sum_blocks(const Number* numbers, int64_t num_blocks, Sum* sums) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return sum_blocks_avx2(numbers, num_blocks, sums);
#endif
  add_blocks(numbers, num_blocks, sums);
}

}  // namespace internal

// The sum of `size` numbers, of which there may be none.
template <typename Sum, typename Number>
Sum pairwise_sum(Executor& executor, const Number* numbers, int64_t size) {
  const int64_t num_whole = size / kSumBlock, num_rest = size % kSumBlock;
  const int64_t num_blocks = num_whole + (num_rest != 0);
  int64_t num_sums = 1;
  while (num_sums < num_blocks) num_sums *= 2;
  std::vector<Sum> sums(num_sums, Sum{0});
  const Chunks chunks(num_whole, 64, executor.num_threads());
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    const int64_t begin = chunks.begin(chunk);
    internal::sum_blocks(numbers + begin * kSumBlock, chunks.end(chunk) - begin,
                         sums.data() + begin);
  });
  if (num_rest != 0) {
    Number rest[kSumBlock] = {};
    std::copy_n(numbers + num_whole * kSumBlock, num_rest, rest);
    internal::sum_blocks(rest, 1, sums.data() + num_whole);
  }
  const Sum sum = internal::halve_to_one(sums.data(), num_sums);
  // Zeros and NaNs have no sign, which would be that of the last ones to be added.
  if (sum == Sum{0}) return Sum{0};
  return sum == sum ? sum : std::numeric_limits<Sum>::quiet_NaN();
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_PAIRWISE_SUM_H_
