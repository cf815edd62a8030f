// SPDX-License-Identifier: Apache-2.0
// Rows of several arrays side by side, so that a random access meets one line of the cache in place
// of one for each array.
#ifndef JAXFRAMES_KERNELS_MOVE_PACKED_ROWS_H_
#define JAXFRAMES_KERNELS_MOVE_PACKED_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"
#include "base/work_array.h"

namespace jaxframes {

// A word of 1, 2, 4, 8 or 16 bytes of each row, in an array and in packed rows.
struct PackedColumn {
  const char* source;
  char* gathered;
  const char* fill;
  int64_t word_bytes;
  int64_t offset;
};

class PackedRows {
 public:
  static constexpr int64_t kMostBytes = 64;

  // Packs `columns`, with offsets for rows of `row_bytes`, at most kMostBytes.
  PackedRows(Executor& executor, const std::vector<PackedColumn>& columns, int64_t row_bytes,
             int64_t num_rows)
      : columns_(columns),
        row_bytes_(row_bytes),
        num_rows_(num_rows),
        rows_(num_rows * row_bytes) {
    std::fill(fill_, fill_ + kMostBytes, char{0});
    for (const PackedColumn& column : columns_) {
      std::memcpy(fill_ + column.offset, column.fill, column.word_bytes);
    }
    const Chunks chunks = Chunks::of_rows(num_rows, 1 << 16);
    parallel_for(executor, chunks.count, [&](int, int64_t index) {
      const int64_t chunk = chunks.apart(index, executor.num_threads());
      for (int64_t row = chunks.begin(chunk); row < chunks.end(chunk); row += kTileRows) {
        const int64_t size = std::min(kTileRows, chunks.end(chunk) - row);
        for (const PackedColumn& column : columns_) {
          move_words(column.word_bytes, column.source + row * column.word_bytes, column.word_bytes,
                     rows_.data() + row * row_bytes_ + column.offset, row_bytes_, size);
        }
      }
    });
  }

  // Writes the rows of some ids to the results, from row `begin` of these on.
  void gather(const int32_t* row_ids, int64_t begin, int64_t num_ids) {
    alignas(64) char tile[kTileRows * kMostBytes];
    for (int64_t start = 0; start < num_ids; start += kTileRows) {
      const int64_t size = std::min(kTileRows, num_ids - start);
      copy_rows(row_ids + start, size, tile);
      for (const PackedColumn& column : columns_) {
        move_words(column.word_bytes, tile + column.offset, row_bytes_,
                   column.gathered + (begin + start) * column.word_bytes, column.word_bytes, size);
      }
    }
  }

 private:
  // A tile of packed rows stays in the first cache.
  static constexpr int64_t kTileRows = 256;

  void copy_rows(const int32_t* row_ids, int64_t size, char* tile) {
    const auto copy = [&](int64_t row_bytes) {
      for (int64_t i = 0; i < size; ++i) {
        const bool is_row = static_cast<uint32_t>(row_ids[i]) < static_cast<uint64_t>(num_rows_);
        const char* const row = is_row ? rows_.data() + row_ids[i] * row_bytes : fill_;
        std::memcpy(tile + i * row_bytes, row, row_bytes);
      }
    };
    // A constant size is copied by a few moves.
    switch (row_bytes_) {
      case 8: return copy(8);
      case 16: return copy(16);
      case 24: return copy(24);
      case 32: return copy(32);
      case 40: return copy(40);
      case 48: return copy(48);
      case 56: return copy(56);
      case 64: return copy(64);
      default: return copy(row_bytes_);
    }
  }

  // Moves words that lie `from_bytes` apart to positions `to_bytes` apart.
  static void move_words(int64_t word_bytes, const char* from, int64_t from_bytes, char* to,
                         int64_t to_bytes, int64_t size) {
    const auto move = [&](int64_t bytes) {
      for (int64_t i = 0; i < size; ++i) {
        std::memcpy(to + i * to_bytes, from + i * from_bytes, bytes);
      }
    };
    switch (word_bytes) {
      case 1: return move(1);
      case 2: return move(2);
      case 4: return move(4);
      case 8: return move(8);
      default: return move(16);
    }
  }

  const std::vector<PackedColumn> columns_;
  const int64_t row_bytes_;
  const int64_t num_rows_;
  WorkArray<char> rows_;
  char fill_[kMostBytes];
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_MOVE_PACKED_ROWS_H_
