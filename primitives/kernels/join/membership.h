// SPDX-License-Identifier: Apache-2.0
// Set membership of keys, by a lookup in a table of the set.
#ifndef JAXFRAMES_KERNELS_JOIN_MEMBERSHIP_H_
#define JAXFRAMES_KERNELS_JOIN_MEMBERSHIP_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "groups/group_table.h"
#include "base/huge_pages.h"
#include "base/thread_pool.h"

namespace jaxframes {

template <typename Order>
struct MembershipRow {
  using Word = typename Order::Key;

  const Word* keys;
  int64_t num_keys;
  const Word* members;
  int64_t num_members;
  Order order;
  Word* slots;        // [num_slots]: memory of the table
  int64_t num_slots;  // a power of two, at least twice num_members
  uint8_t* flags;     // [num_keys]: 1 for each key that is among the members, else 0
};

namespace internal {

constexpr int64_t kMembershipChunkRows = 1 << 14;

// A bitmap, for words in a narrow range.
template <typename Word>
class BitTable {
 public:
  BitTable(Word* slots, Word smallest, Word span)
      : slots_(slots), smallest_(smallest), span_(span) {}

  int64_t num_slots() const { return static_cast<int64_t>(span_ / kBits) + 1; }
  Word empty() const { return 0; }

  void insert(Word word) {
    const Word position = word - smallest_;
    Word& slot = slots_[position / kBits];
    // A read is cheaper than an atomic write, and members often repeat.
    if ((__atomic_load_n(&slot, __ATOMIC_RELAXED) & bit(position)) != 0) return;
    __atomic_fetch_or(&slot, bit(position), __ATOMIC_RELAXED);
  }
  bool contains(Word word) const {
    const Word position = word - smallest_;
    // Without a branch, because whether a key is in the range may be unpredictable.
    const bool is_near = position <= span_;
    return is_near & ((slots_[is_near ? position / kBits : 0] & bit(position)) != 0);
  }
  // The bits fit the cache, or are often read in order.
  void prefetch(Word) const {}

 private:
  static constexpr Word kBits = 8 * sizeof(Word);
  static Word bit(Word position) { return static_cast<Word>(Word{1} << position % kBits); }

  Word* slots_;
  Word smallest_;
  Word span_;
};

// Any words, by open addressing with linear probing. Free slots hold one of the members: a search
// that ends there correctly finds this member and no other word.
template <typename Word>
class HashedTable {
 public:
  HashedTable(Word* slots, int64_t num_slots, Word some_member)
      : slots_(slots), mask_(static_cast<uint64_t>(num_slots - 1)), empty_(some_member) {}

  int64_t num_slots() const { return static_cast<int64_t>(mask_ + 1); }
  Word empty() const { return empty_; }

  void insert(Word word) {
    if (word == empty_) return;
    for (uint64_t slot = hash_of(word) & mask_;; slot = (slot + 1) & mask_) {
      Word found = __atomic_load_n(&slots_[slot], __ATOMIC_RELAXED);
      if (found == empty_ &&
          __atomic_compare_exchange_n(&slots_[slot], &found, word, false, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
        return;
      }
      // Another thread may have written the slot first, with the same or another word.
      if (found == word) return;
    }
  }
  bool contains(Word word) const {
    uint64_t slot = hash_of(word) & mask_;
    while (slots_[slot] != word && slots_[slot] != empty_) slot = (slot + 1) & mask_;
    return slots_[slot] == word;
  }
  void prefetch(Word word) const { __builtin_prefetch(&slots_[hash_of(word) & mask_]); }

 private:
  Word* slots_;
  uint64_t mask_;
  Word empty_;
};

// Calls visit(row, word) for each row, some rows after the table's prefetch, when the data has
// arrived.
template <typename Order, typename Table, typename Visit>
void visit_words(Executor& executor, const typename Order::Key* keys, int64_t num_keys,
                 const Order& order, const Table& table, const Visit& visit) {
  constexpr int64_t kBlock = 32;
  const Chunks chunks(num_keys, kMembershipChunkRows, executor.num_threads());
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    typename Order::Key words[kBlock];
    for (int64_t begin = chunks.begin(chunk); begin < chunks.end(chunk); begin += kBlock) {
      const int64_t size = std::min(kBlock, chunks.end(chunk) - begin);
      for (int64_t i = 0; i < size; ++i) {
        words[i] = order.ordered(keys[begin + i]);
        table.prefetch(words[i]);
      }
      for (int64_t i = 0; i < size; ++i) visit(begin + i, words[i]);
    }
  });
}

template <typename Order, typename Table>
void flag_by_table(Executor& executor, const MembershipRow<Order>& row, Table table) {
  const int64_t num_slots = table.num_slots();
  advise_huge_pages(row.slots, num_slots * static_cast<int64_t>(sizeof(*row.slots)));
  const Chunks chunks(num_slots, kMembershipChunkRows, executor.num_threads());
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    std::fill(row.slots + chunks.begin(chunk), row.slots + chunks.end(chunk), table.empty());
  });
  visit_words(executor, row.members, row.num_members, row.order, table,
              [&](int64_t, typename Order::Key word) { table.insert(word); });
  visit_words(executor, row.keys, row.num_keys, row.order, table,
              [&](int64_t i, typename Order::Key word) { row.flags[i] = table.contains(word); });
}

}  // namespace internal

template <typename Order>
void flag_members(Executor& executor, const MembershipRow<Order>& row) {
  using Word = typename Order::Key;
  if (row.num_members == 0) {
    std::fill(row.flags, row.flags + row.num_keys, uint8_t{0});
    return;
  }
  const Chunks chunks(row.num_members, internal::kMembershipChunkRows, executor.num_threads());
  const Word first = row.order.ordered(row.members[0]);
  std::vector<Word> smallest(chunks.count, first), largest(chunks.count, first);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    Word low = first, high = first;
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      const Word word = row.order.ordered(row.members[i]);
      low = std::min(low, word);
      high = std::max(high, word);
    }
    smallest[chunk] = low;
    largest[chunk] = high;
  });
  const Word low = *std::min_element(smallest.begin(), smallest.end());
  const Word span = *std::max_element(largest.begin(), largest.end()) - low;
  if (span / (8 * sizeof(Word)) < static_cast<uint64_t>(row.num_slots)) {
    internal::flag_by_table(executor, row, internal::BitTable<Word>(row.slots, low, span));
  } else {
    internal::flag_by_table(executor, row,
                            internal::HashedTable<Word>(row.slots, row.num_slots, first));
  }
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_JOIN_MEMBERSHIP_H_
