// SPDX-License-Identifier: Apache-2.0
// The stable order of rows by bucket on a GPU, for few buckets.
#ifndef JAXFRAMES_KERNELS_SORT_CUDA_BUCKET_ORDER_H_
#define JAXFRAMES_KERNELS_SORT_CUDA_BUCKET_ORDER_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/cuda_scratch.h"
#include "base/host_device.h"
#include "scan/cuda_scan_tiles.h"

namespace jaxframes {

// One more digit stands for the rows without a bucket, which come last.
inline constexpr int64_t kMostBuckets = 511;
inline constexpr int64_t kBucketTile = 4096;

struct CudaBucketOrder {
  const uint32_t* ids;
  const int32_t* num_valid;
  int32_t* order;
  int32_t* inverse;  // null if nobody wants it
  int32_t* offsets;
  int64_t batch;
  int64_t num_rows;
  int64_t num_buckets;

  JAXFRAMES_HOST_DEVICE int64_t num_digits() const { return num_buckets + 1; }
  JAXFRAMES_HOST_DEVICE int64_t num_tiles() const { return (num_rows + kBucketTile - 1) / kBucketTile; }
  int64_t num_counts() const { return batch * num_digits() * num_tiles(); }
};

// The rows of each digit in each tile, and the first position of each; digit after digit, with the
// tiles of one digit in a row.
struct CudaBucketMemory {
  uint32_t* counts;
  uint32_t* starts;

  static CudaBucketMemory take(CudaScratch& scratch, int64_t num_counts) {
    return {scratch.take<uint32_t>(num_counts), scratch.take<uint32_t>(num_counts)};
  }
};

// Bytes of scratch for one row of a batch.
inline int64_t cuda_bucket_order_scratch_bytes(int64_t num_rows, int64_t num_buckets) {
  const CudaBucketOrder one{nullptr, nullptr, nullptr, nullptr, nullptr, 1, num_rows, num_buckets};
  CudaScratch scratch;
  CudaBucketMemory::take(scratch, one.num_counts());
  ScanTiles<uint32_t>::take(scratch, one.num_counts());
  return scratch.bytes();
}

cudaError_t cuda_bucket_order(const CudaBucketOrder& call, void* scratch, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_CUDA_BUCKET_ORDER_H_
