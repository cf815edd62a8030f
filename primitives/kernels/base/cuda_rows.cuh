// SPDX-License-Identifier: Apache-2.0
// Loops over rows on a GPU.
#ifndef JAXFRAMES_KERNELS_BASE_CUDA_ROWS_CUH_
#define JAXFRAMES_KERNELS_BASE_CUDA_ROWS_CUH_

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#define JAXFRAMES_RETURN_IF_FAILED(call) \
  if (const cudaError_t status = (call); status != cudaSuccess) return status

namespace jaxframes {

// A grid has at most so many rows of blocks.
inline constexpr int64_t kMostLines = 65535;

namespace internal {

inline constexpr int kRowThreads = 256;
// Independent loads in flight hide the latency of memory.
inline constexpr int kRowsPerThread = 4;

template <typename Function>
__global__ void __launch_bounds__(kRowThreads) visit_rows(int64_t num_rows, Function function) {
  const int64_t first =
      static_cast<int64_t>(blockIdx.x) * kRowThreads * kRowsPerThread + threadIdx.x;
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    const int64_t row = first + i * kRowThreads;
    if (row < num_rows) function(row);
  }
}

}  // namespace internal

// Calls a function of the device with each row, in any order.
template <typename Function>
cudaError_t for_each_row_on_gpu(int64_t num_rows, const Function& function, cudaStream_t stream) {
  if (num_rows == 0) return cudaSuccess;
  constexpr int64_t kBlockRows = int64_t{internal::kRowThreads} * internal::kRowsPerThread;
  const int64_t num_blocks = (num_rows + kBlockRows - 1) / kBlockRows;
  internal::visit_rows<<<static_cast<unsigned>(num_blocks), internal::kRowThreads, 0, stream>>>(
      num_rows, function);
  return cudaGetLastError();
}

// The count of one row of the batch, clamped, because data may exceed the number of rows.
__device__ inline int64_t count_on_gpu(const int32_t* counts, int64_t line, int64_t most) {
  const int64_t count = counts[line];
  return count < 0 ? 0 : count < most ? count : most;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_BASE_CUDA_ROWS_CUH_
