// SPDX-License-Identifier: Apache-2.0
// The tiles of a scan on a GPU, and what their blocks tell each other.
#ifndef JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_TILES_H_
#define JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_TILES_H_

#include <cstdint>

#include "base/cuda_scratch.h"

namespace jaxframes {

inline constexpr int kScanThreads = 512;
template <typename Value>
inline constexpr int kScanItems = sizeof(Value) == 8 ? 8 : 16;
template <typename Value>
inline constexpr int64_t kScanTile = int64_t{kScanThreads} * kScanItems<Value>;

// The combined rows of a range, and whether one of them is a head.
template <typename Value>
struct ScanState {
  Value value;
  uint32_t has_head;
};

// What the blocks tell each other. All words are zero before the scan.
template <typename Value>
struct ScanTiles {
  uint32_t* next_tile;
  uint32_t* published;  // per tile: 1 after its own rows, 2 after all rows up to its end
  ScanState<Value>* own;
  ScanState<Value>* through;

  static ScanTiles take(CudaScratch& scratch, int64_t num_rows) {
    const int64_t num_tiles = (num_rows + kScanTile<Value> - 1) / kScanTile<Value>;
    uint32_t* const words = scratch.take<uint32_t>(num_tiles + 1);
    return {words, words == nullptr ? nullptr : words + 1,
            scratch.take<ScanState<Value>>(num_tiles), scratch.take<ScanState<Value>>(num_tiles)};
  }
};

template <typename Value>
int64_t scan_scratch_bytes(int64_t num_rows) {
  CudaScratch scratch;
  ScanTiles<Value>::take(scratch, num_rows);
  return scratch.bytes();
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_TILES_H_
