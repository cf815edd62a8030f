// SPDX-License-Identifier: Apache-2.0
// The matches of two sides whose rows are sorted together, on a GPU.
#ifndef JAXFRAMES_KERNELS_JOIN_CUDA_MATCH_ROWS_H_
#define JAXFRAMES_KERNELS_JOIN_CUDA_MATCH_ROWS_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "scan/cuda_scan_tiles.h"

namespace jaxframes {

// Rows sorted by word, the right rows of a word before its left rows, and padding at the end. The
// row ids of the left side follow those of the valid right rows.
//
// Of a left row, `num_matches` tells the right rows of its word, and `begins` their position in
// `right_rows`; the first left row of a word stores the complement of the position. Padding is zero.
//
// Of an outer join the results have the order of the sorted rows: `left_rows` in place of `begins`,
// with -1 for a right row and -2 for padding. The last right row of a word without a left row
// stores the number of these right rows, other right rows and padding store zero.
struct CudaMatchRows {
  int64_t batch;
  int64_t num_left;   // with padding
  int64_t num_right;  // with padding
  bool is_outer;
  int word_bytes;
  const void* words;
  const int32_t* row_ids;
  const int32_t* valid_left;
  const int32_t* valid_right;
  int32_t* begins;  // or left rows
  int32_t* num_matches;
  int32_t* right_rows;  // in the order of their words, then of their ids

  int64_t num_rows() const { return num_left + num_right; }
  int64_t num_results() const { return is_outer ? num_rows() : num_left; }
};

// The right rows since the first row of a word, and all right rows up to here.
struct RightRows {
  uint32_t of_word;
  uint32_t all;
};

// The sides of a batch are matched one after the other, in the same memory.
inline int64_t cuda_match_rows_scratch_bytes(int64_t num_rows) {
  return scan_scratch_bytes<RightRows>(num_rows);
}

cudaError_t cuda_match_rows(const CudaMatchRows& call, void* scratch, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_JOIN_CUDA_MATCH_ROWS_H_
