// SPDX-License-Identifier: Apache-2.0
// Sums of floats by segment on a GPU, with the same bits in every run and on every card.
#ifndef JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_SUM_H_
#define JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_SUM_H_

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "base/cuda_scratch.h"
#include "scan/cuda_scan_tiles.h"
#include "sort/cuda_radix_sort.h"

namespace jaxframes {

enum class SegmentId { kS32, kU32, kS64, kU64 };

struct CudaSegmentSum {
  SegmentId id_type;
  const void* ids;
  const void* first_id;
  const int32_t* num_valid;
  const void* numbers;
  void* sums;
  int number_bytes;
  int64_t batch;
  int64_t num_rows;
  int64_t num_segments;
};

// Up to so many segments each warp has a table of its own in shared memory; more are sorted.
inline constexpr int64_t kMostTableSegments = 2048;
inline constexpr int kMostTableWarps = 8;
inline constexpr int64_t kTableBytes = int64_t{1} << 16;

// How rows are divided; it depends on their number alone, and so do the bits of the sums.
struct TableBlocks {
  int num_warps;
  int64_t rows_of_warp;
  int64_t num_blocks;

  static TableBlocks of(int64_t num_rows, int64_t num_segments, int number_bytes) {
    constexpr int64_t kMostBlocks = 1024, kLeastRows = 512;
    const int64_t table = std::max<int64_t>(num_segments, 1) * number_bytes;
    TableBlocks blocks;
    blocks.num_warps =
        static_cast<int>(std::clamp<int64_t>(kTableBytes / table, 1, kMostTableWarps));
    const int64_t warps = kMostBlocks * blocks.num_warps;
    const int64_t rows = std::max<int64_t>((num_rows + warps - 1) / warps, kLeastRows);
    blocks.rows_of_warp = (rows + 127) / 128 * 128;
    const int64_t rows_of_block = blocks.rows_of_warp * blocks.num_warps;
    blocks.num_blocks = (num_rows + rows_of_block - 1) / rows_of_block;
    return blocks;
  }
};

struct SortedSegments {
  uint32_t* segments;
  uint32_t* sorted_segments;
  char* sorted_numbers;
  CudaSortMemory sort;

  static SortedSegments take(CudaScratch& scratch, int64_t num_rows, int number_bytes) {
    SortedSegments memory;
    memory.segments = scratch.take<uint32_t>(num_rows);
    memory.sorted_segments = scratch.take<uint32_t>(num_rows);
    memory.sorted_numbers = scratch.take<char>(num_rows * number_bytes);
    memory.sort = CudaSortMemory::take(scratch, num_rows, 4, number_bytes);
    return memory;
  }
};

// Bytes of scratch for one row of a batch.
inline int64_t cuda_segment_sum_scratch_bytes(int64_t num_rows, int64_t num_segments,
                                              int number_bytes) {
  CudaScratch scratch;
  if (num_segments <= kMostTableSegments) {
    const auto blocks = TableBlocks::of(num_rows, num_segments, number_bytes);
    scratch.take<char>(blocks.num_blocks * num_segments * number_bytes);
  } else {
    SortedSegments::take(scratch, num_rows, number_bytes);
    if (number_bytes == 8) {
      ScanTiles<double>::take(scratch, num_rows);
    } else {
      ScanTiles<float>::take(scratch, num_rows);
    }
  }
  return scratch.bytes();
}

cudaError_t cuda_segment_sum(const CudaSegmentSum& call, void* scratch, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_SUM_H_
