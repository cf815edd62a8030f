// SPDX-License-Identifier: Apache-2.0
// Reductions of few segments: each warp combines its rows with a table in shared memory, 32 at a
// time in the order of the rows. Rows of one segment among the 32 are first combined by a tree over
// their lanes. The tables of the warps of a block, and then those of the blocks, are combined in
// their order. So the order of the operations depends on the positions of the rows alone.
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
  __device__ int64_t valid() const {
    return num_valid == nullptr ? num_rows : count_on_gpu(num_valid, 0, num_rows);
  }
  __device__ Id first() const { return first_id == nullptr ? Id{0} : *first_id; }
};

struct Plus {
  template <typename Number>
  static __device__ Number nothing() { return 0; }
  template <typename Number>
  static __device__ Number combine(Number left, Number right) { return left + right; }
};

// A number of each row as it is.
struct NumberItself {
  template <typename Number>
  __device__ Number operator()(Number number, uint32_t) const { return number; }
};

// Combines the numbers of lanes with one segment; the lowest of them gets the result.
template <typename Operator, typename Number>
__device__ Number combine_peers(unsigned peers, Number number) {
  constexpr unsigned kAll = 0xFFFFFFFFu;
  const int lane = threadIdx.x % 32;
  int rank = __popc(peers & ((1u << lane) - 1));
  unsigned later = peers & (0xFFFFFFFEu << lane);
  // In each round a lane takes the next one of those that are left, and every second one drops out.
  while (__any_sync(kAll, later != 0)) {
    const int next = __ffs(static_cast<int>(later));
    const Number other = __shfl_sync(kAll, number, next == 0 ? lane : next - 1);
    if (next != 0) number = Operator::combine(number, other);
    const unsigned left = __ballot_sync(kAll, (rank & 1) == 0);
    later &= left;
    rank >>= 1;
  }
  return number;
}

// The tables of the blocks, in `partial`, and, if they are wanted, the rows of each segment.
// `Operator` combines what `term` makes of the number of a row that has a segment.
template <typename Operator, bool kIsCounted, typename Id, typename Number, typename Term>
__global__ void combine_in_tables(const SegmentsOnGpu<Id> segments, const Number* numbers,
                                  const Term term, int64_t rows_of_warp, Number* partial,
                                  int32_t* partial_counts) {
  constexpr unsigned kAll = 0xFFFFFFFFu;
  constexpr int kAhead = 4;
  extern __shared__ __align__(16) unsigned char shared[];
  Number* const tables = reinterpret_cast<Number*>(shared);
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, num_warps = blockDim.x / 32;
  const int num_segments = static_cast<int>(segments.num_segments);
  const int table_size = num_warps * num_segments;
  // Integers may be added in any order: one table serves the block.
  int* const counts = reinterpret_cast<int*>(tables + table_size);
  for (int i = threadIdx.x; i < table_size; i += blockDim.x) {
    tables[i] = Operator::template nothing<Number>();
  }
  if constexpr (kIsCounted) {
    for (int i = threadIdx.x; i < num_segments; i += blockDim.x) counts[i] = 0;
  }
  __syncthreads();

  Number* const table = tables + warp * num_segments;
  const int64_t begin = (static_cast<int64_t>(blockIdx.x) * num_warps + warp) * rows_of_warp;
  const int64_t valid = segments.valid(), end = min(begin + rows_of_warp, valid);
  const Id first_id = segments.first();
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
      const bool has_segment = segment[i] != segments.kNoSegment;
      const unsigned peers = __match_any_sync(kAll, segment[i]);
      const Number own = has_segment ? term(number[i], segment[i]) : Number{0};
      const Number combined = combine_peers<Operator>(peers, own);
      const bool is_lowest = (peers & ((1u << lane) - 1)) == 0;
      if (is_lowest && has_segment) {
        table[segment[i]] = Operator::combine(table[segment[i]], combined);
        if constexpr (kIsCounted) atomicAdd(counts + segment[i], __popc(peers));
      }
      __syncwarp();
    }
  }
  __syncthreads();
  for (int segment = threadIdx.x; segment < num_segments; segment += blockDim.x) {
    Number result = tables[segment];
    for (int w = 1; w < num_warps; ++w) {
      result = Operator::combine(result, tables[w * num_segments + segment]);
    }
    const int64_t at = static_cast<int64_t>(blockIdx.x) * num_segments + segment;
    partial[at] = result;
    if constexpr (kIsCounted) partial_counts[at] = counts[segment];
  }
}

// Combines the tables of the blocks: eight runs of blocks one by one, and then the eight results.
// Calls finish(segment, result, count).
template <typename Operator, bool kIsCounted, typename Number, typename Finish>
__global__ void __launch_bounds__(256)
    combine_blocks(const Number* partial, const int32_t* partial_counts, int64_t num_blocks,
                   int64_t num_segments, const Finish finish) {
  __shared__ Number of_run[8][32];
  __shared__ int32_t count_of_run[8][32];
  const int64_t segment = static_cast<int64_t>(blockIdx.x) * 32 + threadIdx.x;
  const int64_t run = (num_blocks + 7) / 8;
  const int64_t begin = run * threadIdx.y, end = min(begin + run, num_blocks);
  Number result = Operator::template nothing<Number>();
  int32_t count = 0;
  if (segment < num_segments) {
#pragma unroll 8
    for (int64_t block = begin; block < end; ++block) {
      const int64_t at = block * num_segments + segment;
      result = Operator::combine(result, partial[at]);
      if constexpr (kIsCounted) count += partial_counts[at];
    }
  }
  of_run[threadIdx.y][threadIdx.x] = result;
  if constexpr (kIsCounted) count_of_run[threadIdx.y][threadIdx.x] = count;
  __syncthreads();
  if (threadIdx.y != 0 || segment >= num_segments) return;
  for (int i = 1; i < 8; ++i) {
    result = Operator::combine(result, of_run[i][threadIdx.x]);
    if constexpr (kIsCounted) count += count_of_run[i][threadIdx.x];
  }
  finish(segment, result, count);
}

// Both launches. `partial_counts` may be null without counts.
template <typename Operator, bool kIsCounted, typename Id, typename Number, typename Term,
          typename Finish>
cudaError_t combine_few(const SegmentsOnGpu<Id>& segments, const Number* numbers, const Term& term,
                        Number* partial, int32_t* partial_counts, const Finish& finish,
                        cudaStream_t stream) {
  const int64_t num_segments = static_cast<int64_t>(segments.num_segments);
  const auto blocks = TableBlocks::of(segments.num_rows, num_segments, sizeof(Number));
  const auto in_tables = combine_in_tables<Operator, kIsCounted, Id, Number, Term>;
  constexpr int64_t kCountBytes = kIsCounted ? sizeof(int32_t) : 0;
  // More than 48 KiB must be asked for.
  JAXFRAMES_RETURN_IF_FAILED(
      cudaFuncSetAttribute(in_tables, cudaFuncAttributeMaxDynamicSharedMemorySize,
                           static_cast<int>(kTableBytes + kMostTableSegments * kCountBytes)));
  const size_t table_bytes = num_segments * (blocks.num_warps * sizeof(Number) + kCountBytes);
  in_tables<<<static_cast<unsigned>(blocks.num_blocks), 32 * blocks.num_warps, table_bytes,
              stream>>>(segments, numbers, term, blocks.rows_of_warp, partial, partial_counts);
  JAXFRAMES_RETURN_IF_FAILED(cudaGetLastError());
  combine_blocks<Operator, kIsCounted>
      <<<static_cast<unsigned>((num_segments + 31) / 32), dim3(32, 8), 0, stream>>>(
          partial, partial_counts, blocks.num_blocks, num_segments, finish);
  return cudaGetLastError();
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_TABLES_CUH_
