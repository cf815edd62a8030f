// SPDX-License-Identifier: Apache-2.0
// A hash table from words to group ids.
#ifndef JAXFRAMES_KERNELS_GROUPS_GROUP_TABLE_H_
#define JAXFRAMES_KERNELS_GROUPS_GROUP_TABLE_H_

#include <cstdint>
#include <vector>

namespace jaxframes {

// Folds the two halves of a product with an odd constant: every bit of the word affects the high
// and the low bits.
inline uint64_t hash_of(uint64_t word) {
  const auto product = static_cast<unsigned __int128>(word ^ 0xA0761D6478BD642Full) *
                       0xE7037ED1A0B428DBull;
  return static_cast<uint64_t>(product >> 64) ^ static_cast<uint64_t>(product);
}

// Open addressing with linear probing. The table holds group ids only; the caller keeps the words
// of the groups in a dense array, so that both fit the cache.
class GroupTable {
 public:
  static constexpr int32_t kAbsent = -1;

  // Empties the table, with a capacity of `num_groups` groups and at least `slots_per_group` slots
  // for each: a probe of a second slot is a mispredicted branch.
  void reset(int64_t num_groups, int64_t slots_per_group) {
    slots_per_group_ = slots_per_group;
    num_slots_ = 64;
    while (num_slots_ < slots_per_group * num_groups) num_slots_ *= 2;
    slots_.assign(num_slots_, kAbsent);
  }

  // The group of a word, or kAbsent.
  template <typename Word>
  int32_t find(const Word* group_words, Word word) const {
    return slots_[slot_of(group_words, word)];
  }

  // The group of a word. A new word becomes the group `num_groups`, which is returned; the caller
  // then writes the word to `group_words[num_groups]`.
  template <typename Word>
  int32_t find_or_insert(const Word* group_words, Word word, int32_t num_groups) {
    const uint64_t slot = slot_of(group_words, word);
    if (slots_[slot] != kAbsent) return slots_[slot];
    slots_[slot] = num_groups;
    if (slots_per_group_ * (int64_t{num_groups} + 1) > 2 * num_slots_) {
      grow(group_words, word, num_groups);
    }
    return num_groups;
  }

 private:
  // The slot of the word's group, or the free slot for it.
  template <typename Word>
  uint64_t slot_of(const Word* group_words, Word word) const {
    const uint64_t mask = static_cast<uint64_t>(num_slots_ - 1);
    uint64_t slot = hash_of(word) & mask;
    while (slots_[slot] != kAbsent && group_words[slots_[slot]] != word) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  // The last group's word is not among `group_words` yet.
  template <typename Word>
  void grow(const Word* group_words, Word last_word, int32_t last_group) {
    num_slots_ *= 4;
    slots_.assign(num_slots_, kAbsent);
    for (int32_t group = 0; group < last_group; ++group) {
      slots_[free_slot(group_words[group])] = group;
    }
    slots_[free_slot(last_word)] = last_group;
  }

  uint64_t free_slot(uint64_t word) const {
    const uint64_t mask = static_cast<uint64_t>(num_slots_ - 1);
    uint64_t slot = hash_of(word) & mask;
    while (slots_[slot] != kAbsent) slot = (slot + 1) & mask;
    return slot;
  }

  std::vector<int32_t> slots_;
  int64_t num_slots_ = 0;
  int64_t slots_per_group_ = 0;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_GROUPS_GROUP_TABLE_H_
