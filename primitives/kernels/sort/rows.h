// SPDX-License-Identifier: Apache-2.0
// Sources and sinks of the passes of a sort. Each is a pair of pointers; columns that a variant
// lacks cost nothing at run time.
#ifndef JAXFRAMES_KERNELS_SORT_ROWS_H_
#define JAXFRAMES_KERNELS_SORT_ROWS_H_

#include <cstdint>
#include <type_traits>

#include "sort/ordered_word.h"

namespace jaxframes {

// The results of a sort. All but kKeys carry row ids; all carry keys during the sort, and all but
// kArgsort write them at the end.
enum class SortVariant { kKeys = 0, kArgsort = 1, kPairs = 2 };

// Prefetches the cache line after `position` for a write or a read. A pass over many bins continues
// line by line in each, which hardware does not predict.
template <bool kIsWritten = true, typename T>
void prefetch_after(T* position) {
  constexpr uintptr_t kLineBytes = 64;
  __builtin_prefetch(reinterpret_cast<void*>(reinterpret_cast<uintptr_t>(position) + kLineBytes),
                     kIsWritten);
}

// Rows between two passes: both a source and a sink. Words and ids lie in two columns.
template <typename Word, bool kHasIds>
struct WorkRows {
  static constexpr int kNumColumns = kHasIds ? 2 : 1;

  Word* words = nullptr;
  int32_t* ids = nullptr;

  Word word(int64_t i) const { return words[i]; }
  int32_t id(int64_t i) const { return kHasIds ? ids[i] : 0; }
  void put(int64_t i, Word word, int32_t id) const {
    words[i] = word;
    if (kHasIds) ids[i] = id;
  }
  void prefetch_after(int64_t i) const {
    jaxframes::prefetch_after(words + i);
    if (kHasIds) jaxframes::prefetch_after(ids + i);
  }
  WorkRows operator+(int64_t offset) const {
    return {words + offset, kHasIds ? ids + offset : nullptr};
  }
};

// The same with a 32-bit word next to the id. A pass then writes to half as many addresses: 10M
// rows into 1024 bins took 18 ms, from two columns 43.
struct FusedRows {
  static constexpr int kNumColumns = 1;

  uint64_t* rows = nullptr;

  uint32_t word(int64_t i) const { return static_cast<uint32_t>(rows[i]); }
  int32_t id(int64_t i) const { return static_cast<int32_t>(rows[i] >> 32); }
  void put(int64_t i, uint32_t word, int32_t id) const {
    rows[i] = uint64_t{static_cast<uint32_t>(id)} << 32 | word;
  }
  void prefetch_after(int64_t i) const { jaxframes::prefetch_after(rows + i); }
  FusedRows operator+(int64_t offset) const { return {rows + offset}; }
};

// The low bits of a word and the id in 32 bits, which halves the bytes of a pass. The other bits of
// the word are equal in all rows of one bin: `prefix`.
struct CompactRows {
  static constexpr int kNumColumns = 1;

  uint32_t* rows = nullptr;
  int id_bits = 0;
  uint32_t prefix = 0;

  uint32_t word(int64_t i) const { return prefix | rows[i] >> id_bits; }
  int32_t id(int64_t i) const {
    return static_cast<int32_t>(rows[i] & low_bits<uint32_t>(id_bits));
  }
  void put(int64_t i, uint32_t word, int32_t id) const {
    rows[i] = word << id_bits | static_cast<uint32_t>(id);
  }
  void prefetch_after(int64_t i) const { jaxframes::prefetch_after(rows + i); }
};

// The highest bits of a 64-bit word and the position of its row in this sort.
struct PlacedRows {
  static constexpr int kNumColumns = 1;
  static constexpr int kPlaceBits = 16;
  static constexpr int kWordBits = 64 - kPlaceBits;

  uint64_t* rows = nullptr;

  static int32_t position(uint64_t row) {
    return static_cast<int32_t>(row & low_bits<uint64_t>(kPlaceBits));
  }
  uint64_t word(int64_t i) const { return rows[i] >> kPlaceBits; }
  int32_t id(int64_t i) const { return position(rows[i]); }
  void put(int64_t i, uint64_t word, int32_t position) const {
    rows[i] = word << kPlaceBits | static_cast<uint32_t>(position);
  }
  PlacedRows operator+(int64_t offset) const { return {rows + offset}; }
};

// The default layout of rows in scratch memory.
template <typename Word, bool kHasIds>
using ScratchRows = std::conditional_t<kHasIds && sizeof(Word) == 4, FusedRows,
                                       WorkRows<Word, kHasIds>>;

// The caller's keys, mapped to ordered words while they are read. Without `ids` the
// id of a row is its position.
template <typename Order, typename Word, bool kHasIds>
struct InputRows {
  using Key = typename Order::Key;

  const Key* keys;
  const int32_t* ids;
  OrderedWord<Order, Word> order;
  int64_t first_row = 0;

  Word word(int64_t i) const { return order.from_key(keys[i]); }
  int32_t id(int64_t i) const {
    if (!kHasIds) return 0;
    return ids != nullptr ? ids[i] : static_cast<int32_t>(first_row + i);
  }
};

// The caller's results. The last pass maps words back to keys as it writes.
template <typename Order, typename Word, SortVariant kVariant>
struct OutputRows {
  using Key = typename Order::Key;
  static constexpr int kNumColumns = kVariant == SortVariant::kPairs ? 2 : 1;

  Key* keys;
  int32_t* ids;
  OrderedWord<Order, Word> order;

  void put(int64_t i, Word word, int32_t id) const {
    if (kVariant != SortVariant::kArgsort) keys[i] = order.to_key(word);
    if (kVariant != SortVariant::kKeys) ids[i] = id;
  }
  void prefetch_after(int64_t i) const {
    if (kVariant != SortVariant::kArgsort) jaxframes::prefetch_after(keys + i);
    if (kVariant != SortVariant::kKeys) jaxframes::prefetch_after(ids + i);
  }
  OutputRows operator+(int64_t offset) const {
    return {kVariant != SortVariant::kArgsort ? keys + offset : nullptr,
            kVariant != SortVariant::kKeys ? ids + offset : nullptr, order};
  }
};

// A sink that records the position of each row and replaces its id by that position.
template <typename Sink>
struct PlacingRows {
  static constexpr int kNumColumns = Sink::kNumColumns;

  Sink sink;
  int32_t* positions;

  template <typename Word>
  void put(int64_t i, Word word, int32_t id) const {
    positions[id] = static_cast<int32_t>(i);
    sink.put(i, word, static_cast<int32_t>(i));
  }
  void prefetch_after(int64_t i) const { sink.prefetch_after(i); }
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_ROWS_H_
