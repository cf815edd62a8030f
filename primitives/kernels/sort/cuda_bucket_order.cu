// SPDX-License-Identifier: Apache-2.0
// A counting sort: each tile counts its rows by bucket, one scan of all counts says where the rows
// of a tile and bucket start, and each tile ranks its rows. A row knows its position, so that the
// inverse is written in the order of the rows; the order goes through shared memory, and its rows
// are written bucket by bucket. No memory is read or written at random.
#include "sort/cuda_bucket_order.h"

#include <cub/block/block_scan.cuh>

#include <cstdint>

#include "base/cuda_rows.cuh"
#include "scan/cuda_scan_tiles.cuh"

namespace jaxframes {
namespace {

constexpr int kThreads = 256;
constexpr int kWarps = kThreads / 32;
constexpr int kItems = static_cast<int>(kBucketTile) / kThreads;
constexpr int kMostDigits = static_cast<int>(kMostBuckets) + 1;
constexpr int kDigitsPerThread = kMostDigits / kThreads;
constexpr uint32_t kNoDigit = 0xFFFFFFFFu;
constexpr unsigned kAllLanes = 0xFFFFFFFFu;

// One row of the batch, as the blocks of one tile see it.
struct Tile {
  const uint32_t* ids;
  int64_t num_valid;
  int64_t num_rows;
  int64_t first;
  uint32_t num_buckets;

  // Ids out of range are one digit more; padding has none.
  __device__ uint32_t digit(int64_t row) const {
    if (row >= num_valid) return kNoDigit;
    const uint32_t id = ids[row];
    return id < num_buckets ? id : num_buckets;
  }
};

__device__ Tile tile_of(const CudaBucketOrder& call) {
  const int64_t line = blockIdx.y;
  return {call.ids + line * call.num_rows, count_on_gpu(call.num_valid, line, call.num_rows),
          call.num_rows, static_cast<int64_t>(blockIdx.x) * kBucketTile,
          static_cast<uint32_t>(call.num_buckets)};
}

__device__ int64_t count_index(const CudaBucketOrder& call, int digit) {
  return (blockIdx.y * call.num_digits() + digit) * gridDim.x + blockIdx.x;
}

// Clears the flags of the scan of the counts too, which saves a launch.
__global__ void __launch_bounds__(kThreads)
    count_buckets(const CudaBucketOrder call, uint32_t* counts, const ScanTiles<uint32_t> scan) {
  __shared__ uint32_t table[kMostDigits];
  const Tile tile = tile_of(call);
  const int num_digits = static_cast<int>(call.num_digits());
  const int64_t block = static_cast<int64_t>(blockIdx.y) * gridDim.x + blockIdx.x;
  const int64_t num_threads = static_cast<int64_t>(gridDim.y) * gridDim.x * kThreads;
  for (int64_t i = block * kThreads + threadIdx.x; i <= scan.num_tiles; i += num_threads) {
    scan.flags[i] = 0;
  }
  for (int digit = threadIdx.x; digit < num_digits; digit += kThreads) table[digit] = 0;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const uint32_t digit = tile.digit(tile.first + i * kThreads + threadIdx.x);
    if (digit != kNoDigit) atomicAdd(table + digit, 1u);
  }
  __syncthreads();
  for (int digit = threadIdx.x; digit < num_digits; digit += kThreads) {
    counts[count_index(call, digit)] = table[digit];
  }
}

// The counts of each row of the batch, summed from its first digit.
struct Counts {
  using Value = uint32_t;
  static constexpr bool kHasHeads = true;

  const uint32_t* counts;
  uint32_t* starts;
  int64_t size;
  int64_t of_line;

  static __device__ uint32_t nothing() { return 0; }
  static __device__ uint32_t combine(uint32_t left, uint32_t right) { return left + right; }
  static __device__ uint32_t restarted(uint32_t, uint32_t right) { return right; }
  __device__ uint32_t value(int64_t at) const { return counts[at]; }
  __device__ bool is_head(int64_t at) const { return at % of_line == 0; }
  __device__ void store(int64_t at, uint32_t sum) const {
    if (is_head(at)) starts[at] = 0;
    if (at + 1 < size && !is_head(at + 1)) starts[at + 1] = sum;
  }
};

__global__ void __launch_bounds__(kThreads)
    place_rows(const CudaBucketOrder call, const uint32_t* starts) {
  using Scan = cub::BlockScan<uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage scan;
  __shared__ uint16_t before[kWarps][kMostDigits];  // of this tile's earlier rows with a digit
  __shared__ uint32_t first_position[kMostDigits];  // among all rows
  __shared__ uint16_t first_local[kMostDigits];     // among the rows of the tile
  __shared__ uint16_t sorted_rows[kBucketTile], sorted_digits[kBucketTile];
  const Tile tile = tile_of(call);
  const int num_digits = static_cast<int>(call.num_digits());
  const int thread = threadIdx.x, lane = thread % 32, warp = thread / 32;
  const int64_t line_start = blockIdx.y * call.num_rows;
  for (int i = thread; i < kWarps * kMostDigits; i += kThreads) (&before[0][0])[i] = 0;
  __syncthreads();

  // Each warp ranks consecutive rows, 32 at a time: rows with one digit in the order of the lanes.
  uint32_t digits[kItems];
  uint16_t ranks[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    digits[i] = tile.digit(tile.first + (warp * kItems + i) * 32 + lane);
  }
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const unsigned peers = __match_any_sync(kAllLanes, digits[i]);
    const int earlier = __popc(peers & ((1u << lane) - 1));
    const uint32_t counted = digits[i] == kNoDigit ? 0 : before[warp][digits[i]];
    __syncwarp();
    if (digits[i] != kNoDigit && earlier == 0) {
      before[warp][digits[i]] = static_cast<uint16_t>(counted + __popc(peers));
    }
    __syncwarp();
    ranks[i] = static_cast<uint16_t>(counted + earlier);
  }
  __syncthreads();

  uint32_t totals[kDigitsPerThread], locals[kDigitsPerThread];
#pragma unroll
  for (int i = 0; i < kDigitsPerThread; ++i) {
    const int digit = thread * kDigitsPerThread + i;
    uint32_t total = 0;
    for (int w = 0; w < kWarps; ++w) {
      const uint32_t count = before[w][digit];
      before[w][digit] = static_cast<uint16_t>(total);
      total += count;
    }
    totals[i] = total;
  }
  Scan(scan).ExclusiveSum(totals, locals);
#pragma unroll
  for (int i = 0; i < kDigitsPerThread; ++i) {
    const int digit = thread * kDigitsPerThread + i;
    first_local[digit] = static_cast<uint16_t>(locals[i]);
    if (digit < num_digits) {
      const uint32_t start = starts[count_index(call, digit)];
      first_position[digit] = start;
      if (blockIdx.x == 0) call.offsets[blockIdx.y * num_digits + digit] = static_cast<int32_t>(start);
    }
  }
  __syncthreads();

#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int in_tile = (warp * kItems + i) * 32 + lane;
    const int64_t row = tile.first + in_tile;
    if (row >= tile.num_rows) continue;
    if (digits[i] == kNoDigit) {
      // Padding keeps its position.
      call.order[line_start + row] = static_cast<int32_t>(row);
      if (call.inverse != nullptr) call.inverse[line_start + row] = static_cast<int32_t>(row);
      continue;
    }
    const uint32_t rank = before[warp][digits[i]] + ranks[i];
    const uint32_t local = first_local[digits[i]] + rank;
    sorted_rows[local] = static_cast<uint16_t>(in_tile);
    sorted_digits[local] = static_cast<uint16_t>(digits[i]);
    if (call.inverse != nullptr) {
      call.inverse[line_start + row] = static_cast<int32_t>(first_position[digits[i]] + rank);
    }
  }
  __syncthreads();
  const int64_t num_here = tile.num_valid - tile.first;
  for (int local = thread; local < kBucketTile && local < num_here; local += kThreads) {
    const uint32_t digit = sorted_digits[local];
    const uint32_t position = first_position[digit] + local - first_local[digit];
    call.order[line_start + position] = static_cast<int32_t>(tile.first + sorted_rows[local]);
  }
}

}  // namespace

cudaError_t cuda_bucket_order(const CudaBucketOrder& call, void* memory, cudaStream_t stream) {
  if (call.batch == 0) return cudaSuccess;
  if (call.num_rows == 0) {
    return cudaMemsetAsync(call.offsets, 0, call.batch * call.num_digits() * sizeof(int32_t),
                           stream);
  }
  CudaScratch scratch(memory);
  const auto arrays = CudaBucketMemory::take(scratch, call.num_counts());
  const int64_t of_line = call.num_digits() * call.num_tiles();
  for (int64_t first = 0; first < call.batch; first += kMostLines) {
    CudaBucketOrder part = call;
    part.batch = call.batch - first < kMostLines ? call.batch - first : kMostLines;
    part.ids += first * call.num_rows;
    part.num_valid += first;
    part.order += first * call.num_rows;
    if (part.inverse != nullptr) part.inverse += first * call.num_rows;
    part.offsets += first * call.num_digits();
    const dim3 grid(static_cast<unsigned>(part.num_tiles()), static_cast<unsigned>(part.batch));
    CudaScratch of_scan = scratch;
    const auto scan = ScanTiles<uint32_t>::take(of_scan, part.num_counts());
    count_buckets<<<grid, kThreads, 0, stream>>>(part, arrays.counts, scan);
    JAXFRAMES_RETURN_IF_FAILED(cudaGetLastError());
    JAXFRAMES_RETURN_IF_FAILED(scan_in_tiles(
        Counts{arrays.counts, arrays.starts, part.num_counts(), of_line}, scan, stream));
    place_rows<<<grid, kThreads, 0, stream>>>(part, arrays.starts);
    JAXFRAMES_RETURN_IF_FAILED(cudaGetLastError());
  }
  return cudaSuccess;
}

}  // namespace jaxframes
