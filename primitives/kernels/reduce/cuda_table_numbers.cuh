// SPDX-License-Identifier: Apache-2.0
// Rows of a column as the numbers that the tables of segments combine.
#ifndef JAXFRAMES_KERNELS_REDUCE_CUDA_TABLE_NUMBERS_CUH_
#define JAXFRAMES_KERNELS_REDUCE_CUDA_TABLE_NUMBERS_CUH_

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "reduce/cuda_tables.h"

namespace jaxframes {

template <typename Row>
using TableWord = std::conditional_t<
    sizeof(Row) == 8, uint64_t, std::conditional_t<sizeof(Row) == 4, uint32_t, uint8_t>>;

template <typename Row>
inline constexpr auto kSignBit =
    static_cast<TableWord<Row>>(TableWord<Row>{1} << (8 * sizeof(Row) - 1));

template <typename Row>
__device__ TableWord<Row> bits_of(Row row) {
  TableWord<Row> word;
  std::memcpy(&word, &row, sizeof(row));
  return word;
}

// A floating-point number as a word in its order. NaN is the word that wins.
template <typename Row, bool kIsMax>
__device__ TableWord<Row> float_word(Row row) {
  using Word = TableWord<Row>;
  if (row != row) return kIsMax ? static_cast<Word>(~Word{0}) : Word{0};
  const Word word = bits_of(row);
  return word ^ ((word & kSignBit<Row>) != 0 ? static_cast<Word>(~Word{0}) : kSignBit<Row>);
}

// The forms of rows; `from` has those of a line of the batch.

// Without rows: what a table combines is a count, or the positions of the rows.
struct RowPositions {
  using Number = int32_t;

  RowPositions from(int64_t) const { return *this; }
  template <TableOperator kOp>
  __device__ Number of(int64_t row) const {
    return kOp == TableOperator::kAdd ? 1 : static_cast<int32_t>(row);
  }
};

template <typename Row>
struct RowNumbers {
  using Number = std::conditional_t<std::is_floating_point_v<Row>, TableWord<Row>, Row>;

  const Row* rows;

  RowNumbers from(int64_t row) const { return {rows + row}; }
  template <TableOperator kOp>
  __device__ Number of(int64_t row) const {
    if constexpr (std::is_floating_point_v<Row>) {
      return float_word<Row, kOp == TableOperator::kMax>(rows[row]);
    } else {
      return rows[row];
    }
  }
};

// One for rows that are not zero; a comparison of numbers might flush the smallest to zero.
template <typename Row>
struct RowTruth {
  using Number = int32_t;

  const Row* rows;

  RowTruth from(int64_t row) const { return {rows + row}; }
  template <TableOperator kOp>
  __device__ Number of(int64_t row) const {
    const TableWord<Row> word = bits_of(rows[row]);
    return (std::is_floating_point_v<Row> ? (word & ~kSignBit<Row>) != 0 : word != 0) ? 1 : 0;
  }
};

// A word in the order of a row of 32 bits, above its position, so that the first of equal rows
// wins: positions count down for a maximum. Zeros of both signs are equal.
template <typename Row>
struct FirstRows {
  using Number = uint64_t;

  const Row* rows;

  FirstRows from(int64_t row) const { return {rows + row}; }
  template <TableOperator kOp>
  __device__ Number of(int64_t row) const {
    constexpr bool kIsMax = kOp == TableOperator::kMax;
    uint32_t word;
    if constexpr (std::is_floating_point_v<Row>) {
      word = float_word<Row, kIsMax>(rows[row] == 0 ? Row(0) : rows[row]);
    } else {
      word = bits_of(rows[row]) ^ (std::is_signed_v<Row> ? kSignBit<Row> : 0u);
    }
    const auto position = static_cast<uint32_t>(row);
    return static_cast<uint64_t>(word) << 32 | (kIsMax ? ~position : position);
  }
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_CUDA_TABLE_NUMBERS_CUH_
