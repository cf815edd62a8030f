// SPDX-License-Identifier: Apache-2.0
// A selection by a mask, as all platforms have it.
#ifndef JAXFRAMES_KERNELS_MOVE_KEPT_WORDS_H_
#define JAXFRAMES_KERNELS_MOVE_KEPT_WORDS_H_

#include <cstdint>

namespace jaxframes {

// The Python wrapper allocates a count of the flags before each chunk of so many rows.
constexpr int64_t kFlagChunkRows = 1 << 16;
inline int64_t num_flag_chunks(int64_t num_rows) {
  return num_rows == 0 ? 1 : (num_rows + kFlagChunkRows - 1) / kFlagChunkRows;
}

// The selection from a batch: words of 1, 2, 4 or 8 bytes, one for each row, or, without a source,
// the ids of the rows, int32.
struct KeptWords {
  bool are_ids;
  const void* source;
  void* kept;
  int64_t word_bytes;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_MOVE_KEPT_WORDS_H_
