// SPDX-License-Identifier: Apache-2.0
// A scan of rows on a GPU in one pass over memory, with the same bits in every run.
//
// Each block scans one tile and looks back at the tiles before it, as in Merrill and Garland
// (2016), "Single-pass parallel prefix scan with decoupled look-back". There a block adds up
// whatever its predecessors have published by then, which changes sums of floats from run to run.
// Here only every 32nd tile, an anchor, publishes the total of all rows up to its end; the others
// publish their own rows alone. A block combines the anchor before it with the tiles between, by a
// tree whose shape depends on the number of the tile alone.
#ifndef JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_TILES_CUH_
#define JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_TILES_CUH_

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/atomic>

#include <cstdint>

#include "base/cuda_scratch.h"
#include "scan/cuda_scan_tiles.h"

namespace jaxframes {

// Restarts at heads; without heads the flags are constants and cost nothing.
template <typename Rows>
struct ScanCombine {
  using State = ScanState<typename Rows::Value>;
  __device__ State operator()(State left, State right) const {
    if constexpr (!Rows::kHasHeads) return {Rows::combine(left.value, right.value), 0};
    return {right.has_head ? right.value : Rows::combine(left.value, right.value),
            left.has_head | right.has_head};
  }
};

// Gives the first warp of a block the rows before its tile.
template <typename Rows>
class ScanLookBack {
 public:
  using Value = typename Rows::Value;
  using State = ScanState<Value>;

  __device__ ScanLookBack(const ScanTiles<Value>& tiles, int64_t tile) : tiles_(tiles), tile_(tile) {}

  __device__ State operator()(State own) {
    const int lane = static_cast<int>(threadIdx.x);
    if (lane == 0) publish(tiles_.own, own, 1);
    State before = {Rows::nothing(), 0};
    if (tile_ > 0) {
      const int64_t anchor = (tile_ - 1) / 32 * 32, tile = tile_ - 1 - lane;
      if (tile >= anchor) {
        const uint32_t needed = tile == anchor ? 2 : 1;
        cuda::atomic_ref<uint32_t, cuda::thread_scope_device> published(tiles_.published[tile]);
        while (published.load(cuda::memory_order_acquire) < needed) __nanosleep(20);
        before = tile == anchor ? tiles_.through[tile] : tiles_.own[tile];
      }
      __syncwarp();
      // The lanes hold tiles from right to left.
      for (int distance = 1; distance < 32; distance *= 2) {
        const State left = {__shfl_down_sync(0xFFFFFFFFu, before.value, distance),
                            __shfl_down_sync(0xFFFFFFFFu, before.has_head, distance)};
        if (lane + distance < 32) before = ScanCombine<Rows>()(left, before);
      }
    }
    if (lane == 0 && tile_ % 32 == 0) {
      publish(tiles_.through, tile_ == 0 ? own : ScanCombine<Rows>()(before, own), 2);
    }
    return before;
  }

 private:
  __device__ void publish(State* states, State state, uint32_t what) {
    states[tile_] = state;
    cuda::atomic_ref<uint32_t, cuda::thread_scope_device> published(tiles_.published[tile_]);
    published.store(what, cuda::memory_order_release);
  }

  const ScanTiles<Value>& tiles_;
  const int64_t tile_;
};

// `Rows` has the values and heads by position, `nothing`, which combines with any value to that
// value, and `store(position, is_head, value)` for the result of a row.
template <typename Rows>
__global__ void __launch_bounds__(kScanThreads)
    scan_tiles(const Rows rows, const ScanTiles<typename Rows::Value> tiles) {
  using Value = typename Rows::Value;
  using State = ScanState<Value>;
  constexpr int kItems = kScanItems<Value>;
  using Scan = cub::BlockScan<State, kScanThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  using Exchange = cub::BlockExchange<Value, kScanThreads, kItems>;
  using Flags = cub::BlockExchange<uint8_t, kScanThreads, kItems>;
  __shared__ union {
    typename Scan::TempStorage scan;
    typename Exchange::TempStorage exchange;
    typename Flags::TempStorage flags;
  } shared;
  __shared__ uint32_t ticket;
  // Tiles are numbered as their blocks start, so that a block waits for running ones only.
  if (threadIdx.x == 0) ticket = atomicAdd(tiles.next_tile, 1u);
  __syncthreads();
  const int64_t tile = ticket, first = tile * kScanTile<Value>;
  const int thread = static_cast<int>(threadIdx.x);

  Value values[kItems];
  uint8_t heads[kItems];
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int64_t position = first + i * kScanThreads + thread;
    const bool is_inside = position < rows.size;
    values[i] = is_inside ? rows.value(position) : Rows::nothing();
    heads[i] = Rows::kHasHeads && is_inside ? rows.is_head(position) : 0;
  }
  Exchange(shared.exchange).StripedToBlocked(values);
  if constexpr (Rows::kHasHeads) {
    __syncthreads();
    Flags(shared.flags).StripedToBlocked(heads);
  }
  __syncthreads();
  State own = {values[0], heads[0]};
#pragma unroll
  for (int i = 1; i < kItems; ++i) own = ScanCombine<Rows>()(own, State{values[i], heads[i]});
  State before;
  ScanLookBack<Rows> look_back(tiles, tile);
  Scan(shared.scan).ExclusiveScan(own, before, ScanCombine<Rows>(), look_back);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const Value combined = Rows::combine(before.value, values[i]);
    values[i] = Rows::kHasHeads && heads[i] ? values[i] : combined;
    before.value = values[i];
  }
  if constexpr (Rows::kHasHeads) {
    __syncthreads();
    Flags(shared.flags).BlockedToStriped(heads);
  }
  __syncthreads();
  Exchange(shared.exchange).BlockedToStriped(values);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int64_t position = first + i * kScanThreads + thread;
    if (position < rows.size) rows.store(position, heads[i], values[i]);
  }
}

// Scans `rows` in `scratch`, which `ScanTiles::take` has measured.
template <typename Rows>
cudaError_t scan_rows(const Rows& rows, CudaScratch& scratch, cudaStream_t stream) {
  using Value = typename Rows::Value;
  const auto tiles = ScanTiles<Value>::take(scratch, rows.size);
  const int64_t num_tiles = (rows.size + kScanTile<Value> - 1) / kScanTile<Value>;
  if (num_tiles == 0) return cudaSuccess;
  const cudaError_t status =
      cudaMemsetAsync(tiles.next_tile, 0, (num_tiles + 1) * sizeof(uint32_t), stream);
  if (status != cudaSuccess) return status;
  scan_tiles<<<static_cast<unsigned>(num_tiles), kScanThreads, 0, stream>>>(rows, tiles);
  return cudaGetLastError();
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_TILES_CUH_
