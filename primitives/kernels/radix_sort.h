// SPDX-License-Identifier: Apache-2.0
// Stable radix sort of a batch of rows of integers or floating point numbers.
//
// A sort reads its keys once for their range, partitions them by the highest
// digit that varies into pieces that fit the cache, and sorts each piece by LSD
// passes. Against a plain LSD sort of all rows (Knuth, TAOCP 3, 5.2.5):
//   1. rows cross the memory bus twice, not once for each digit;
//   2. bits that do not vary are found per piece, and cost nothing;
//   3. 64-bit keys need few more passes than 32-bit ones: bits below those that
//      tell rows apart are looked at only where rows tie.
// Equal digits cannot pile up work: a piece that stays large is partitioned again
// by all threads, each time by bits that vary in it.
#ifndef JAXFRAMES_KERNELS_RADIX_SORT_H_
#define JAXFRAMES_KERNELS_RADIX_SORT_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "cached_radix_sort.h"
#include "counting_sort.h"
#include "equal_keys.h"
#include "huge_pages.h"
#include "key_order.h"
#include "large_radix_sort.h"
#include "ordered_word.h"
#include "rows.h"
#include "thread_pool.h"

namespace jaxframes {

// Keys of [batch, num_rows] and what to do with them. A null pointer stands for a
// column that the variant does not have; null `row_ids` for 0, 1, 2, ...
template <typename Order>
struct SortArguments {
  using Key = typename Order::Key;

  int64_t batch;
  int64_t num_rows;
  const Key* keys;
  const int32_t* row_ids;
  const int32_t* num_valid;
  Key* sorted_keys;
  int32_t* sorted_row_ids;
  Order order;
  int bits;  // only the lowest `bits` bits of ordered keys count
};

// Bytes of scratch for each row of the batch. Wherever a sort works with narrower
// words than its keys, it needs less.
inline int64_t radix_sort_row_scratch_bytes(int64_t num_rows, int word_bytes,
                                            SortVariant variant) {
  if (num_rows <= kCachedRows) return 0;
  int64_t row_bytes = word_bytes;
  if (variant == SortVariant::kArgsort) row_bytes = 2 * word_bytes + 4;
  if (variant == SortVariant::kPairs) row_bytes = word_bytes + 4;
  return (num_rows * row_bytes + 63) / 64 * 64;
}

namespace internal {

template <typename Order, SortVariant kVariant>
class RowSorter {
 public:
  using Key = typename Order::Key;
  static constexpr bool kHasIds = kVariant != SortVariant::kKeys;
  static constexpr bool kHasKeys = kVariant != SortVariant::kArgsort;

  RowSorter(const SortArguments<Order>& arguments, int64_t row, void* scratch)
      : size_(std::min<int64_t>(std::max(arguments.num_valid[row], 0), arguments.num_rows)),
        num_rows_(arguments.num_rows),
        keys_(arguments.keys + row * num_rows_),
        ids_(arguments.row_ids ? arguments.row_ids + row * num_rows_ : nullptr),
        sorted_keys_(kHasKeys ? arguments.sorted_keys + row * num_rows_ : nullptr),
        sorted_ids_(kHasIds ? arguments.sorted_row_ids + row * num_rows_ : nullptr),
        scratch_(static_cast<char*>(scratch)),
        order_(arguments.order),
        bits_(arguments.bits) {}

  // Sorts by all threads of `executor`. `workspace` serves rows that fit the cache.
  void sort(Executor& executor, const SortWorkspace<Key, kHasIds>& workspace) {
    if (size_ > kCachedRows) {
      advise_huge_pages(sorted_keys_, kHasKeys ? num_rows_ * sizeof(Key) : 0);
      advise_huge_pages(sorted_ids_, kHasIds ? num_rows_ * 4 : 0);
      advise_huge_pages(scratch_,
                        radix_sort_row_scratch_bytes(num_rows_, sizeof(Key), kVariant));
    }
    if (size_ < num_rows_) keep(executor, size_, num_rows_);
    if (size_ == 0) return;
    const Key compared = low_bits<Key>(bits_);
    const KeyRange<Key> range = key_range(executor, keys_, size_, order_, compared);
    if (range.varying == 0) return keep(executor, 0, size_);
    sort_varying(executor, range, workspace);
    if constexpr (kHasKeys && !Order::kIsExact) {
      if (range.lost != 0) restore_equal_keys(executor, keys_, size_, order_, sorted_keys_);
    }
  }

 private:
  void sort_varying(Executor& executor, const KeyRange<Key>& range,
                    const SortWorkspace<Key, kHasIds>& workspace) {
    if (size_ <= kCachedRows) return sort_cached(range, workspace);
    // Words narrower than keys can be mapped back where they hold all of the key.
    if (!kHasKeys || bits_ == 8 * static_cast<int>(sizeof(Key))) {
      const OrderedWord<Order, uint32_t> narrow(order_, range);
      if (!kHasIds && counts_well(size_, narrow.num_bits)) {
        return counting_sort(executor, keys_, size_, narrow, sorted_keys_);
      }
      if (sizeof(Key) == 8 && narrow.num_bits <= 32) return sort_large(executor, narrow);
    }
    sort_large(executor, OrderedWord<Order, Key>(order_, range));
  }

  // Rows stay where they are.
  void keep(Executor& executor, int64_t begin, int64_t end) {
    const Chunks chunks(end - begin, 1 << 16, executor.num_threads());
    parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
      const int64_t first = begin + chunks.begin(chunk), last = begin + chunks.end(chunk);
      if (kHasKeys) std::copy(keys_ + first, keys_ + last, sorted_keys_ + first);
      if (!kHasIds) return;
      for (int64_t i = first; i < last; ++i) {
        sorted_ids_[i] = ids_ != nullptr ? ids_[i] : static_cast<int32_t>(i);
      }
    });
  }

  void sort_cached(const KeyRange<Key>& range, const SortWorkspace<Key, kHasIds>& workspace) {
    const OrderedWord<Order, Key> order(order_, range);
    const InputRows<Order, Key, kHasIds> input{keys_, ids_, order};
    const OutputRows<Order, Key, kVariant> output{sorted_keys_, sorted_ids_, order};
    cached_radix_sort(input, size_, low_bits<Key>(order.num_bits), workspace.buffer(0),
                      workspace.buffer(1), workspace.counts(), output, false);
  }

  template <typename Word>
  void sort_large(Executor& executor, const OrderedWord<Order, Word>& order) {
    constexpr bool kIsNarrow = sizeof(Word) < sizeof(Key);
    // Side 0 is scratch. Side 1 is the result, but for words that the result has no
    // column for, or one of wider rows: those are scratch too.
    using Sort = LargeRadixSort<Order, Word, kVariant>;
    char* scratch = scratch_;
    const auto take = [&](int64_t row_bytes) {
      char* column = scratch;
      scratch += num_rows_ * row_bytes;
      return column;
    };
    typename Sort::Side0 side_0;
    if constexpr (std::is_same_v<typename Sort::Side0, PackedRows>) {
      side_0.rows = reinterpret_cast<uint64_t*>(take(8));
    } else {
      side_0.words = reinterpret_cast<Word*>(take(sizeof(Word)));
    }
    typename Sort::Side1 side_1;
    const bool keeps_words = !kHasKeys || kIsNarrow;
    side_1.words = reinterpret_cast<Word*>(
        keeps_words ? take(sizeof(Word)) : reinterpret_cast<char*>(sorted_keys_));
    if constexpr (kHasIds) {
      if constexpr (!std::is_same_v<typename Sort::Side0, PackedRows>) {
        side_0.ids = reinterpret_cast<int32_t*>(take(sizeof(int32_t)));
      }
      side_1.ids = sorted_ids_;
    }
    const bool side_1_is_output = kHasIds || !kIsNarrow;
    const InputRows<Order, Word, kHasIds> input{keys_, ids_, order};
    const OutputRows<Order, Word, kVariant> output{sorted_keys_, sorted_ids_, order};
    Sort(executor, side_0, side_1, output, side_1_is_output)
        .sort(input, size_, low_bits<Word>(order.num_bits));
  }

  const int64_t size_;
  const int64_t num_rows_;
  const Key* const keys_;
  const int32_t* const ids_;
  Key* const sorted_keys_;
  int32_t* const sorted_ids_;
  char* const scratch_;
  const Order order_;
  const int bits_;
};

}  // namespace internal

// Sorts each row of a batch. `scratch` holds `batch` times
// radix_sort_row_scratch_bytes bytes, aligned to 64. The result does not depend on
// the number of threads.
template <SortVariant kVariant, typename Order>
void radix_sort(Executor& executor, const SortArguments<Order>& arguments, void* scratch) {
  using Key = typename Order::Key;
  using Sorter = internal::RowSorter<Order, kVariant>;
  using Workspace = SortWorkspace<Key, Sorter::kHasIds>;
  const int64_t num_rows = arguments.num_rows;
  if (arguments.batch == 0 || num_rows == 0) return;
  const int64_t row_scratch_bytes =
      radix_sort_row_scratch_bytes(num_rows, sizeof(Key), kVariant);
  const auto row_scratch = [&](int64_t row) {
    return static_cast<char*>(scratch) + row * row_scratch_bytes;
  };
  const int64_t cached_rows = std::min(num_rows, kCachedRows);

  // Threads share out the batch where that occupies them all; else each row.
  const int num_threads = executor.num_threads();
  if (arguments.batch < num_threads && num_rows > kCachedRows) {
    const Workspace workspace(cached_rows);
    for (int64_t row = 0; row < arguments.batch; ++row) {
      Sorter(arguments, row, row_scratch(row)).sort(executor, workspace);
    }
    return;
  }
  const Chunks tasks(arguments.batch, std::max<int64_t>(kPieceRows / num_rows, 1),
                     num_threads);
  std::vector<std::unique_ptr<Workspace>> workspaces;
  for (int worker = 0; worker < std::min<int64_t>(num_threads, tasks.count); ++worker) {
    workspaces.push_back(std::make_unique<Workspace>(cached_rows));
  }
  parallel_for(executor, tasks.count, [&](int worker, int64_t task) {
    SerialExecutor serial;
    for (int64_t row = tasks.begin(task); row < tasks.end(task); ++row) {
      Sorter(arguments, row, row_scratch(row)).sort(serial, *workspaces[worker]);
    }
  });
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_RADIX_SORT_H_
