// SPDX-License-Identifier: Apache-2.0
// The tiles of a scan on a GPU, and what their blocks tell each other.
#ifndef JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_TILES_H_
#define JAXFRAMES_KERNELS_SCAN_CUDA_SCAN_TILES_H_

#include <cstdint>

#include "base/cuda_scratch.h"

namespace jaxframes {

inline constexpr int kScanThreads = 512;
template <typename Value>
inline constexpr int kScanItems = sizeof(Value) > 8 ? 4 : sizeof(Value) > 4 ? 8 : 16;
template <typename Value>
inline constexpr int64_t kScanTile = int64_t{kScanThreads} * kScanItems<Value>;

// The combined rows of a range, and whether one of them is a head.
template <typename Value>
struct ScanState {
  Value value;
  uint32_t has_head;
};

// What the blocks tell each other: the state of each tile, of all rows up to its end for an anchor,
// and of its own rows for the others. A state of 32 bits shares a word with its flags, so that one
// load finds whether it is there and what it is. All flags are zero before the scan.
template <typename Value>
struct ScanTiles {
  static constexpr bool kIsPacked = sizeof(Value) == 4;

  uint64_t* flags;  // those of the tiles, and then the number of tiles that have started
  ScanState<Value>* states;
  int64_t num_tiles;

  static int64_t num_flags(int64_t num_rows) {
    return (num_rows + kScanTile<Value> - 1) / kScanTile<Value> + 1;
  }
  // `flags` are `num_flags(num_rows)` words.
  static ScanTiles with_flags(uint64_t* flags, CudaScratch& scratch, int64_t num_rows) {
    const int64_t num_tiles = num_flags(num_rows) - 1;
    return {flags, scratch.take<ScanState<Value>>(kIsPacked ? 0 : num_tiles), num_tiles};
  }
  static ScanTiles take(CudaScratch& scratch, int64_t num_rows) {
    uint64_t* const flags = scratch.take<uint64_t>(num_flags(num_rows));
    return with_flags(flags, scratch, num_rows);
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
