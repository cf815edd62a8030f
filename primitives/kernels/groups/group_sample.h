// SPDX-License-Identifier: Apache-2.0
// The groups of a sample of rows, large enough to contain nearly all groups if they are few.
#ifndef JAXFRAMES_KERNELS_GROUPS_GROUP_SAMPLE_H_
#define JAXFRAMES_KERNELS_GROUPS_GROUP_SAMPLE_H_

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "groups/group_table.h"
#include "base/thread_pool.h"

namespace jaxframes {

// Minimal number of rows before the groups count as complete.
constexpr int64_t kSampleRows = 1 << 15;
constexpr int64_t kMostSampleRows = 1 << 19;
// With 10M rows and 100k distinct keys on two cores the table took 50 ms and bins took 100; with
// 200k they were equal, because one thread takes the sample.
constexpr int64_t kFewGroups = 1 << 17;

// The words and first rows of the groups, by group id.
template <typename Word>
struct NumberedGroups {
  static constexpr int32_t kUnknownRow = std::numeric_limits<int32_t>::max();

  std::vector<Word> words;
  std::vector<int32_t> first_rows;

  int64_t size() const { return static_cast<int64_t>(words.size()); }

  void add(Word word, int64_t row) {
    words.push_back(word);
    first_rows.push_back(static_cast<int32_t>(row));
  }

  // Orders the groups by their words; returns the new id of each.
  // `sort(executor, words, num_words, sorted_words, positions)` sorts words.
  template <typename Sort>
  std::vector<int32_t> order_by_word(Executor& executor, const Sort& sort) {
    std::vector<Word> sorted_words(size());
    std::vector<int32_t> positions(size());
    sort(executor, words.data(), size(), sorted_words.data(), positions.data());
    return reorder(positions);
  }

  // The same in the order of their first rows.
  std::vector<int32_t> order_by_first_row() {
    std::vector<int32_t> positions(size());
    std::iota(positions.begin(), positions.end(), 0);
    std::sort(positions.begin(), positions.end(),
              [&](int32_t a, int32_t b) { return first_rows[a] < first_rows[b]; });
    return reorder(positions);
  }

 private:
  std::vector<int32_t> reorder(const std::vector<int32_t>& positions) {
    NumberedGroups ordered;
    std::vector<int32_t> numbers(size());
    for (int64_t number = 0; number < size(); ++number) {
      const int32_t position = positions[number];
      ordered.add(words[position], first_rows[position]);
      numbers[position] = static_cast<int32_t>(number);
    }
    *this = std::move(ordered);
    return numbers;
  }
};

// A row of the i-th of `size` equal strata of the rows; not at equal distances, because keys may be
// periodic.
inline int64_t row_of_stratum(int64_t i, int64_t size, int64_t num_rows) {
  const int64_t begin = num_rows * i / size, end = num_rows * (i + 1) / size;
  const uint64_t dice = hash_of(static_cast<uint64_t>(i)) >> 32;
  return begin + static_cast<int64_t>(dice * (end - begin) >> 32);
}

// Reads rows from the front while they bring new groups, so their first rows are known. Then it
// samples the remaining rows: sorted or time-dependent keys show few of their values at the front.
template <typename Source>
class GroupSample {
 public:
  using Word = typename Source::Word;

  GroupSample(const Source& source, int64_t num_rows, NumberedGroups<Word>& groups)
      : source_(source), num_rows_(num_rows), groups_(groups) {
    table_.reset(1 << 8, kSlotsPerGroup);
  }

  // Returns false if there are too many groups. A group from the remaining rows has an unknown
  // first row.
  bool take() { return take_front() && (num_front_ == num_rows_ || take_rest()); }

  int64_t num_unknown() const { return num_unknown_; }

 private:
  static constexpr int64_t kSlotsPerGroup = 4;

  bool take_front() {
    // Bounds on the rows of a round with new groups. The sample should miss very few groups: each
    // costs little, but the first one costs an extra pass.
    constexpr int64_t kOldPerNew = 1024, kMostOldPerNew = 32;
    const int64_t most_rows = std::max(kSampleRows, std::min(num_rows_ / 8, kMostSampleRows));
    for (;;) {
      const int64_t begin = num_front_, before = groups_.size();
      num_front_ = std::min(num_rows_, std::max(2 * begin, kSampleRows / 2));
      for (int64_t row = begin; row < num_front_; ++row) add(source_.word(row), row);
      if (num_front_ == num_rows_) return true;
      if (num_front_ < kSampleRows) continue;
      const int64_t round_rows = num_front_ - begin, num_new = groups_.size() - before;
      if (num_new * kOldPerNew <= round_rows) return true;
      // If most keys are still new, there are too many groups.
      if (num_front_ == kSampleRows && 6 * num_new > 5 * round_rows) return false;
      if (groups_.size() > kFewGroups) return false;
      if (num_front_ >= most_rows) return num_new * kMostOldPerNew <= round_rows;
    }
  }

  bool take_rest() {
    constexpr int64_t kOldPerNew = 64, kFirstRound = kSampleRows / 4;
    const int64_t rest = num_rows_ - num_front_;
    std::vector<Word> words;
    for (int64_t size = std::min(kFirstRound, rest / 4);; size *= 2) {
      // Words first, so that many reads of memory overlap.
      words.resize(size);
      for (int64_t i = 0; i < size; ++i) {
        words[i] = source_.word(num_front_ + row_of_stratum(i, size, rest));
      }
      int64_t num_new = 0;
      for (const Word word : words) {
        num_new += table_.find(groups_.words.data(), word) == GroupTable::kAbsent;
      }
      if (num_new * kOldPerNew <= size) return true;
      for (const Word word : words) num_unknown_ += add(word, NumberedGroups<Word>::kUnknownRow);
      if (groups_.size() > kFewGroups || size > rest / 8 || size > kMostSampleRows / 4) {
        return false;
      }
    }
  }

  // Returns whether the word was new.
  bool add(Word word, int64_t row) {
    const int32_t num_groups = static_cast<int32_t>(groups_.size());
    if (table_.find_or_insert(groups_.words.data(), word, num_groups) != num_groups) return false;
    groups_.add(word, row);
    return true;
  }

  const Source source_;
  const int64_t num_rows_;
  NumberedGroups<Word>& groups_;
  GroupTable table_;
  int64_t num_front_ = 0;
  int64_t num_unknown_ = 0;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_GROUPS_GROUP_SAMPLE_H_
