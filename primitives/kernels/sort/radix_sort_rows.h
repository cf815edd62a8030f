// SPDX-License-Identifier: Apache-2.0
// Moves columns of rows to the order of their keys.
//
// To take each column by the ids that an argsort finds reads memory at random, once for each
// row and column. Where rows outgrow the cache, a column goes the way of the keys instead:
// first to the bins of their highest digit, then, bin by bin, to its position in the order.
#ifndef JAXFRAMES_KERNELS_SORT_RADIX_SORT_ROWS_H_
#define JAXFRAMES_KERNELS_SORT_RADIX_SORT_ROWS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sort/cached_radix_sort.h"
#include "base/huge_pages.h"
#include "sort/large_radix_sort.h"
#include "sort/radix_sort.h"
#include "sort/row_sorter.h"
#include "sort/rows.h"
#include "base/thread_pool.h"

namespace jaxframes {

// One column of [batch, num_rows] words of 1, 2, 4 or 8 bytes, and its result.
struct MovedColumn {
  const void* source;
  void* moved;
  int word_bytes;
};

namespace internal {

// The order of the rows: `ids` are rows, or, with `positions`, indices into those. The ids from
// `num_valid` on are always rows.
struct RowOrder {
  const int32_t* ids;
  const int32_t* positions;
  int64_t num_valid;
  int64_t num_rows;
};

template <typename Word>
void take_rows(Executor& executor, const Word* source, const int32_t* ids, int64_t size,
               Word* moved) {
  constexpr int64_t kAhead = 32;
  const Chunks chunks(size, 1 << 15, executor.num_threads());
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    const int64_t end = chunks.end(chunk);
    int64_t i = chunks.begin(chunk);
    for (; i + kAhead < end; ++i) {
      __builtin_prefetch(source + ids[i + kAhead]);
      moved[i] = source[ids[i]];
    }
    for (; i < end; ++i) moved[i] = source[ids[i]];
  });
}

// `work` holds as many words.
template <typename Word>
void move_rows(Executor& executor, const Word* source, const RowOrder& order, Word* work,
               Word* moved) {
  if (order.positions == nullptr) {
    return take_rows(executor, source, order.ids, order.num_rows, moved);
  }
  const Chunks chunks(order.num_valid, 1 << 15, executor.num_threads());
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      Word* const position = work + order.positions[i];
      *position = source[i];
      prefetch_after(position);
    }
  });
  take_rows(executor, work, order.ids, order.num_valid, moved);
  take_rows(executor, source, order.ids + order.num_valid, order.num_rows - order.num_valid,
            moved + order.num_valid);
}

inline int64_t row_ids_bytes(int64_t num_rows) { return (num_rows * 4 + 63) / 64 * 64; }

}  // namespace internal

// Bytes of scratch for each row of the batch.
inline int64_t radix_sort_rows_row_scratch_bytes(int64_t num_rows, int word_bytes) {
  const int64_t ids_bytes = internal::row_ids_bytes(num_rows);
  if (num_rows <= kCachedRows) return ids_bytes;
  // The sort's own scratch is reused for a moving column: at least 8 bytes a row.
  return 2 * ids_bytes +
         radix_sort_row_scratch_bytes(num_rows, word_bytes, SortVariant::kArgsort);
}

// Moves the columns of each row of a batch to the stable order of its keys. Rows from `num_valid`
// on keep their positions. `arguments` are those of an argsort without its result; `scratch` is
// aligned to 64.
template <typename Order>
void radix_sort_rows(Executor& executor, const SortArguments<Order>& arguments,
                     const std::vector<MovedColumn>& columns, void* scratch) {
  using Key = typename Order::Key;
  using Workspace = SortWorkspace<Key, true>;
  const int64_t num_rows = arguments.num_rows;
  const bool is_large = num_rows > kCachedRows;
  const int64_t ids_bytes = internal::row_ids_bytes(num_rows);
  const int64_t row_scratch_bytes = radix_sort_rows_row_scratch_bytes(num_rows, sizeof(Key));
  const auto sort_row = [&](Executor& row_executor, int64_t row, const Workspace& workspace) {
    char* rest = static_cast<char*>(scratch) + row * row_scratch_bytes;
    const auto take_ids = [&] {
      int32_t* const ids = reinterpret_cast<int32_t*>(rest);
      advise_huge_pages(ids, ids_bytes);
      rest += ids_bytes;
      return ids;
    };
    int32_t* const ids = take_ids();
    int32_t* const positions = is_large ? take_ids() : nullptr;

    SortArguments<Order> of_row = arguments;
    of_row.batch = 1;
    of_row.keys += row * num_rows;
    of_row.num_valid += row;
    of_row.sorted_row_ids = ids;
    internal::RowSorter<Order, SortVariant::kArgsort> sorter(of_row, 0, rest);
    const bool has_placed = sorter.sort(row_executor, workspace, positions);
    const internal::RowOrder order{ids, has_placed ? positions : nullptr, sorter.size(), num_rows};

    for (const MovedColumn& column : columns) {
      const auto move = [&](auto word) {
        using Word = decltype(word);
        const Word* const source = static_cast<const Word*>(column.source) + row * num_rows;
        Word* const moved = static_cast<Word*>(column.moved) + row * num_rows;
        internal::move_rows(row_executor, source, order, reinterpret_cast<Word*>(rest), moved);
      };
      switch (column.word_bytes) {
        case 1: move(uint8_t{}); break;
        case 2: move(uint16_t{}); break;
        case 4: move(uint32_t{}); break;
        default: move(uint64_t{});
      }
    }
  };
  sort_batch<Workspace>(executor, arguments.batch, num_rows, sort_row);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_RADIX_SORT_ROWS_H_
