// SPDX-License-Identifier: Apache-2.0
// Keys as words for the sort: in the requested order, without unused bits.
#ifndef JAXFRAMES_KERNELS_SORT_ORDERED_WORD_H_
#define JAXFRAMES_KERNELS_SORT_ORDERED_WORD_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/key_order.h"
#include "base/thread_pool.h"

namespace jaxframes {

// Number of bits up to the highest one set; 0 for 0.
inline int bit_width(uint64_t word) {
  return word == 0 ? 0 : 64 - __builtin_clzll(word);
}

// Number of zero bits below the lowest one set; `word` is not 0.
inline int trailing_zeros(uint64_t word) { return __builtin_ctzll(word); }

// A word whose lowest `num_bits` bits are set.
template <typename Word>
Word low_bits(int num_bits) {
  constexpr int kWordBits = 8 * sizeof(Word);
  return num_bits >= kWordBits ? static_cast<Word>(~Word{0})
                               : static_cast<Word>((Word{1} << num_bits) - 1);
}

// Smallest and largest of the ordered keys, and the bits that vary among them.
template <typename Key>
struct KeyRange {
  Key smallest = static_cast<Key>(~Key{0});
  Key largest = 0;
  Key varying = 0;
  // Bits of keys that their ordered number does not determine.
  Key lost = 0;

  void combine(const KeyRange& other) {
    smallest = std::min(smallest, other.smallest);
    largest = std::max(largest, other.largest);
    varying |= other.varying;
    lost |= other.lost;
  }
};

// With `kFindLost` also computes `lost`.
template <bool kFindLost, typename Order, typename Key>
KeyRange<Key> key_range(const Key* keys, int64_t begin, int64_t end, const Order& order,
                        Key compared) {
  const Key reference = order.ordered(keys[0]) & compared;
  Key smallest = static_cast<Key>(~Key{0}), largest = 0, varying = 0, lost = 0;
  for (int64_t i = begin; i < end; ++i) {
    const Key ordered = order.ordered(keys[i]);
    const Key key = ordered & compared;
    smallest = std::min(smallest, key);
    largest = std::max(largest, key);
    varying |= key ^ reference;
    if (kFindLost && !Order::kIsExact) lost |= order.to_key(ordered) ^ keys[i];
  }
  return {smallest, largest, varying, lost};
}

// The range of all keys, by all threads.
template <bool kFindLost, typename Order, typename Key>
KeyRange<Key> key_range(Executor& executor, const Key* keys, int64_t num_keys,
                        const Order& order, Key compared) {
  const Chunks chunks(num_keys, 1 << 16, executor.num_threads());
  if (chunks.count == 1) {
    return key_range<kFindLost>(keys, 0, num_keys, order, compared);
  }
  std::vector<KeyRange<Key>> ranges(chunks.count);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    ranges[chunk] =
        key_range<kFindLost>(keys, chunks.begin(chunk), chunks.end(chunk), order, compared);
  });
  for (int64_t chunk = 1; chunk < chunks.count; ++chunk) {
    ranges[0].combine(ranges[chunk]);
  }
  return ranges[0];
}

// An invertible map from keys to words whose low `num_bits` bits, as unsigned
// numbers, are in the order asked for: the smallest key maps to 0, so that
// keys of a narrow range use few bits wherever the range lies. A `Word` that is
// narrower than `Key` halves the bytes to move.
template <typename Order, typename Word>
struct OrderedWord {
  using Key = typename Order::Key;

  Order order;
  Key base = 0;
  int shift = 0;
  int num_bits = 0;

  OrderedWord() = default;
  OrderedWord(const Order& order, const KeyRange<Key>& range)
      : order(order), base(range.smallest) {
    const Key width = static_cast<Key>(range.largest - range.smallest);
    // Keys with equal low bits differ by multiples of a power of two (as do floats that hold
    // integers).
    if (sizeof(Word) < sizeof(Key)) {
      shift = range.varying == 0 ? 0 : trailing_zeros(range.varying);
    }
    num_bits = bit_width(static_cast<Key>(width >> shift));
  }

  Word from_key(Key key) const {
    // Bits above the compared ones are kept (modulo 2^W), because to_key needs them.
    return static_cast<Word>(static_cast<Key>(order.ordered(key) - base) >> shift);
  }
  // The offset of `key`, by its bits in `compared`, in the range. A key outside an estimated range
  // sets some of the bits in `excess_bits`.
  Key offset(Key key, Key compared) const {
    return static_cast<Key>((order.ordered(key) & compared) - base);
  }
  Key excess_bits() const { return static_cast<Key>(~low_bits<Key>(num_bits + shift)); }
  Key to_key(Word word) const {
    return order.to_key(
        static_cast<Key>(static_cast<Key>(static_cast<Key>(word) << shift) + base));
  }
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_ORDERED_WORD_H_
