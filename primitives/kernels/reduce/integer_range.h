// SPDX-License-Identifier: Apache-2.0
// The smallest and the largest integer, in one pass.
#ifndef JAXFRAMES_KERNELS_REDUCE_INTEGER_RANGE_H_
#define JAXFRAMES_KERNELS_REDUCE_INTEGER_RANGE_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/thread_pool.h"

namespace jaxframes {

template <typename Integer>
struct IntegerRange {
  // The result for no integers.
  Integer least = std::numeric_limits<Integer>::max();
  Integer greatest = std::numeric_limits<Integer>::min();

  void add(Integer integer) {
    least = std::min(least, integer);
    greatest = std::max(greatest, integer);
  }
  void add(const IntegerRange& other) {
    least = std::min(least, other.least);
    greatest = std::max(greatest, other.greatest);
  }
};

namespace internal {

template <typename Integer>
IntegerRange<Integer> range_of(const Integer* integers, int64_t size) {
  // Several interleaved ranges, because each comparison depends on the previous one.
  constexpr int kLanes = 8;
  IntegerRange<Integer> lanes[kLanes];
  int64_t i = 0;
  for (; i + kLanes <= size; i += kLanes) {
    for (int lane = 0; lane < kLanes; ++lane) lanes[lane].add(integers[i + lane]);
  }
  for (; i < size; ++i) lanes[0].add(integers[i]);
  for (int lane = 1; lane < kLanes; ++lane) lanes[0].add(lanes[lane]);
  return lanes[0];
}

}  // namespace internal

template <typename Integer>
IntegerRange<Integer> integer_range(Executor& executor, const Integer* integers, int64_t size) {
  const Chunks chunks(size, 1 << 16, executor.num_threads());
  std::vector<IntegerRange<Integer>> ranges(chunks.count);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    const int64_t begin = chunks.begin(chunk);
    ranges[chunk] = internal::range_of(integers + begin, chunks.end(chunk) - begin);
  });
  IntegerRange<Integer> whole;
  for (const IntegerRange<Integer>& range : ranges) whole.add(range);
  return whole;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_INTEGER_RANGE_H_
