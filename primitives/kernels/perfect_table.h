// SPDX-License-Identifier: Apache-2.0
// A hash table of known words in which every probe ends where it begins.
#ifndef JAXFRAMES_KERNELS_PERFECT_TABLE_H_
#define JAXFRAMES_KERNELS_PERFECT_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace jaxframes {

// Hash and displace (Belazzougui, Botelho, Dietzfelbinger 2009): words fall into small
// buckets by some bits of their hash, and each bucket has a displacement that takes all of
// its words to slots of their own. A probe has no loop, hence no branch to mispredict.
class PerfectTable {
 public:
  static constexpr int32_t kAbsent = -1;

  // Returns false where no displacement that was tried separates some words: those whose
  // hashes are close together.
  template <typename Word>
  bool build(const std::vector<Word>& words) {
    constexpr int64_t kSlotsPerWord = 6, kWordsPerBucket = 4;
    int bucket_bits = 1;
    while ((kWordsPerBucket << bucket_bits) < static_cast<int64_t>(words.size())) ++bucket_bits;
    bucket_shift_ = 64 - bucket_bits;
    int slot_bits = 6;
    while ((int64_t{1} << slot_bits) < kSlotsPerWord * static_cast<int64_t>(words.size())) {
      ++slot_bits;
    }
    slot_shift_ = 64 - slot_bits;
    slots_.assign(size_t{1} << slot_bits, kAbsent);
    displacements_.assign(size_t{1} << bucket_bits, 0);

    std::vector<std::vector<int32_t>> buckets(displacements_.size());
    for (size_t i = 0; i < words.size(); ++i) {
      buckets[scattered(words[i]) >> bucket_shift_].push_back(static_cast<int32_t>(i));
    }
    // The largest buckets first, while most slots are free.
    std::vector<int32_t> order(buckets.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
      return buckets[a].size() > buckets[b].size();
    });
    return std::all_of(order.begin(), order.end(),
                       [&](int32_t bucket) { return place(words, bucket, buckets[bucket]); });
  }

  // What a probe reads, in a form that a loop can keep in registers.
  template <typename Word>
  struct Probe {
    const int32_t* slots;
    const uint64_t* displacements;
    int bucket_shift;
    int slot_shift;
    const Word* words;

    // Which of the words this one is, or kAbsent.
    int32_t operator()(Word word) const {
      const uint64_t hash = scattered(word);
      const uint64_t displacement = displacements[hash >> bucket_shift];
      const int32_t index = slots[scattered(hash ^ displacement) >> slot_shift];
      // A free slot reads the first word, which does not hash to it.
      return words[std::max(index, 0)] == word ? index : kAbsent;
    }
  };

  template <typename Word>
  Probe<Word> probe(const std::vector<Word>& words) const {
    return {slots_.data(), displacements_.data(), bucket_shift_, slot_shift_, words.data()};
  }

 private:
  // One product is enough for the high bits, and nothing else is used of it.
  static uint64_t scattered(uint64_t word) { return word * 0x9E3779B97F4A7C15ull; }

  template <typename Word>
  bool place(const std::vector<Word>& words, int32_t bucket,
             const std::vector<int32_t>& members) {
    // Buckets of sixteen times the mean size do not come by chance, and fit nowhere.
    constexpr size_t kMostMembers = 64;
    constexpr uint64_t kMostTrials = 1 << 16;
    if (members.size() > kMostMembers) return false;
    for (uint64_t trial = 0; trial < kMostTrials; ++trial) {
      const uint64_t displacement = trial * 0xD1B54A32D192ED03ull;
      const auto slot_of = [&](int32_t member) -> int32_t& {
        return slots_[scattered(scattered(words[member]) ^ displacement) >> slot_shift_];
      };
      size_t placed = 0;
      for (; placed < members.size(); ++placed) {
        int32_t& slot = slot_of(members[placed]);
        if (slot != kAbsent) break;
        slot = members[placed];
      }
      if (placed == members.size()) {
        displacements_[bucket] = displacement;
        return true;
      }
      while (placed-- > 0) slot_of(members[placed]) = kAbsent;
    }
    return false;
  }

  std::vector<int32_t> slots_;
  std::vector<uint64_t> displacements_;
  int bucket_shift_ = 63;
  int slot_shift_ = 58;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_PERFECT_TABLE_H_
