// SPDX-License-Identifier: Apache-2.0
// Sorts one row of a batch: inspects the keys and chooses a sort for them.
#ifndef JAXFRAMES_KERNELS_SORT_ROW_SORTER_H_
#define JAXFRAMES_KERNELS_SORT_ROW_SORTER_H_

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "sort/cached_radix_sort.h"
#include "sort/cached_wide_sort.h"
#include "sort/counting_sort.h"
#include "sort/equal_keys.h"
#include "base/huge_pages.h"
#include "base/key_order.h"
#include "sort/key_runs.h"
#include "sort/key_sample.h"
#include "sort/large_radix_sort.h"
#include "sort/narrow_radix_sort.h"
#include "sort/ordered_word.h"
#include "sort/rows.h"
#include "base/thread_pool.h"

namespace jaxframes {

// Keys of [batch, num_rows] and the arguments of their sort. A null pointer means that the variant
// has no such column; null `row_ids` mean 0, 1, 2, ...
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
  int bits;  // compare only the lowest `bits` bits of ordered keys
};

// Bytes of scratch for each row of the batch. A sort with words narrower than its keys needs less.
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
  // A sort of floating point needs all keys to find out whether zeros and NaNs lose bits.
  static constexpr bool kFindsLost = kHasKeys && !Order::kIsExact;

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

  // The number of valid rows.
  int64_t size() const { return size_; }

  // Sorts by all threads of `executor`. `workspace` serves rows that fit the cache. With
  // `positions`, of an argsort of more rows than that, see LargeRadixSort; returns whether the ids
  // of the result refer to them.
  bool sort(Executor& executor, const SortWorkspace<Key, kHasIds>& workspace,
            int32_t* positions = nullptr) {
    positions_ = positions;
    run(executor, workspace);
    return has_placed_;
  }

 private:
  void run(Executor& executor, const SortWorkspace<Key, kHasIds>& workspace) {
    if (size_ > kCachedRows) {
      advise_huge_pages(sorted_keys_, kHasKeys ? num_rows_ * sizeof(Key) : 0);
      advise_huge_pages(sorted_ids_, kHasIds ? num_rows_ * 4 : 0);
      advise_huge_pages(scratch_,
                        radix_sort_row_scratch_bytes(num_rows_, sizeof(Key), kVariant));
    }
    if (size_ < num_rows_) keep(executor, size_, num_rows_);
    if (size_ == 0) return;
    const Key compared = low_bits<Key>(bits_);
    switch (arrangement(executor, keys_, size_, order_, compared)) {
      case Arrangement::kInOrder: return keep(executor, 0, size_);
      case Arrangement::kReversed: return reverse(executor);
      case Arrangement::kOther: break;
    }
    if (size_ > kCachedRows) {
      if (!kFindsLost) {
        const KeySample<Key> sample = sample_keys(keys_, size_, order_, compared);
        if (sort_narrow(executor, sample.guess)) return;
        if (sample.spans(compared)) {
          return sort_large(executor, OrderedWord<Order, Key>(order_, {0, compared, compared}));
        }
      }
    }
    const KeyRange<Key> range =
        key_range<kFindsLost>(executor, keys_, size_, order_, compared);
    if (size_ <= kCachedRows) {
      sort_cached(range, workspace);
    } else if (!sort_narrow(executor, range)) {
      const OrderedWord<Order, uint32_t> narrow(order_, range);
      if (sizeof(Key) == 8 && narrow.num_bits <= 32 && narrow_words_hold_keys()) {
        sort_large(executor, narrow);
      } else {
        sort_large(executor, OrderedWord<Order, Key>(order_, range));
      }
    }
    if constexpr (kFindsLost) {
      if (range.lost != 0) restore_equal_keys(executor, keys_, size_, order_, sorted_keys_);
    }
  }

  // Words narrower than keys can be mapped back if they hold the whole key.
  bool narrow_words_hold_keys() const {
    return !kHasKeys || bits_ == 8 * static_cast<int>(sizeof(Key));
  }

  // Sorts keys of few bits by the short path. Returns false and writes nothing if `range`, which
  // may be an estimate, is wrong.
  bool sort_narrow(Executor& executor, const KeyRange<Key>& range) const {
    const OrderedWord<Order, uint32_t> order(order_, range);
    if (order.num_bits > 32 || !narrow_words_hold_keys()) return false;
    if constexpr (!kHasIds) {
      return counts_well(size_, order.num_bits) &&
             counting_sort(executor, keys_, size_, order, sorted_keys_);
    } else {
      const NarrowDigits digits(size_, order.num_bits);
      if (ids_ != nullptr || !digits.fit(size_)) return false;
      const PositionedRows<Order> input{keys_, order};
      const OutputRows<Order, uint32_t, kVariant> output{sorted_keys_, sorted_ids_, order};
      return NarrowRadixSort(executor, input, size_, digits,
                             reinterpret_cast<uint32_t*>(scratch_), output)
          .sort(low_bits<Key>(bits_));
    }
  }

  // Copies rows without moving them.
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

  void reverse(Executor& executor) const {
    const Chunks chunks(size_, 1 << 16, executor.num_threads());
    parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
      for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
        const int64_t source = size_ - 1 - i;
        if (kHasKeys) sorted_keys_[i] = keys_[source];
        if (kHasIds) sorted_ids_[i] = ids_ ? ids_[source] : static_cast<int32_t>(source);
      }
    });
  }

  void sort_cached(const KeyRange<Key>& range, const SortWorkspace<Key, kHasIds>& workspace) {
    const OrderedWord<Order, Key> order(order_, range);
    const InputRows<Order, Key, kHasIds> input{keys_, ids_, order};
    const OutputRows<Order, Key, kVariant> output{sorted_keys_, sorted_ids_, order};
    const Key compared = low_bits<Key>(order.num_bits);
    if constexpr (kHasIds && sizeof(Key) == 8) {
      cached_wide_sort(input, size_, compared, workspace, output);
    } else {
      cached_radix_sort(input, size_, compared, workspace.buffer(0), workspace.buffer(1),
                        workspace.counts(), output, false);
    }
  }

  template <typename Word>
  void sort_large(Executor& executor, const OrderedWord<Order, Word>& order) {
    constexpr bool kIsNarrow = sizeof(Word) < sizeof(Key);
    // Side 0 is scratch. Side 1 is the result, except for words without a column, or with a wider
    // one, in the result: those use scratch too.
    using Sort = LargeRadixSort<Order, Word, kVariant>;
    char* scratch = scratch_;
    const auto take = [&](int64_t row_bytes) {
      char* column = scratch;
      scratch += num_rows_ * row_bytes;
      return column;
    };
    typename Sort::Side0 side_0;
    if constexpr (std::is_same_v<typename Sort::Side0, FusedRows>) {
      side_0.rows = reinterpret_cast<uint64_t*>(take(8));
    } else {
      side_0.words = reinterpret_cast<Word*>(take(sizeof(Word)));
    }
    typename Sort::Side1 side_1;
    const bool keeps_words = !kHasKeys || kIsNarrow;
    side_1.words = reinterpret_cast<Word*>(
        keeps_words ? take(sizeof(Word)) : reinterpret_cast<char*>(sorted_keys_));
    if constexpr (kHasIds) {
      if constexpr (!std::is_same_v<typename Sort::Side0, FusedRows>) {
        side_0.ids = reinterpret_cast<int32_t*>(take(sizeof(int32_t)));
      }
      side_1.ids = sorted_ids_;
    }
    const bool side_1_is_output = kHasIds || !kIsNarrow;
    const InputRows<Order, Word, kHasIds> input{keys_, ids_, order};
    const OutputRows<Order, Word, kVariant> output{sorted_keys_, sorted_ids_, order};
    Sort(executor, side_0, side_1, output, side_1_is_output, positions_)
        .sort(input, size_, low_bits<Word>(order.num_bits));
    has_placed_ = positions_ != nullptr;
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
  int32_t* positions_ = nullptr;
  bool has_placed_ = false;
};

}  // namespace internal

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_ROW_SORTER_H_
