// SPDX-License-Identifier: Apache-2.0
// One result for each run of adjacent rows, on a GPU.
#ifndef JAXFRAMES_KERNELS_SCAN_CUDA_REDUCE_RUNS_H_
#define JAXFRAMES_KERNELS_SCAN_CUDA_REDUCE_RUNS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "scan/cuda_segmented_scan.h"

namespace jaxframes {

// A run begins at each head, and ends at the next one or with the valid rows.
struct CudaRunReduction {
  ScanNumber number;
  ScanOperator op;
  int64_t batch;
  int64_t num_rows;
  int64_t num_segments;
  const void* values;
  const uint8_t* heads;
  const int32_t* num_valid;
  void* results;
};

// The combined rows since the last head, and the number of heads up to here.
template <typename T>
struct RunState {
  T value;
  uint32_t run;
};

// Rows of a batch are reduced one after the other, in the same memory.
inline int64_t cuda_reduce_runs_scratch_bytes(int64_t num_rows, int64_t number_bytes) {
  return number_bytes == 8 ? scan_scratch_bytes<RunState<uint64_t>>(num_rows)
                           : scan_scratch_bytes<RunState<uint32_t>>(num_rows);
}

// Runs from `num_segments` on are left out, and results past the last run are not written.
cudaError_t cuda_reduce_runs(const CudaRunReduction& call, void* scratch, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_CUDA_REDUCE_RUNS_H_
