// SPDX-License-Identifier: Apache-2.0
// Where the passes of a sort read rows from and write them to. Each is a pair of
// pointers; what a variant does not carry costs nothing at run time.
#ifndef JAXFRAMES_KERNELS_ROWS_H_
#define JAXFRAMES_KERNELS_ROWS_H_

#include <cstdint>

#include "ordered_word.h"

namespace jaxframes {

// What a sort returns. Row ids are carried by all but kKeys; keys are carried
// while sorting by all, and written at the end by all but kArgsort.
enum class SortVariant { kKeys = 0, kArgsort = 1, kPairs = 2 };

// Rows between two passes: both a source and a sink.
template <typename Word, bool kHasIds>
struct WorkRows {
  Word* words = nullptr;
  int32_t* ids = nullptr;

  Word word(int64_t i) const { return words[i]; }
  int32_t id(int64_t i) const { return kHasIds ? ids[i] : 0; }
  void put(int64_t i, Word word, int32_t id) const {
    words[i] = word;
    if (kHasIds) ids[i] = id;
  }
  WorkRows operator+(int64_t offset) const {
    return {words + offset, kHasIds ? ids + offset : nullptr};
  }
};

// The caller's keys, mapped to ordered words as they are read. Without `ids` the
// id of a row is its position.
template <typename Key, typename Word, bool kHasIds>
struct InputRows {
  const Key* keys;
  const int32_t* ids;
  OrderedWord<Key, Word> order;
  int64_t first_row = 0;

  Word word(int64_t i) const { return order.from_key(keys[i]); }
  int32_t id(int64_t i) const {
    if (!kHasIds) return 0;
    return ids != nullptr ? ids[i] : static_cast<int32_t>(first_row + i);
  }
};

// The caller's results. The last pass maps words back to keys as it writes.
template <typename Key, typename Word, SortVariant kVariant>
struct OutputRows {
  Key* keys;
  int32_t* ids;
  OrderedWord<Key, Word> order;

  void put(int64_t i, Word word, int32_t id) const {
    if (kVariant != SortVariant::kArgsort) keys[i] = order.to_key(word);
    if (kVariant != SortVariant::kKeys) ids[i] = id;
  }
  OutputRows operator+(int64_t offset) const {
    return {kVariant != SortVariant::kArgsort ? keys + offset : nullptr,
            kVariant != SortVariant::kKeys ? ids + offset : nullptr, order};
  }
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_ROWS_H_
