// SPDX-License-Identifier: Apache-2.0
// Stable selection by a mask on a GPU.
#ifndef JAXFRAMES_KERNELS_MOVE_CUDA_COMPACT_H_
#define JAXFRAMES_KERNELS_MOVE_CUDA_COMPACT_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "move/kept_words.h"

namespace jaxframes {

struct CudaFlags {
  const uint8_t* mask;
  int64_t batch;
  int64_t num_rows;
};

// Counts the flags of valid rows, and those before each chunk.
cudaError_t cuda_count_flags(const CudaFlags& flags, const int32_t* num_valid, int32_t* before,
                             int32_t* count, cudaStream_t stream);

// Moves the words of flagged rows to the front of all results in one pass over the mask.
cudaError_t cuda_compact(const CudaFlags& flags, const int32_t* before, const int32_t* count,
                         const std::vector<KeptWords>& kept, int64_t capacity,
                         cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_MOVE_CUDA_COMPACT_H_
