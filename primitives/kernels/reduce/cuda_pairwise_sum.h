// SPDX-License-Identifier: Apache-2.0
// Sums of floats, and of their squared distances, on a GPU, in the order of `pairwise_sum.h`.
#ifndef JAXFRAMES_KERNELS_REDUCE_CUDA_PAIRWISE_SUM_H_
#define JAXFRAMES_KERNELS_REDUCE_CUDA_PAIRWISE_SUM_H_

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>

#include "base/cuda_scratch.h"

namespace jaxframes {

// `centers` is null for sums of the numbers themselves. Sums are no narrower than numbers.
struct CudaPairwiseSum {
  const void* numbers;
  const int32_t* num_valid;
  const void* centers;
  bool skips_nan;
  void* sums;
  int number_bytes;
  int sum_bytes;
  int64_t batch;
  int64_t num_rows;
};

// How the sums of blocks are combined. The second half of the sums is added to the first until one
// is left, so the parts of a tile lie far apart: a tile halves its own sums to one.
struct SumTiles {
  static constexpr int64_t kRows = 64, kLanes = 16, kBlock = kRows * kLanes, kBlocksOfTile = 16;

  int64_t num_blocks;
  // A power of two. Tile i has the blocks i, i + num_tiles, i + 2 num_tiles, and so on.
  int64_t num_tiles;

  static SumTiles of(int64_t num_rows) {
    SumTiles tiles{(num_rows + kBlock - 1) / kBlock, 1};
    while (tiles.num_tiles * kBlocksOfTile < tiles.num_blocks) tiles.num_tiles *= 2;
    return tiles;
  }
};

template <typename Sum>
struct PairwiseSumMemory {
  Sum* sums;
  Sum* rests;

  static PairwiseSumMemory take(CudaScratch& scratch, int64_t num_rows) {
    const int64_t num_tiles = SumTiles::of(num_rows).num_tiles;
    PairwiseSumMemory memory;
    memory.sums = scratch.take<Sum>(num_tiles);
    memory.rests = scratch.take<Sum>(num_tiles);
    return memory;
  }
};

// Bytes of scratch for one row of a batch.
inline int64_t cuda_pairwise_sum_scratch_bytes(int64_t num_rows, int sum_bytes) {
  CudaScratch scratch;
  if (sum_bytes == 8) {
    PairwiseSumMemory<double>::take(scratch, num_rows);
  } else {
    PairwiseSumMemory<float>::take(scratch, num_rows);
  }
  return scratch.bytes();
}

cudaError_t cuda_pairwise_sum(const CudaPairwiseSum& call, void* scratch, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_CUDA_PAIRWISE_SUM_H_
