// SPDX-License-Identifier: Apache-2.0
// Repeats rows, each a number of times, on a GPU.
#ifndef JAXFRAMES_KERNELS_MOVE_CUDA_REPEAT_ROWS_H_
#define JAXFRAMES_KERNELS_MOVE_CUDA_REPEAT_ROWS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/cuda_scratch.h"
#include "scan/cuda_scan_tiles.h"

namespace jaxframes {

// A negative number of copies counts as zero, and so does that of a row that is not valid.
struct CudaRepeatRows {
  int64_t batch;
  int64_t num_rows;
  int64_t capacity;
  const int32_t* repeats;
  const int32_t* num_valid;
  int32_t* row_ids;  // -1 past the last copy
  int32_t* copies;   // zero past the last copy
  int32_t* count;  // saturates at the greatest integer
};

// A row of the batch is repeated in this memory, which the next one takes again. What must be zero
// before comes first: the flags of two scans, and the marks.
struct RepeatScratch {
  using Tiles = ScanTiles<uint64_t>;

  uint64_t* zeros;
  int64_t num_zero_bytes;
  int32_t* marks;
  Tiles of_rows;
  Tiles of_marks;

  static RepeatScratch take(CudaScratch& scratch, int64_t num_rows, int64_t capacity) {
    RepeatScratch memory;
    memory.zeros = scratch.take<uint64_t>(Tiles::num_flags(num_rows));
    uint64_t* const flags_of_marks = scratch.take<uint64_t>(Tiles::num_flags(capacity));
    memory.marks = scratch.take<int32_t>(capacity);
    memory.num_zero_bytes = scratch.bytes();
    memory.of_rows = Tiles::with_flags(memory.zeros, scratch, num_rows);
    memory.of_marks = Tiles::with_flags(flags_of_marks, scratch, capacity);
    return memory;
  }
};

inline int64_t cuda_repeat_rows_scratch_bytes(int64_t num_rows, int64_t capacity) {
  CudaScratch scratch;
  RepeatScratch::take(scratch, num_rows, capacity);
  return scratch.bytes();
}

cudaError_t cuda_repeat_rows(const CudaRepeatRows& call, void* scratch, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_MOVE_CUDA_REPEAT_ROWS_H_
