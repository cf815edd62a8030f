// SPDX-License-Identifier: Apache-2.0
// Stable merges of two sorted columns of words, and searches in one, on a GPU.
#ifndef JAXFRAMES_KERNELS_SORT_CUDA_MERGE_H_
#define JAXFRAMES_KERNELS_SORT_CUDA_MERGE_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace jaxframes {

// The padding of a, then that of b, comes last. Equal words of a precede those of b.
struct CudaMerge {
  int word_bytes;
  bool is_floating;
  uint64_t flip;
  int64_t batch;
  int64_t num_a;  // with padding
  int64_t num_b;
  const void* a;
  const void* b;
  const int32_t* valid_a;
  const int32_t* valid_b;
  void* merged;        // null if nobody wants it
  int32_t* positions;  // in a and then b; null if nobody wants them

  int64_t num_rows() const { return num_a + num_b; }
};

// For each query the number of valid words that are less than it, or not greater.
struct CudaSearch {
  int word_bytes;
  bool counts_equal;
  int64_t batch;
  int64_t num_words;
  int64_t num_queries;
  const void* words;  // ascending as unsigned integers
  const void* queries;
  const int32_t* num_valid;
  int32_t* positions;
};

cudaError_t cuda_merge(const CudaMerge& call, cudaStream_t stream);
cudaError_t cuda_search(const CudaSearch& call, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_CUDA_MERGE_H_
