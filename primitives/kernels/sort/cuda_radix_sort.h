// SPDX-License-Identifier: Apache-2.0
// Stable sorts of words on a GPU, by CUB's radix sort of the bits that keys have.
//
// CUB sorts unsigned numbers. One pass turns words into such numbers, those of padding last, and
// drops the bits that no key has: a bucket id of 6 bits is a number of one byte and takes one pass
// of the sort. Numbers that hold the whole word are turned back; otherwise words are gathered.
#ifndef JAXFRAMES_KERNELS_SORT_CUDA_RADIX_SORT_H_
#define JAXFRAMES_KERNELS_SORT_CUDA_RADIX_SORT_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <vector>

#include "base/cuda_scratch.h"

namespace jaxframes {

struct CudaSort {
  const void* words;
  int word_bytes;
  bool is_floating;
  uint64_t flip;
  int bits;
  const int32_t* num_valid;
  int64_t batch;
  int64_t num_rows;
};

// A column that moves with the words.
struct CudaColumn {
  const void* source;
  void* moved;
  int word_bytes;
};

inline int bit_length(uint64_t number) {
  int length = 0;
  for (; number != 0; number >>= 1) ++length;
  return length;
}

// Rows of a batch are sorted at once, with the number of the row above the bits of the key, if the
// rows or the whole batch are so few. Otherwise the launches for each row take less than the wider
// numbers.
inline constexpr int64_t kMostRowsAtOnce = int64_t{1} << 16;
inline constexpr int64_t kMostBatchAtOnce = int64_t{1} << 22;

inline int sorted_key_bytes(int64_t num_rows, int word_bytes, int bits) {
  if (word_bytes == 4 && num_rows <= kMostBatchAtOnce) return 8;
  return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

// The arrays of a sort: numbers and what moves with them, before and after it, and CUB's memory.
struct CudaSortMemory {
  char* ordered;
  char* sorted;
  char* source;
  char* moved;
  char* cub;
  int64_t cub_bytes;

  static CudaSortMemory take(CudaScratch& scratch, int64_t num_rows, int key_bytes,
                             int moved_bytes) {
    CudaSortMemory memory;
    memory.ordered = scratch.take<char>(num_rows * key_bytes);
    memory.sorted = scratch.take<char>(num_rows * key_bytes);
    memory.source = scratch.take<char>(num_rows * moved_bytes);
    memory.moved = scratch.take<char>(num_rows * moved_bytes);
    // CUB says how much it needs only where a GPU is. It needs both arrays once more, 1,024 bytes
    // for each tile of at least 2,048 rows, and little else; the handler checks that.
    memory.cub_bytes = num_rows * (key_bytes + moved_bytes) + num_rows / 2 + (int64_t{1} << 16);
    memory.cub = scratch.take<char>(memory.cub_bytes);
    return memory;
  }
};

// Bytes of scratch for one row of a batch. `moved_bytes` is 4, or 8 where columns move.
inline int64_t cuda_sort_scratch_bytes(int64_t num_rows, int word_bytes, int bits,
                                       int moved_bytes) {
  CudaScratch scratch;
  CudaSortMemory::take(scratch, num_rows, sorted_key_bytes(num_rows, word_bytes, bits),
                       moved_bytes);
  return scratch.bytes();
}

cudaError_t cuda_sort_keys(const CudaSort& sort, void* sorted_words, void* scratch,
                           cudaStream_t stream);
cudaError_t cuda_argsort(const CudaSort& sort, int32_t* row_ids, void* scratch,
                         cudaStream_t stream);
// Without `row_ids` they are 0, 1, ... With `in_order` the sorted words are numbers in the order of
// the words, if these are integers all of whose bits are sorted by; they save the pass that turns
// the numbers back, and are arbitrary in padding.
cudaError_t cuda_sort_pairs(const CudaSort& sort, const int32_t* row_ids, void* sorted_words,
                            int32_t* sorted_row_ids, bool in_order, void* scratch,
                            cudaStream_t stream);
cudaError_t cuda_sort_rows(const CudaSort& sort, const std::vector<CudaColumn>& columns,
                           void* scratch, cudaStream_t stream);

// Sorts numbers of 32 bits, and moves words of 4 or 8 bytes with them.
cudaError_t cuda_sort_numbers(const uint32_t* numbers, uint32_t* sorted, const void* words,
                              void* moved, int word_bytes, int64_t num_rows, int bits,
                              const CudaSortMemory& memory, cudaStream_t stream);
// Sorts numbers of 64 bits alone.
cudaError_t cuda_sort_numbers(const uint64_t* numbers, uint64_t* sorted, int64_t num_rows,
                              const CudaSortMemory& memory, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_CUDA_RADIX_SORT_H_
