// SPDX-License-Identifier: Apache-2.0
// The passes before and after CUB's sort: words to numbers in their order, and back.
#ifndef JAXFRAMES_KERNELS_SORT_CUDA_SORT_WORDS_CUH_
#define JAXFRAMES_KERNELS_SORT_CUDA_SORT_WORDS_CUH_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/cuda_rows.cuh"
#include "base/key_order.h"
#include "sort/cuda_radix_sort.h"

namespace jaxframes {

// Rows that are sorted by one call of CUB: one row of the batch, or all.
struct SortedRows {
  int64_t first_line;
  int64_t num_lines;
  int64_t num_rows;
  const int32_t* num_valid;
  int bits;

  int64_t size() const { return num_lines * num_rows; }
  int end_bit() const { return bits + bit_length(static_cast<uint64_t>(num_lines - 1)); }

  // The row of the batch, counted from the first line; all rows together are fewer than 2^32.
  __device__ int64_t line(int64_t at) const {
    return num_lines == 1 ? 0 : static_cast<uint32_t>(at) / static_cast<uint32_t>(num_rows);
  }
  __device__ bool is_valid(int64_t line, int64_t at) const {
    return at - line * num_rows < count_on_gpu(num_valid, first_line + line, num_rows);
  }
};

// Writes the number of each word. The numbers of padding are all ones, so that a stable sort
// leaves it last, even behind equal ones.
template <typename Number, typename Order>
cudaError_t write_numbers(const SortedRows& rows, const typename Order::Key* words,
                          const Order& order, Number* numbers, int32_t* ids,
                          cudaStream_t stream) {
  const uint64_t mask = rows.bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << rows.bits) - 1;
  return for_each_row_on_gpu(
      rows.size(),
      [=] __device__(int64_t at) {
        const int64_t line = rows.line(at);
        uint64_t number = rows.is_valid(line, at) ? order.ordered(words[at]) & mask : mask;
        if (rows.num_lines > 1) number |= static_cast<uint64_t>(line) << rows.bits;
        numbers[at] = static_cast<Number>(number);
        if (ids != nullptr) ids[at] = static_cast<int32_t>(at);
      },
      stream);
}

// The words of sorted numbers that hold all of their bits; padding keeps its own words.
template <typename Number, typename Word>
cudaError_t restore_words(const SortedRows& rows, const Word* words, Word flip,
                          const Number* numbers, Word* sorted_words, cudaStream_t stream) {
  const bool is_in_place = static_cast<const void*>(numbers) == sorted_words;
  return for_each_row_on_gpu(
      rows.size(),
      [=] __device__(int64_t at) {
        if (!rows.is_valid(rows.line(at), at)) {
          sorted_words[at] = words[at];
        } else if (!is_in_place || flip != 0) {
          sorted_words[at] = static_cast<Word>(numbers[at]) ^ flip;
        }
      },
      stream);
}

// Row ids within each row of the batch, of positions among all rows.
inline cudaError_t number_within_lines(const SortedRows& rows, const int32_t* positions,
                                       int32_t* row_ids, cudaStream_t stream) {
  return for_each_row_on_gpu(
      rows.size(),
      [=] __device__(int64_t at) {
        row_ids[at] = positions[at] - static_cast<int32_t>(rows.line(at) * rows.num_rows);
      },
      stream);
}

// Columns that are gathered by one kernel.
struct ColumnGroup {
  static constexpr int kMost = 16;
  CudaColumn columns[kMost];
  int count;
};

template <typename Word>
__device__ void move_word(const CudaColumn& column, int64_t from, int64_t to) {
  static_cast<Word*>(column.moved)[to] = static_cast<const Word*>(column.source)[from];
}

__device__ inline void move_row(const CudaColumn& column, int64_t from, int64_t to) {
  switch (column.word_bytes) {
    case 1: return move_word<uint8_t>(column, from, to);
    case 2: return move_word<uint16_t>(column, from, to);
    case 4: return move_word<uint32_t>(column, from, to);
    default: return move_word<uint64_t>(column, from, to);
  }
}

// Moves row `positions[i]` of each column to row `i`.
inline cudaError_t gather_columns(int64_t num_rows, const int32_t* positions,
                                  const std::vector<CudaColumn>& columns, cudaStream_t stream) {
  for (size_t first = 0; first < columns.size(); first += ColumnGroup::kMost) {
    ColumnGroup group;
    group.count = static_cast<int>(std::min<size_t>(columns.size() - first, ColumnGroup::kMost));
    std::copy_n(columns.begin() + first, group.count, group.columns);
    JAXFRAMES_RETURN_IF_FAILED(for_each_row_on_gpu(
        num_rows,
        [=] __device__(int64_t at) {
          const int64_t from = positions[at];
          for (int i = 0; i < group.count; ++i) move_row(group.columns[i], from, at);
        },
        stream));
  }
  return cudaSuccess;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_CUDA_SORT_WORDS_CUH_
