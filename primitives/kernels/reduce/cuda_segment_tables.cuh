// SPDX-License-Identifier: Apache-2.0
// Sums of few segments: each warp adds its rows to a table in shared memory, 32 at a time in the
// order of the rows. Rows of one segment among the 32 are first added up by a tree over their
// lanes. The tables of the warps of a block, and then those of the blocks, are added in their
// order. So the order of the additions depends on the positions of the rows alone.
#ifndef JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_TABLES_CUH_
#define JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_TABLES_CUH_

#include <cstdint>

#include "base/cuda_rows.cuh"
#include "reduce/cuda_segment_sum.h"

namespace jaxframes {

// The segment of each row; kNoSegment for padding and for ids out of range.
template <typename Id>
struct SegmentsOnGpu {
  static constexpr uint32_t kNoSegment = 0xFFFFFFFFu;

  const Id* ids;
  const Id* first_id;
  const int32_t* num_valid;
  int64_t num_rows;
  uint64_t num_segments;

  __device__ uint32_t operator()(int64_t row, int64_t valid, Id first) const {
    if (row >= valid) return kNoSegment;
    const Id id = ids[row];
    // The distance may wrap around, but not from an id that is not below the first.
    const uint64_t distance = static_cast<uint64_t>(id) - static_cast<uint64_t>(first);
    return id >= first && distance < num_segments ? static_cast<uint32_t>(distance) : kNoSegment;
  }
  __device__ int64_t valid() const { return count_on_gpu(num_valid, 0, num_rows); }
};

// Adds up the numbers of lanes with one segment; the lowest of them gets the sum.
template <typename Number>
__device__ Number add_peers(unsigned peers, Number number) {
  constexpr unsigned kAll = 0xFFFFFFFFu;
  const int lane = threadIdx.x % 32;
  int rank = __popc(peers & ((1u << lane) - 1));
  unsigned later = peers & (0xFFFFFFFEu << lane);
  // In each round a lane adds the next one of those that are left, and every second one drops out.
  while (__any_sync(kAll, later != 0)) {
    const int next = __ffs(static_cast<int>(later));
    const Number other = __shfl_sync(kAll, number, next == 0 ? lane : next - 1);
    if (next != 0) number += other;
    const unsigned left = __ballot_sync(kAll, (rank & 1) == 0);
    later &= left;
    rank >>= 1;
  }
  return number;
}

template <typename Id, typename Number>
__global__ void add_to_tables(const SegmentsOnGpu<Id> segments, const Number* numbers,
                              int64_t rows_of_warp, Number* partial) {
  constexpr unsigned kAll = 0xFFFFFFFFu;
  constexpr int kAhead = 4;
  extern __shared__ __align__(16) unsigned char shared[];
  Number* const tables = reinterpret_cast<Number*>(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
  const int num_segments = static_cast<int>(segments.num_segments);
  for (int i = threadIdx.x; i < num_warps * num_segments; i += blockDim.x) tables[i] = 0;
  __syncthreads();

  Number* const table = tables + warp * num_segments;
  const int64_t begin = (static_cast<int64_t>(blockIdx.x) * num_warps + warp) * rows_of_warp;
  const int64_t valid = segments.valid(), end = min(begin + rows_of_warp, valid);
  const Id first_id = *segments.first_id;
  for (int64_t first = begin; first < end; first += 32 * kAhead) {
    uint32_t segment[kAhead];
    Number number[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int64_t row = first + i * 32 + lane;
      segment[i] = segments(row, end, first_id);
      number[i] = row < end ? numbers[row] : Number{0};
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const unsigned peers = __match_any_sync(kAll, segment[i]);
      const Number sum = add_peers(peers, number[i]);
      const bool is_lowest = (peers & ((1u << lane) - 1)) == 0;
      if (is_lowest && segment[i] != segments.kNoSegment) table[segment[i]] += sum;
      __syncwarp();
    }
  }
  __syncthreads();
  for (int segment = threadIdx.x; segment < num_segments; segment += blockDim.x) {
    Number sum = tables[segment];
    for (int w = 1; w < num_warps; ++w) sum += tables[w * num_segments + segment];
    partial[static_cast<int64_t>(blockIdx.x) * num_segments + segment] = sum;
  }
}

// Adds up the tables of the blocks: eight runs of blocks one by one, and then the eight sums.
template <typename Number>
__global__ void __launch_bounds__(256)
    add_blocks(const Number* partial, int64_t num_blocks, int64_t num_segments, Number* sums) {
  __shared__ Number of_run[8][32];
  const int64_t segment = static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.x;
  const int64_t run = (num_blocks + 7) / 8;
  const int64_t begin = run * threadIdx.y, end = min(begin + run, num_blocks);
  Number sum = 0;
  if (segment < num_segments) {
#pragma unroll 8
    for (int64_t block = begin; block < end; ++block) {
      sum += partial[block * num_segments + segment];
    }
  }
  of_run[threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.y != 0 || segment >= num_segments) return;
  for (int i = 1; i < 8; ++i) sum += of_run[i][threadIdx.x];
  sums[segment] = sum;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_TABLES_CUH_
