// SPDX-License-Identifier: Apache-2.0
// What the statistics of segments combine, and what they make of the results.
#ifndef JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_STATISTIC_CUH_
#define JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_STATISTIC_CUH_

#include <cstdint>
#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "base/cuda_rounded.cuh"

namespace jaxframes {

struct Times {
  template <typename Number>
  static __device__ Number nothing() { return 1; }
  template <typename Number>
  static __device__ Number combine(Number left, Number right) { return left * right; }
};

// NaN is greater than every number.
struct Greatest {
  template <typename Number>
  static __device__ Number nothing() { return -cuda::std::numeric_limits<Number>::infinity(); }
  template <typename Number>
  static __device__ Number combine(Number left, Number right) {
    return left > right || left != left ? left : right;
  }
};

template <typename Number>
struct SquaredDistance {
  const Number* centers;
  __device__ Number operator()(Number number, uint32_t segment) const {
    const Number distance = number - centers[segment];
    return rounded_product(distance, distance);
  }
};

template <typename Number>
struct Exponential {
  const Number* centers;
  __device__ Number operator()(Number number, uint32_t segment) const {
    return cuda::std::exp(number - centers[segment]);
  }
};

// NaN for a count that is not positive.
template <typename Number>
__device__ Number quotient(Number total, Number count) {
  return count > 0 ? total / count : cuda::std::numeric_limits<Number>::quiet_NaN();
}

// What finishes a table, called for each segment.

template <typename Number>
struct StoreResult {
  Number* results;
  __device__ void operator()(int64_t segment, Number result, int32_t) const {
    results[segment] = result;
  }
};

template <typename Number>
struct StoreMean {
  Number* means;
  int32_t* counts;
  __device__ void operator()(int64_t segment, Number total, int32_t count) const {
    means[segment] = quotient(total, static_cast<Number>(count));
    counts[segment] = count;
  }
};

template <typename Number>
struct StoreGreatest {
  Number* maxima;
  __device__ void operator()(int64_t segment, Number greatest, int32_t) const {
    maxima[segment] = cuda::std::isfinite(greatest) ? greatest : Number{0};
  }
};

template <typename Number>
struct StoreSpread {
  Number* results;
  const int32_t* counts;
  Number ddof;
  bool is_root;
  __device__ void operator()(int64_t segment, Number squares, int32_t) const {
    const Number variance = quotient(squares, static_cast<Number>(counts[segment]) - ddof);
    results[segment] = is_root ? cuda::std::sqrt(variance) : variance;
  }
};

template <typename Number>
struct StoreLogarithm {
  Number* results;
  const Number* centers;
  __device__ void operator()(int64_t segment, Number total, int32_t) const {
    results[segment] = total == 0 ? -cuda::std::numeric_limits<Number>::infinity()
                                  : cuda::std::log(total) + centers[segment];
  }
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_STATISTIC_CUH_
