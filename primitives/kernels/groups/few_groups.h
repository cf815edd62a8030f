// SPDX-License-Identifier: Apache-2.0
// Factorizes keys with few distinct values: all threads read one table, built from a sample.
#ifndef JAXFRAMES_KERNELS_GROUPS_FEW_GROUPS_H_
#define JAXFRAMES_KERNELS_GROUPS_FEW_GROUPS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

#include "groups/group_sample.h"
#include "groups/group_table.h"
#include "groups/perfect_table.h"
#include "base/thread_pool.h"

namespace jaxframes {

// Numbers the groups in the order of their words, or of their first rows, and hands the
// groups of rows to `ids`, a chunk at a time:
//   start(n)          n groups are known; others are added later
//   begin(chunk)      where to write the group of each row of the chunk
//   end(chunk, out)   they are written there: kAbsent for a row whose group is not known
//   set(row, group)   the group of such a row; these rows come in their order, after all chunks
//   renumber(numbers) group g is numbers[g] in the end
// Threads call `begin` and `end` at the same time. A group that is not known at first has
// no row but those of `set`.
template <typename Source, typename Ids>
class FewGroups {
 public:
  using Word = typename Source::Word;

  FewGroups(Executor& executor, const Source& source, const Chunks& chunks, Ids& ids)
      : executor_(executor),
        source_(source),
        ids_(ids),
        chunks_(chunks),
        missing_rows_(chunks_.count),
        workers_(executor.num_threads()) {}

  // Returns false if the keys have too many distinct values; then `groups` and the calls of `ids`
  // are meaningless.
  template <typename Sort>
  bool find(bool in_key_order, const Sort& sort) {
    GroupSample<Source> sample(source_, chunks_.size, groups_);
    if (!sample.take()) return false;
    const int64_t num_sampled = groups_.size();
    if (in_key_order) groups_.order_by_word(executor_, sort);
    if (!table_.build(groups_.words)) return false;
    ids_.start(num_sampled);
    if (!look_up_rows(sample.num_unknown())) return false;
    set_first_rows();
    if (!add_missing_rows()) return false;
    // The numbers of the sample are final, unless new groups belong between them.
    if (in_key_order && groups_.size() > num_sampled) {
      ids_.renumber(groups_.order_by_word(executor_, sort));
    } else if (!in_key_order &&
               !std::is_sorted(groups_.first_rows.begin(), groups_.first_rows.end())) {
      ids_.renumber(groups_.order_by_first_row());
    }
    return true;
  }

  const NumberedGroups<Word>& groups() const { return groups_; }

 private:
  using Probe = typename PerfectTable<Word>::Probe;
  static constexpr int32_t kAbsent = PerfectTable<Word>::kAbsent;
  static constexpr int32_t kUnknownRow = NumberedGroups<Word>::kUnknownRow;

  // The state of a thread over its chunks, which it takes in order.
  struct Worker {
    int64_t num_rows = 0;
    int64_t num_missing = 0;           // rows with a key outside the table
    int64_t num_unknown = 0;           // groups without a row so far
    std::vector<uint8_t> is_unknown;   // empty before its first chunk
    std::vector<std::pair<int32_t, int32_t>> first_rows;  // group and its first row here
  };

  bool look_up_rows(int64_t num_unknown) {
    std::atomic<bool> has_many{false};
    parallel_for(executor_, chunks_.count, [&](int worker, int64_t chunk) {
      // One thread is enough to reject the sample.
      if (has_many.load(std::memory_order_relaxed)) return;
      if (!look_up_chunk(workers_[worker], chunk, num_unknown)) {
        has_many.store(true, std::memory_order_relaxed);
      }
    });
    return !has_many.load(std::memory_order_relaxed);
  }

  // Rows with a key outside the table are deferred while they are few.
  bool look_up_chunk(Worker& worker, int64_t chunk, int64_t num_unknown) {
    // The processor prefetches only to the end of a page, and too late: without this prefetch 10M
    // rows took a tenth longer.
    constexpr int64_t kBlockRows = 64, kRowsAhead = 256, kLineRows = 64 / sizeof(Word);
    const int64_t begin = chunks_.begin(chunk), end = chunks_.end(chunk);
    const auto probe = table_.probe();
    if (num_unknown > 0 && worker.is_unknown.empty()) {
      worker.num_unknown = num_unknown;
      for (const int32_t row : groups_.first_rows) {
        worker.is_unknown.push_back(row == kUnknownRow);
      }
    }
    worker.num_rows += end - begin;
    int32_t* const ids = ids_.begin(chunk);
    for (int64_t row = begin; row < end; row += kBlockRows) {
      const int64_t size = std::min(kBlockRows, end - row);
      int32_t* const block = ids + (row - begin);
      if (row + kRowsAhead + kBlockRows <= end) {
        for (int64_t i = 0; i < kBlockRows; i += kLineRows) source_.prefetch(row + kRowsAhead + i);
      }
      if (look_up_block(source_, probe, row, size, block) == kAbsent) {
        for (int64_t i = 0; i < size; ++i) {
          if (block[i] == kAbsent) missing_rows_[chunk].push_back(static_cast<int32_t>(row + i));
        }
      }
      for (int64_t i = 0; worker.num_unknown > 0 && i < size; ++i) {
        if (block[i] == kAbsent || !worker.is_unknown[block[i]]) continue;
        worker.first_rows.emplace_back(block[i], static_cast<int32_t>(row + i));
        worker.is_unknown[block[i]] = 0;
        --worker.num_unknown;
      }
    }
    ids_.end(chunk, ids);
    worker.num_missing += static_cast<int64_t>(missing_rows_[chunk].size());
    return worker.num_missing <= most_missing(worker.num_rows);
  }

  // Largest number of deferred rows of a thread: a sixteenth, and more at first, because the rows
  // of a key may be adjacent.
  int64_t most_missing(int64_t num_rows) const {
    return (num_rows + chunks_.size / (4 * executor_.num_threads())) / 16;
  }

  // Returns kAbsent if a key is absent. A separate function has registers for its loop variables.
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
    for (const Worker& worker : workers_) {
      for (const auto& [group, row] : worker.first_rows) {
        groups_.first_rows[group] = std::min(groups_.first_rows[group], row);
      }
    }
  }

  // The sample has no row of the added groups, so their first rows are here.
  bool add_missing_rows() {
    GroupTable table;
    bool is_filled = false;
    for (const std::vector<int32_t>& rows : missing_rows_) {
      for (const int32_t row : rows) {
        if (!is_filled) fill(table);
        is_filled = true;
        const Word word = source_.word(row);
        const int32_t num_groups = static_cast<int32_t>(groups_.size());
        const int32_t group = table.find_or_insert(groups_.words.data(), word, num_groups);
        if (group == num_groups) groups_.add(word, row);
        if (groups_.size() > 2 * kFewGroups) return false;
        ids_.set(row, group);
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

  Executor& executor_;
  const Source source_;
  Ids& ids_;
  const Chunks chunks_;
  NumberedGroups<Word> groups_;
  PerfectTable<Word> table_;
  std::vector<std::vector<int32_t>> missing_rows_;  // of each chunk
  std::vector<Worker> workers_;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_GROUPS_FEW_GROUPS_H_
