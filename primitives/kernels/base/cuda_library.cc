// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "base/cuda_target.h"

// Version of the targets' signatures, for the loader to check.
extern "C" JAXFRAMES_EXPORT int32_t jaxframes_cuda_kernels_abi_version() { return 4; }

// Whether a driver is there that cannot run what this version of CUDA compiles. Without one the
// targets can still be compiled into programs.
extern "C" JAXFRAMES_EXPORT int32_t jaxframes_cuda_driver_is_too_old() {
  int version = 0;
  if (cudaDriverGetVersion(&version) != cudaSuccess) return 0;
  return version != 0 && version / 1000 < CUDART_VERSION / 1000;
}
