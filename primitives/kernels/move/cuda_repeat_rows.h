// SPDX-License-Identifier: Apache-2.0
// Repeats rows, each a number of times, on a GPU.
#ifndef JAXFRAMES_KERNELS_MOVE_CUDA_REPEAT_ROWS_H_
#define JAXFRAMES_KERNELS_MOVE_CUDA_REPEAT_ROWS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/cuda_scratch.h"
#include "scan/cuda_scan_tiles.h"

namespace jaxframes {

// A negative number of copies counts as zero.
struct CudaRepeatRows {
  int64_t batch;
  int64_t num_rows;
  int64_t capacity;
  const int32_t* repeats;
  int32_t* row_ids;
  int32_t* copies;
  int32_t* count;  // saturates at the greatest integer
};

// A row of the batch is repeated in this memory, which the next one takes again.
struct RepeatScratch {
  int32_t* marks;
  void* tiles;

  static RepeatScratch take(CudaScratch& scratch, int64_t num_rows, int64_t capacity) {
    int32_t* const marks = scratch.take<int32_t>(capacity);
    const int64_t rows = num_rows < capacity ? capacity : num_rows;
    return {marks, scratch.take<char>(scan_scratch_bytes<uint64_t>(rows))};
  }
};

inline int64_t cuda_repeat_rows_scratch_bytes(int64_t num_rows, int64_t capacity) {
  CudaScratch scratch;
  RepeatScratch::take(scratch, num_rows, capacity);
  return scratch.bytes();
}

// Positions past the last copy hold any row and any number.
cudaError_t cuda_repeat_rows(const CudaRepeatRows& call, void* scratch, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_MOVE_CUDA_REPEAT_ROWS_H_
