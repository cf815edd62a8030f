// SPDX-License-Identifier: Apache-2.0
// The first rows in the order of words of 32 bits, on a GPU.
#ifndef JAXFRAMES_KERNELS_SORT_CUDA_TOP_K_H_
#define JAXFRAMES_KERNELS_SORT_CUDA_TOP_K_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/cuda_scratch.h"
#include "sort/cuda_radix_sort.h"

namespace jaxframes {

struct CudaTopK {
  const uint32_t* words;
  bool is_floating;
  uint32_t flip;
  const int32_t* num_valid;
  int32_t* row_ids;
  int64_t batch;
  int64_t num_rows;
  int64_t k;
};

// Numbers of a word and its row, before and after they are sorted.
struct CudaTopKMemory {
  uint64_t* selected;
  uint64_t* sorted;
  CudaSortMemory sort;
  char* cub;
  int64_t cub_bytes;

  static CudaTopKMemory take(CudaScratch& scratch, int64_t num_rows, int64_t k) {
    CudaTopKMemory memory;
    memory.selected = scratch.take<uint64_t>(k);
    memory.sorted = scratch.take<uint64_t>(k);
    memory.sort = CudaSortMemory::take(scratch, k, 8, 0);
    // CUB buffers one in 128 candidates, twice, and counts digits of up to 12 bits.
    memory.cub_bytes = num_rows / 4 + (int64_t{1} << 17);
    memory.cub = scratch.take<char>(memory.cub_bytes);
    return memory;
  }
};

// Bytes of scratch for one row of a batch.
inline int64_t cuda_top_k_scratch_bytes(int64_t num_rows, int64_t k) {
  CudaScratch scratch;
  CudaTopKMemory::take(scratch, num_rows, k);
  return scratch.bytes();
}

cudaError_t cuda_top_k(const CudaTopK& call, void* scratch, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_CUDA_TOP_K_H_
