// SPDX-License-Identifier: Apache-2.0
// One result for each run of adjacent rows, on a GPU.
#ifndef JAXFRAMES_KERNELS_SCAN_CUDA_REDUCE_BY_KEY_H_
#define JAXFRAMES_KERNELS_SCAN_CUDA_REDUCE_BY_KEY_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "move/kept_words.h"
#include "scan/cuda_segmented_scan.h"

namespace jaxframes {

// Columns whose first row of each run is kept.
struct RunColumns {
  static constexpr int kMost = 8;
  KeptWords words[kMost];
  int count;
};

// A run begins at each head, and ends at the next one or with the valid rows. Without heads it
// begins where the words of the first column, of 4 or 8 bytes, differ from those before. A column
// without a place to go is only compared. The run of a row, or -1, is written at its position, or
// at its row id if there are such ids.
struct CudaReduceByKey {
  ScanNumber number;
  ScanOperator op;
  int64_t batch;
  int64_t num_rows;
  int64_t capacity;  // at most `num_rows`
  const void* values;  // null to count the rows of each run
  const uint8_t* heads;
  const int32_t* num_valid;
  const int32_t* row_ids;  // null for the positions; others than rows are left out
  RunColumns columns;
  void* results;  // null if nothing is reduced
  int32_t* count;
  int32_t* run_ids;  // null if nobody asks for them
};

// The combined rows since the last head, and the number of heads up to here.
template <typename T>
struct RunState {
  T value;
  uint32_t run;
};

// Rows of a batch are reduced one after the other, in the same memory. `number_bytes` is zero if
// nothing is reduced.
inline int64_t cuda_reduce_by_key_scratch_bytes(int64_t num_rows, int64_t number_bytes) {
  return number_bytes == 8   ? scan_scratch_bytes<RunState<uint64_t>>(num_rows)
         : number_bytes == 4 ? scan_scratch_bytes<RunState<uint32_t>>(num_rows)
                             : scan_scratch_bytes<uint32_t>(num_rows);
}

// Results are zero past the last run. The count of runs may exceed the capacity.
cudaError_t cuda_reduce_by_key(const CudaReduceByKey& call, void* scratch, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_CUDA_REDUCE_BY_KEY_H_
