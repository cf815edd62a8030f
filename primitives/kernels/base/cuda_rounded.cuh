// SPDX-License-Identifier: Apache-2.0
#ifndef JAXFRAMES_KERNELS_BASE_CUDA_ROUNDED_CUH_
#define JAXFRAMES_KERNELS_BASE_CUDA_ROUNDED_CUH_

namespace jaxframes {

// A product that no addition takes into a fused operation, which would not round it.
inline __device__ float rounded_product(float left, float right) { return __fmul_rn(left, right); }
inline __device__ double rounded_product(double left, double right) {
  return __dmul_rn(left, right);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_BASE_CUDA_ROUNDED_CUH_
