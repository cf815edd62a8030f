// SPDX-License-Identifier: Apache-2.0
// Factorizes keys of few distinct values: one table, made from a sample of the rows, that
// all threads read.
#ifndef JAXFRAMES_KERNELS_FEW_GROUPS_H_
#define JAXFRAMES_KERNELS_FEW_GROUPS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "group_sample.h"
#include "group_table.h"
#include "perfect_table.h"
#include "thread_pool.h"

namespace jaxframes {

// Numbers the groups in the order of their words, or of their first rows.
template <typename Source>
class FewGroups {
 public:
  using Word = typename Source::Word;

  FewGroups(Executor& executor, const Source& source, int64_t num_rows, int32_t* group_ids)
      : executor_(executor),
        source_(source),
        group_ids_(group_ids),
        chunks_(num_rows, 1 << 14, executor.num_threads()),
        finds_(chunks_.count) {}

  // Returns false where the keys have too many distinct values: `group_ids` and `groups`
  // then mean nothing.
  template <typename Sort>
  bool find(bool in_key_order, const Sort& sort) {
    GroupSample<Source> sample(source_, chunks_.size, groups_);
    if (!sample.take()) return false;
    const int64_t num_sampled = groups_.size();
    if (in_key_order) groups_.order_by_word(executor_, sort);
    if (!table_.build(groups_.words) || !look_up_rows(sample.num_unknown())) return false;
    set_first_rows();
    if (!add_missing_rows()) return false;
    // The numbers of the sample are final, unless others belong between them.
    if (in_key_order && groups_.size() > num_sampled) {
      renumber(groups_.order_by_word(executor_, sort));
    } else if (!in_key_order &&
               !std::is_sorted(groups_.first_rows.begin(), groups_.first_rows.end())) {
      renumber(groups_.order_by_first_row());
    }
    return true;
  }

  const NumberedGroups<Word>& groups() const { return groups_; }

 private:
  using Probe = typename PerfectTable<Word>::Probe;
  static constexpr int32_t kAbsent = PerfectTable<Word>::kAbsent;
  static constexpr int32_t kUnknownRow = NumberedGroups<Word>::kUnknownRow;

  // What is left to do for the rows of a chunk.
  struct Finds {
    std::vector<int32_t> missing_rows;                     // their key is not in the table
    std::vector<std::pair<int32_t, int32_t>> first_rows;  // group and its first row here
  };

  bool look_up_rows(int64_t num_unknown) {
    std::atomic<bool> has_many{false};
    parallel_for(executor_, chunks_.count, [&](int, int64_t chunk) {
      // One chunk is enough to say that the sample was not like the rows.
      if (has_many.load(std::memory_order_relaxed)) return;
      if (!look_up_chunk(chunk, num_unknown)) has_many.store(true, std::memory_order_relaxed);
    });
    return !has_many.load(std::memory_order_relaxed);
  }

  // Rows whose key the table lacks are left for later, as long as they are few.
  bool look_up_chunk(int64_t chunk, int64_t num_unknown) {
    // The processor reads ahead to the end of a page and no further, and too late: without
    // the prefetch 10M rows took a tenth longer.
    constexpr int64_t kBlockRows = 64, kRowsAhead = 256, kLineRows = 64 / sizeof(Word);
    const int64_t begin = chunks_.begin(chunk), end = chunks_.end(chunk);
    const size_t most = static_cast<size_t>((end - begin) / 16);
    const auto probe = table_.probe();
    Finds& finds = finds_[chunk];
    std::vector<uint8_t> is_unknown;
    if (num_unknown > 0) {
      for (const int32_t row : groups_.first_rows) is_unknown.push_back(row == kUnknownRow);
    }
    for (int64_t row = begin; row < end; row += kBlockRows) {
      const int64_t size = std::min(kBlockRows, end - row);
      int32_t* const block = group_ids_ + row;
      if (row + kRowsAhead + kBlockRows <= end) {
        for (int64_t i = 0; i < kBlockRows; i += kLineRows) source_.prefetch(row + kRowsAhead + i);
      }
      if (look_up_block(source_, probe, row, size, block) == kAbsent) {
        for (int64_t i = 0; i < size; ++i) {
          if (block[i] == kAbsent) finds.missing_rows.push_back(static_cast<int32_t>(row + i));
        }
        if (finds.missing_rows.size() > most) return false;
      }
      for (int64_t i = 0; num_unknown > 0 && i < size; ++i) {
        if (block[i] == kAbsent || !is_unknown[block[i]]) continue;
        finds.first_rows.emplace_back(block[i], static_cast<int32_t>(row + i));
        is_unknown[block[i]] = 0;
        --num_unknown;
      }
    }
    return true;
  }

  // Returns kAbsent if a key is. As a function of its own it has registers for all that it
  // reads again and again.
  __attribute__((noinline)) static int32_t look_up_block(const Source source, const Probe probe,
                                                         int64_t row, int64_t size,
                                                         int32_t* block) {
    int32_t all = 0;
    for (int64_t i = 0; i < size; ++i) {
      const int32_t group = probe(source.word(row + i));
      block[i] = group;
      all |= group;
    }
    return all;
  }

  void set_first_rows() {
    for (const Finds& finds : finds_) {
      for (const auto& [group, row] : finds.first_rows) {
        groups_.first_rows[group] = std::min(groups_.first_rows[group], row);
      }
    }
  }

  // The sample has no row of the groups that are added, so their first rows are here.
  bool add_missing_rows() {
    GroupTable table;
    bool is_filled = false;
    for (const Finds& finds : finds_) {
      for (const int32_t row : finds.missing_rows) {
        if (!is_filled) fill(table);
        is_filled = true;
        const Word word = source_.word(row);
        const int32_t num_groups = static_cast<int32_t>(groups_.size());
        group_ids_[row] = table.find_or_insert(groups_.words.data(), word, num_groups);
        if (group_ids_[row] < num_groups) continue;
        groups_.add(word, row);
        if (groups_.size() > 2 * kFewGroups) return false;
      }
    }
    return true;
  }

  void fill(GroupTable& table) const {
    table.reset(groups_.size(), 4);
    for (int64_t group = 0; group < groups_.size(); ++group) {
      table.find_or_insert(groups_.words.data(), groups_.words[group],
                           static_cast<int32_t>(group));
    }
  }

  void renumber(const std::vector<int32_t>& numbers) {
    parallel_for(executor_, chunks_.count, [&](int, int64_t chunk) {
      for (int64_t row = chunks_.begin(chunk); row < chunks_.end(chunk); ++row) {
        group_ids_[row] = numbers[group_ids_[row]];
      }
    });
  }

  Executor& executor_;
  const Source source_;
  int32_t* const group_ids_;
  const Chunks chunks_;
  NumberedGroups<Word> groups_;
  PerfectTable<Word> table_;
  std::vector<Finds> finds_;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_FEW_GROUPS_H_
