// SPDX-License-Identifier: Apache-2.0
// The named operators of scans on a GPU.
#ifndef JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_OPERATORS_CUH_
#define JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_OPERATORS_CUH_

#include <cuda_runtime.h>

#include <cuda/std/limits>
#include <type_traits>

#include "scan/cuda_segmented_scan.h"

namespace jaxframes {

// `nothing` combines with any number to that number; an exclusive scan starts with `identity`.
template <typename T, ScanOperator kOp>
struct CudaOperator;

// -0.0 keeps the bits of the first row, unlike 0.0, which an exclusive scan starts with.
template <typename T>
struct CudaOperator<T, ScanOperator::kAdd> {
  static __device__ T nothing() { return std::is_floating_point_v<T> ? T(-0.0) : T(0); }
  static __device__ T identity() { return 0; }
  static __device__ T combine(T left, T right) { return left + right; }
};

template <typename T>
struct CudaOperator<T, ScanOperator::kMul> {
  static __device__ T nothing() { return 1; }
  static __device__ T identity() { return 1; }
  static __device__ T combine(T left, T right) { return left * right; }
};

// The first of equal numbers wins, and the first NaN.
template <typename T>
struct CudaOperator<T, ScanOperator::kMin> {
  static __device__ T nothing() {
    using Limits = cuda::std::numeric_limits<T>;
    constexpr T greatest = Limits::has_infinity ? Limits::infinity() : Limits::max();
    return greatest;
  }
  static __device__ T identity() { return nothing(); }
  static __device__ T combine(T left, T right) {
    return left <= right || left != left ? left : right;
  }
};

template <typename T>
struct CudaOperator<T, ScanOperator::kMax> {
  static __device__ T nothing() {
    using Limits = cuda::std::numeric_limits<T>;
    constexpr T least = Limits::has_infinity ? -Limits::infinity() : Limits::lowest();
    return least;
  }
  static __device__ T identity() { return nothing(); }
  static __device__ T combine(T left, T right) {
    return left >= right || left != left ? left : right;
  }
};

// Calls run(number, flip) with a number of the type that is scanned. Signed integers are scanned as
// unsigned ones: sums and products wrap around, and for extremes the sign bit is flipped.
template <typename Run>
cudaError_t with_scan_number(ScanNumber number, const Run& run) {
  switch (number) {
    case ScanNumber::kU32: return run(uint32_t{}, uint32_t{0});
    case ScanNumber::kS32: return run(uint32_t{}, uint32_t{1} << 31);
    case ScanNumber::kF32: return run(float{}, 0.0f);
    case ScanNumber::kU64: return run(uint64_t{}, uint64_t{0});
    case ScanNumber::kS64: return run(uint64_t{}, uint64_t{1} << 63);
    default: return run(double{}, 0.0);
  }
}

// Calls run(operator, flip) with the operator as a constant of its type. Sums and products of
// signed integers are those of unsigned ones, so only extremes flip the sign bit.
template <typename T, typename Run>
cudaError_t with_scan_operator(ScanOperator op, T flip, const Run& run) {
  switch (op) {
    case ScanOperator::kAdd:
      return run(std::integral_constant<ScanOperator, ScanOperator::kAdd>{}, T(0));
    case ScanOperator::kMul:
      return run(std::integral_constant<ScanOperator, ScanOperator::kMul>{}, T(0));
    case ScanOperator::kMin:
      return run(std::integral_constant<ScanOperator, ScanOperator::kMin>{}, flip);
    default: return run(std::integral_constant<ScanOperator, ScanOperator::kMax>{}, flip);
  }
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_OPERATORS_CUH_
