// SPDX-License-Identifier: Apache-2.0
// A perfect hash table of known words: every probe reads one slot.
#ifndef JAXFRAMES_KERNELS_GROUPS_PERFECT_TABLE_H_
#define JAXFRAMES_KERNELS_GROUPS_PERFECT_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace jaxframes {

// Hash and displace (Belazzougui, Botelho, Dietzfelbinger 2009): some bits of the hash select a
// small bucket, and the displacement of the bucket maps all of its words to different slots. A
// probe has no loop, hence no branch to mispredict.
template <typename Word>
class PerfectTable {
  struct Slot {
    Word word;
    int32_t index;
  };

 public:
  static constexpr int32_t kAbsent = -1;

  // Returns false if no tried displacement separates some words with similar hashes.
  bool build(const std::vector<Word>& words) {
    // Fewer slots make a smaller table, but need more trials.
    constexpr int64_t kSlotsPerWord = 2, kWordsPerBucket = 4;
    const int64_t num_words = static_cast<int64_t>(words.size());
    int bucket_bits = 1, slot_bits = 6;
    while ((kWordsPerBucket << bucket_bits) < num_words) ++bucket_bits;
    while ((int64_t{1} << slot_bits) < kSlotsPerWord * num_words) ++slot_bits;
    bucket_shift_ = 64 - bucket_bits;
    slot_shift_ = 64 - slot_bits;
    slots_.assign(size_t{1} << slot_bits, Slot{0, kAbsent});
    displacements_.assign(size_t{1} << bucket_bits, 0);

    const int64_t num_buckets = int64_t{1} << bucket_bits;
    std::vector<int32_t> offsets(num_buckets + 1, 0), members(num_words);
    for (const Word word : words) ++offsets[bucket_of(word) + 1];
    for (int64_t bucket = 0; bucket < num_buckets; ++bucket) {
      if (offsets[bucket + 1] > kMostMembers) return false;
      offsets[bucket + 1] += offsets[bucket];
    }
    std::vector<int32_t> positions(offsets.begin(), offsets.end() - 1);
    for (int64_t i = 0; i < num_words; ++i) {
      members[positions[bucket_of(words[i])]++] = static_cast<int32_t>(i);
    }
    // The largest buckets first, while most slots are free.
    for (int32_t size = kMostMembers; size > 0; --size) {
      for (int64_t bucket = 0; bucket < num_buckets; ++bucket) {
        if (offsets[bucket + 1] - offsets[bucket] != size) continue;
        if (!position(words, bucket, members.data() + offsets[bucket], size)) return false;
      }
    }
    return true;
  }

  // The fields of a probe, in a form that a loop can keep in registers.
  struct Probe {
    const Slot* slots;
    const uint64_t* displacements;
    int bucket_shift;
    int slot_shift;

    // The index of the word, or kAbsent.
    int32_t operator()(Word word) const {
      const uint64_t hash = scattered(word);
      const uint64_t displacement = displacements[hash >> bucket_shift];
      const Slot& slot = slots[scattered(hash ^ displacement) >> slot_shift];
      return slot.word == word ? slot.index : kAbsent;
    }
  };

  Probe probe() const {
    return {slots_.data(), displacements_.data(), bucket_shift_, slot_shift_};
  }

 private:
  // Buckets of sixteen times the mean size do not occur by chance, and fit nowhere.
  static constexpr int32_t kMostMembers = 64;

  // One product is enough, because only its high bits are used.
  static uint64_t scattered(uint64_t word) { return word * 0x9E3779B97F4A7C15ull; }

  int64_t bucket_of(Word word) const {
    return static_cast<int64_t>(scattered(word) >> bucket_shift_);
  }

  bool position(const std::vector<Word>& words, int64_t bucket, const int32_t* members,
             int32_t num_members) {
    constexpr uint64_t kMostTrials = 1 << 16;
    for (uint64_t trial = 0; trial < kMostTrials; ++trial) {
      const uint64_t displacement = trial * 0xD1B54A32D192ED03ull;
      const auto slot_of = [&](int32_t member) -> Slot& {
        return slots_[scattered(scattered(words[member]) ^ displacement) >> slot_shift_];
      };
      int32_t placed = 0;
      for (; placed < num_members; ++placed) {
        Slot& slot = slot_of(members[placed]);
        if (slot.index != kAbsent) break;
        slot = {words[members[placed]], members[placed]};
      }
      if (placed == num_members) {
        displacements_[bucket] = displacement;
        return true;
      }
      while (placed-- > 0) slot_of(members[placed]) = {0, kAbsent};
    }
    return false;
  }

  std::vector<Slot> slots_;
  std::vector<uint64_t> displacements_;
  int bucket_shift_ = 63;
  int slot_shift_ = 58;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_GROUPS_PERFECT_TABLE_H_
