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

// Columns that one kernel moves.
struct ColumnGroup {
  static constexpr int kMost = 16;
  CudaColumn columns[kMost];
  int count;

  static ColumnGroup of(const std::vector<CudaColumn>& columns, size_t first) {
    ColumnGroup group;
    group.count = static_cast<int>(std::min<size_t>(columns.size() - first, kMost));
    std::copy_n(columns.begin() + first, group.count, group.columns);
    return group;
  }
};

__device__ inline uint64_t word_at(const void* words, int word_bytes, int64_t at) {
  switch (word_bytes) {
    case 1: return static_cast<const uint8_t*>(words)[at];
    case 2: return static_cast<const uint16_t*>(words)[at];
    case 4: return static_cast<const uint32_t*>(words)[at];
    default: return static_cast<const uint64_t*>(words)[at];
  }
}

__device__ inline void put_word(void* words, int word_bytes, int64_t at, uint64_t word) {
  switch (word_bytes) {
    case 1: static_cast<uint8_t*>(words)[at] = static_cast<uint8_t>(word); break;
    case 2: static_cast<uint16_t*>(words)[at] = static_cast<uint16_t>(word); break;
    case 4: static_cast<uint32_t*>(words)[at] = static_cast<uint32_t>(word); break;
    default: static_cast<uint64_t*>(words)[at] = word;
  }
}

// Packs the words of a row side by side into one.
template <typename Packed>
cudaError_t pack_columns(int64_t num_rows, const std::vector<CudaColumn>& columns, Packed* packed,
                         cudaStream_t stream) {
  const ColumnGroup group = ColumnGroup::of(columns, 0);
  return for_each_row_on_gpu(
      num_rows,
      [=] __device__(int64_t at) {
        Packed row = 0;
        int shift = 0;
        for (int i = 0; i < group.count; ++i) {
          const CudaColumn& column = group.columns[i];
          row |= static_cast<Packed>(word_at(column.source, column.word_bytes, at)) << shift;
          shift += 8 * column.word_bytes;
        }
        packed[at] = row;
      },
      stream);
}

template <typename Packed>
cudaError_t unpack_columns(int64_t num_rows, const Packed* packed,
                           const std::vector<CudaColumn>& columns, cudaStream_t stream) {
  const ColumnGroup group = ColumnGroup::of(columns, 0);
  return for_each_row_on_gpu(
      num_rows,
      [=] __device__(int64_t at) {
        uint64_t row = packed[at];
        for (int i = 0; i < group.count; ++i) {
          const CudaColumn& column = group.columns[i];
          put_word(column.moved, column.word_bytes, at, row);
          row = column.word_bytes == 8 ? 0 : row >> 8 * column.word_bytes;
        }
      },
      stream);
}

// Moves row `positions[i]` of each column to row `i`.
inline cudaError_t gather_columns(int64_t num_rows, const int32_t* positions,
                                  const std::vector<CudaColumn>& columns, cudaStream_t stream) {
  for (size_t first = 0; first < columns.size(); first += ColumnGroup::kMost) {
    const ColumnGroup group = ColumnGroup::of(columns, first);
    JAXFRAMES_RETURN_IF_FAILED(for_each_row_on_gpu(
        num_rows,
        [=] __device__(int64_t at) {
          const int64_t from = positions[at];
          for (int i = 0; i < group.count; ++i) {
            const CudaColumn& column = group.columns[i];
            put_word(column.moved, column.word_bytes, at,
                     word_at(column.source, column.word_bytes, from));
          }
        },
        stream));
  }
  return cudaSuccess;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_CUDA_SORT_WORDS_CUH_
