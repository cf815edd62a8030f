// SPDX-License-Identifier: Apache-2.0
// A scan of rows on a GPU in one pass over memory, with the same bits in every run.
//
// Each block scans one tile and looks back at the tiles before it, as in Merrill and Garland
// (2016), "Single-pass parallel prefix scan with decoupled look-back". There a block adds up
// whatever its predecessors have published by then, which changes sums of floats from run to run.
// Here only every 64th tile, an anchor, publishes the total of all rows up to its end; the others
// publish their own rows alone. A block combines the anchor before it with the tiles between, by a
// tree whose shape depends on the number of the tile alone.
#ifndef JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_TILES_CUH_
#define JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_TILES_CUH_

#include <cub/block/block_exchange.cuh>
#include <cub/block/block_scan.cuh>
#include <cuda/atomic>

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/cuda_scratch.h"
#include "scan/cuda_scan_tiles.h"

namespace jaxframes {

// Restarts at heads; without heads the flags are constants and cost nothing.
template <typename Rows>
struct ScanCombine {
  using State = ScanState<typename Rows::Value>;
  __device__ State operator()(State left, State right) const {
    if constexpr (!Rows::kHasHeads) return {Rows::combine(left.value, right.value), 0};
    return {right.has_head ? Rows::restarted(left.value, right.value)
                           : Rows::combine(left.value, right.value),
            left.has_head | right.has_head};
  }
};

// The value of the lane so many lanes further on.
template <typename Value>
__device__ Value of_lane_after(Value value, int distance) {
  if constexpr (std::is_arithmetic_v<Value>) {
    return __shfl_down_sync(0xFFFFFFFFu, value, distance);
  } else {
    static_assert(sizeof(Value) % sizeof(uint32_t) == 0);
    uint32_t words[sizeof(Value) / sizeof(uint32_t)];
    memcpy(words, &value, sizeof(value));
    for (uint32_t& word : words) word = __shfl_down_sync(0xFFFFFFFFu, word, distance);
    memcpy(&value, words, sizeof(value));
    return value;
  }
}

// The tile after whose every such number an anchor comes. The chain of anchors is what a scan of
// many rows waits for: on an H100 each takes about a microsecond.
inline constexpr int kAnchorTiles = 64;
inline constexpr int kTilesPerLane = kAnchorTiles / 32;

// Publishes and reads the states of tiles.
template <typename Value>
class TileStates {
 public:
  using State = ScanState<Value>;

  __device__ explicit TileStates(const ScanTiles<Value>& tiles) : tiles_(tiles) {}

  __device__ void publish(int64_t tile, State state) const {
    const uint64_t flags = kIsThere | (state.has_head ? kHasHead : 0);
    if constexpr (ScanTiles<Value>::kIsPacked) {
      uint32_t bits;
      memcpy(&bits, &state.value, sizeof(bits));
      word(tile).store(uint64_t{bits} << 32 | flags, cuda::memory_order_relaxed);
    } else {
      tiles_.states[tile] = state;
      word(tile).store(flags, cuda::memory_order_release);
    }
  }
  // Zero until the tile has published.
  __device__ uint64_t poll(int64_t tile) const {
    return word(tile).load(cuda::memory_order_relaxed);
  }
  // The state of a tile whose word was read; for packed ones it is the word.
  __device__ State state(int64_t tile, uint64_t word) const {
    if constexpr (ScanTiles<Value>::kIsPacked) {
      const auto bits = static_cast<uint32_t>(word >> 32);
      State state;
      memcpy(&state.value, &bits, sizeof(bits));
      state.has_head = (word & kHasHead) != 0;
      return state;
    }
    return tiles_.states[tile];
  }

 private:
  static constexpr uint64_t kIsThere = 1, kHasHead = 2;

  __device__ cuda::atomic_ref<uint64_t, cuda::thread_scope_device> word(int64_t tile) const {
    return cuda::atomic_ref<uint64_t, cuda::thread_scope_device>(tiles_.flags[tile]);
  }

  const ScanTiles<Value>& tiles_;
};

// Gives the first warp of a block the rows before its tile.
template <typename Rows>
class ScanLookBack {
 public:
  using Value = typename Rows::Value;
  using State = ScanState<Value>;

  __device__ ScanLookBack(const ScanTiles<Value>& tiles, int64_t tile)
      : states_(tiles), tile_(tile) {}

  __device__ State operator()(State own) {
    const int lane = static_cast<int>(threadIdx.x);
    const bool is_anchor = tile_ % kAnchorTiles == 0;
    if (lane == 0 && !is_anchor) states_.publish(tile_, own);
    const State before = tile_ == 0 ? State{Rows::nothing(), 0} : look_back(lane);
    if (lane == 0 && is_anchor) {
      states_.publish(tile_, tile_ == 0 ? own : ScanCombine<Rows>()(before, own));
    }
    return before;
  }

 private:
  // Combines the tiles from the last anchor on. The lanes hold them from right to left.
  __device__ State look_back(int lane) const {
    const int64_t anchor = (tile_ - 1) / kAnchorTiles * kAnchorTiles;
    const int64_t last = tile_ - 1 - lane * kTilesPerLane;
    uint64_t words[kTilesPerLane];
    bool is_complete;
    do {
      is_complete = true;
#pragma unroll
      for (int i = 0; i < kTilesPerLane; ++i) {
        words[i] = last - i < anchor ? 1 : states_.poll(last - i);
        is_complete &= words[i] != 0;
      }
    } while (!is_complete);
    if constexpr (!ScanTiles<Value>::kIsPacked) {
      cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device);
    }
    State before = {Rows::nothing(), 0};
#pragma unroll
    for (int i = kTilesPerLane - 1; i >= 0; --i) {
      if (last - i >= anchor) {
        before = ScanCombine<Rows>()(before, states_.state(last - i, words[i]));
      }
    }
    __syncwarp();
    for (int distance = 1; distance < 32; distance *= 2) {
      const State left = {of_lane_after(before.value, distance),
                          __shfl_down_sync(0xFFFFFFFFu, before.has_head, distance)};
      if (lane + distance < 32) before = ScanCombine<Rows>()(left, before);
    }
    return before;
  }

  const TileStates<Value> states_;
  const int64_t tile_;
};

// `Rows` has the values and heads by position, `nothing`, which combines with any value to that
// value, `restarted` in place of `combine` where the right value begins with a head, and
// `store(position, value)` for the result of a row.
template <typename Rows>
__global__ void __launch_bounds__(kScanThreads, Rows::kHasHeads ? 2 : 3)
    scan_tiles(const Rows rows, const ScanTiles<typename Rows::Value> tiles) {
  using Value = typename Rows::Value;
  using State = ScanState<Value>;
  constexpr int kItems = kScanItems<Value>;
  using Scan = cub::BlockScan<State, kScanThreads, cub::BLOCK_SCAN_WARP_SCANS>;
  using Exchange = cub::BlockExchange<Value, kScanThreads, kItems>;
  __shared__ union {
    typename Scan::TempStorage scan;
    typename Exchange::TempStorage exchange;
  } shared;
  __shared__ uint32_t ticket;
  // Tiles are numbered as their blocks start, so that a block waits for running ones only.
  if (threadIdx.x == 0) {
    ticket = atomicAdd(reinterpret_cast<unsigned*>(tiles.flags + tiles.num_tiles), 1u);
  }
  __syncthreads();
  const int64_t tile = ticket, first = tile * kScanTile<Value>;
  const int thread = static_cast<int>(threadIdx.x);

  Value values[kItems];
  uint32_t heads = 0;
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int64_t position = first + i * kScanThreads + thread;
    values[i] = position < rows.size ? rows.value(position) : Rows::nothing();
  }
  if constexpr (Rows::kHasHeads) {
    // Flags of rows side by side are as near as those of lanes side by side.
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      const int64_t position = first + thread * kItems + i;
      if (position < rows.size && rows.is_head(position)) heads |= 1u << i;
    }
  }
  Exchange(shared.exchange).StripedToBlocked(values);
  __syncthreads();
  State own = {values[0], heads & 1};
#pragma unroll
  for (int i = 1; i < kItems; ++i) {
    own = ScanCombine<Rows>()(own, State{values[i], heads >> i & 1});
  }
  State before;
  ScanLookBack<Rows> look_back(tiles, tile);
  Scan(shared.scan).ExclusiveScan(own, before, ScanCombine<Rows>(), look_back);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    values[i] = ScanCombine<Rows>()(before, State{values[i], heads >> i & 1}).value;
    before.value = values[i];
  }
  __syncthreads();
  Exchange(shared.exchange).BlockedToStriped(values);
#pragma unroll
  for (int i = 0; i < kItems; ++i) {
    const int64_t position = first + i * kScanThreads + thread;
    if (position < rows.size) rows.store(position, values[i]);
  }
}

// Scans `rows` in tiles whose flags are zero.
template <typename Rows>
cudaError_t scan_in_tiles(const Rows& rows, const ScanTiles<typename Rows::Value>& tiles,
                          cudaStream_t stream) {
  if (tiles.num_tiles == 0) return cudaSuccess;
  scan_tiles<<<static_cast<unsigned>(tiles.num_tiles), kScanThreads, 0, stream>>>(rows, tiles);
  return cudaGetLastError();
}

// Scans `rows` in `scratch`, which `ScanTiles::take` has measured.
template <typename Rows>
cudaError_t scan_rows(const Rows& rows, CudaScratch& scratch, cudaStream_t stream) {
  using Value = typename Rows::Value;
  const auto tiles = ScanTiles<Value>::take(scratch, rows.size);
  if (tiles.num_tiles == 0) return cudaSuccess;
  const cudaError_t status =
      cudaMemsetAsync(tiles.flags, 0, (tiles.num_tiles + 1) * sizeof(uint64_t), stream);
  if (status != cudaSuccess) return status;
  return scan_in_tiles(rows, tiles, stream);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_TILES_CUH_
