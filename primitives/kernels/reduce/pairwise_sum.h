// SPDX-License-Identifier: Apache-2.0
// Sums of floats, and of their squared distances, in an order that depends only on their number,
// with what their additions round away.
#ifndef JAXFRAMES_KERNELS_REDUCE_PAIRWISE_SUM_H_
#define JAXFRAMES_KERNELS_REDUCE_PAIRWISE_SUM_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/compensated_sum.h"
#include "base/thread_pool.h"
#include "base/vector_unit.h"

namespace jaxframes {

// A block is a matrix of numbers in row-major order. Its rows are added in sequence. The resulting
// row is halved until one number is left: the second half is added to the first. The sums of the
// blocks, padded with zeros to a power of two, are halved in the same way. Each sum has a rest.
constexpr int64_t kSumRows = 64, kSumLanes = 16, kSumBlock = kSumRows * kSumLanes;

namespace internal {

// Adds `size` sums, a power of two, and their rests, in place: the results are the first ones.
template <typename Sum>
JAXFRAMES_ALWAYS_INLINE void halve_to_one(Sum* sums, Sum* rests, int64_t size) {
  for (int64_t half = size / 2; half > 0; half /= 2) {
    for (int64_t i = 0; i < half; ++i) {
      rests[i] += rests[half + i];
      add_compensated(sums[i], rests[i], sums[half + i]);
    }
  }
}

// A number as it is.
template <typename Sum>
struct Itself {
  template <typename Number>
  Sum operator()(Number number) const {
    return static_cast<Sum>(number);
  }
};

// The squared distance of a number from a center; zero for NaN if those are skipped.
template <typename Sum, bool kSkipsNan>
struct SquaredDistance {
  Sum center;
  template <typename Number>
  Sum operator()(Number number) const {
    const Sum distance = static_cast<Sum>(number) - center;
    return kSkipsNan && number != number ? Sum{0} : distance * distance;
  }
};

// The sum of a term of each number, and its rest, for each block.
struct AddBlocks {
  template <typename Number, typename Sum, typename Term>
  JAXFRAMES_ALWAYS_INLINE static void run(const Number* numbers, int64_t num_blocks, Term term,
                                          Sum* sums, Sum* rests) {
    // Named vectors: compilers take some of so many lanes one by one.
    using Vector = Lanes32<Sum>;
    constexpr int64_t kVectorLanes = 32 / sizeof(Sum), kVectors = kSumLanes / kVectorLanes;
    // The hardware prefetcher does not look far enough ahead. Addresses past the last number are
    // invalid, but may be prefetched.
    constexpr int64_t kAheadBytes = 4 * kSumBlock * static_cast<int64_t>(sizeof(Number));
    for (int64_t block = 0; block < num_blocks; ++block) {
      Sum terms[kSumLanes];
      for (int64_t i = 0; i < kSumLanes; ++i) terms[i] = term(numbers[i]);
      Vector lanes[kVectors], rest[kVectors] = {};
      std::memcpy(lanes, terms, sizeof(lanes));
      for (int64_t row = 1; row < kSumRows; ++row) {
        const Number* next = numbers + row * kSumLanes;
        const auto ahead = reinterpret_cast<uintptr_t>(next) + kAheadBytes;
        __builtin_prefetch(reinterpret_cast<const void*>(ahead));
        for (int64_t i = 0; i < kSumLanes; ++i) terms[i] = term(next[i]);
        for (int64_t i = 0; i < kVectors; ++i) {
          Vector vector;
          std::memcpy(&vector, terms + i * kVectorLanes, sizeof(vector));
          add_compensated(lanes[i], rest[i], vector);
        }
      }
      Sum block_sums[kSumLanes], block_rests[kSumLanes];
      std::memcpy(block_sums, lanes, sizeof(lanes));
      std::memcpy(block_rests, rest, sizeof(rest));
      halve_to_one(block_sums, block_rests, kSumLanes);
      sums[block] = block_sums[0];
      rests[block] = block_rests[0];
      numbers += kSumBlock;
    }
  }
};

}  // namespace internal

// The sum of a term of each of `size` numbers, possibly zero.
template <typename Sum, typename Number, typename Term = internal::Itself<Sum>>
Sum pairwise_sum(Executor& executor, const Number* numbers, int64_t size, Term term = {}) {
  const int64_t num_whole = size / kSumBlock, num_rest = size % kSumBlock;
  const int64_t num_blocks = num_whole + (num_rest != 0);
  int64_t num_sums = 1;
  while (num_sums < num_blocks) num_sums *= 2;
  std::vector<Sum> sums(num_sums, Sum{0}), rests(num_sums, Sum{0});
  const Chunks chunks(num_whole, 64, executor.num_threads());
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    const int64_t begin = chunks.begin(chunk);
    run_with_widest_vectors<internal::AddBlocks>(numbers + begin * kSumBlock, chunks.end(chunk) - begin, term,
                         sums.data() + begin, rests.data() + begin);
  });
  if (num_rest != 0) {
    // The terms themselves: that of a missing number need not be zero.
    Sum rest[kSumBlock] = {};
    std::transform(numbers + num_whole * kSumBlock, numbers + size, rest, term);
    run_with_widest_vectors<internal::AddBlocks>(rest, 1, internal::Itself<Sum>{}, sums.data() + num_whole,
                         rests.data() + num_whole);
  }
  internal::halve_to_one(sums.data(), rests.data(), num_sums);
  const Sum sum = rounded_sum(sums[0], rests[0]);
  // Zeros and NaNs lose their sign, which would depend on the last addition.
  if (sum == Sum{0}) return Sum{0};
  return sum == sum ? sum : std::numeric_limits<Sum>::quiet_NaN();
}

// The sum of the squared distances of `size` numbers from a center, possibly zero.
template <typename Sum, typename Number>
Sum sum_of_squared_distances(Executor& executor, const Number* numbers, int64_t size, Sum center,
                             bool skips_nan) {
  if (skips_nan) {
    return pairwise_sum<Sum>(executor, numbers, size, internal::SquaredDistance<Sum, true>{center});
  }
  return pairwise_sum<Sum>(executor, numbers, size, internal::SquaredDistance<Sum, false>{center});
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_PAIRWISE_SUM_H_
