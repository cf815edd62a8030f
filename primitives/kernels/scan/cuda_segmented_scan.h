// SPDX-License-Identifier: Apache-2.0
// Scans by a named operator on a GPU that restart at heads.
#ifndef JAXFRAMES_KERNELS_SCAN_CUDA_SEGMENTED_SCAN_H_
#define JAXFRAMES_KERNELS_SCAN_CUDA_SEGMENTED_SCAN_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "scan/cuda_scan_tiles.h"

namespace jaxframes {

// The numbers are those of `_segmented_scan.py`.
enum class ScanOperator : int32_t { kAdd, kMul, kMin, kMax };
enum class ScanNumber { kU32, kS32, kF32, kU64, kS64, kF64 };

// One row of heads and one number of valid rows serve `width` rows of values.
struct CudaSegmentedScan {
  ScanNumber number;
  ScanOperator op;
  bool reverse;
  bool exclusive;
  int64_t batch;
  int64_t num_rows;
  int64_t width;
  const void* values;
  const uint8_t* heads;  // null without heads
  const int32_t* num_valid;
  void* results;
};

inline int64_t cuda_segmented_scan_scratch_bytes(int64_t num_values, int64_t number_bytes) {
  return number_bytes == 8 ? scan_scratch_bytes<uint64_t>(num_values)
                           : scan_scratch_bytes<uint32_t>(num_values);
}

cudaError_t cuda_segmented_scan(const CudaSegmentedScan& scan, void* scratch, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_CUDA_SEGMENTED_SCAN_H_
