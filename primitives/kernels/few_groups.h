// SPDX-License-Identifier: Apache-2.0
// Factorizes keys of few distinct values: one table, made from the first rows, that all
// threads read.
#ifndef JAXFRAMES_KERNELS_FEW_GROUPS_H_
#define JAXFRAMES_KERNELS_FEW_GROUPS_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "group_table.h"
#include "perfect_table.h"
#include "thread_pool.h"

namespace jaxframes {

// As many rows are read before the table is taken for complete. Shorter inputs never
// leave this path.
constexpr int64_t kSampleRows = 1 << 15;
// More groups than this and the table outgrows the second cache.
constexpr int64_t kFewGroups = 1 << 13;

// The groups by number: their words and first rows.
template <typename Word>
struct NumberedGroups {
  std::vector<Word> words;
  std::vector<int32_t> first_rows;

  int64_t size() const { return static_cast<int64_t>(words.size()); }

  void add(Word word, int64_t row) {
    words.push_back(word);
    first_rows.push_back(static_cast<int32_t>(row));
  }

  // Puts the groups in the order of their words; returns the new number of each.
  // `sort(executor, words, num_words, sorted_words, positions)` sorts words.
  template <typename Sort>
  std::vector<int32_t> order_by_word(Executor& executor, const Sort& sort) {
    std::vector<Word> sorted_words(size());
    std::vector<int32_t> positions(size());
    sort(executor, words.data(), size(), sorted_words.data(), positions.data());
    std::vector<int32_t> sorted_rows(size()), numbers(size());
    for (int64_t number = 0; number < size(); ++number) {
      sorted_rows[number] = first_rows[positions[number]];
      numbers[positions[number]] = static_cast<int32_t>(number);
    }
    words = std::move(sorted_words);
    first_rows = std::move(sorted_rows);
    return numbers;
  }
};

// Numbers the groups in the order of their words, or of their first rows. Returns false
// where the keys have too many distinct values: `group_ids` and `groups` then mean nothing.
template <typename Source, typename Sort>
bool factorize_few(Executor& executor, const Source& source, int64_t num_rows,
                   bool in_key_order, const Sort& sort, int32_t* group_ids,
                   NumberedGroups<typename Source::Word>& groups) {
  using Word = typename Source::Word;
  constexpr int64_t kSlotsPerGroup = 4, kBlockRows = 64;
  GroupTable table;
  const auto insert = [&](int64_t row) {
    const Word word = source.word(row);
    const int32_t num_groups = static_cast<int32_t>(groups.size());
    const int32_t group = table.find_or_insert(groups.words.data(), word, num_groups);
    if (group == num_groups) groups.add(word, row);
    return group;
  };

  const int64_t sample_rows = std::min(num_rows, kSampleRows);
  table.reset(1 << 8, kSlotsPerGroup);
  for (int64_t row = 0; row < sample_rows; ++row) {
    insert(row);
    if (groups.size() > kFewGroups && sample_rows < num_rows) return false;
  }
  if (in_key_order) groups.order_by_word(executor, sort);
  PerfectTable sampled;
  if (!sampled.build(groups.words)) return false;

  // Rows whose key the sample lacks are left for later, as long as they are few.
  const Chunks chunks(num_rows, 1 << 14, executor.num_threads());
  std::vector<std::vector<int32_t>> missing(chunks.count);
  std::atomic<bool> has_many{false};
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    const int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
    const size_t most = static_cast<size_t>((end - begin) / 16);
    const auto probe = sampled.probe(groups.words);
    const Source own_source = source;
    for (int64_t row = begin; row < end; row += kBlockRows) {
      const int64_t block_end = std::min(row + kBlockRows, end);
      int32_t block[kBlockRows];
      int32_t all = 0;
      for (int64_t i = row; i < block_end; ++i) {
        block[i - row] = probe(own_source.word(i));
        all |= block[i - row];
      }
      std::copy_n(block, block_end - row, group_ids + row);
      if (all != PerfectTable::kAbsent) continue;
      for (int64_t i = row; i < block_end; ++i) {
        if (block[i - row] == PerfectTable::kAbsent) {
          missing[chunk].push_back(static_cast<int32_t>(i));
        }
      }
      if (missing[chunk].size() > most) {
        has_many.store(true, std::memory_order_relaxed);
        return;
      }
    }
  });
  if (has_many.load(std::memory_order_relaxed)) return false;

  // New groups take the numbers after the sample's: that is the order of first rows.
  const int64_t num_sampled = groups.size();
  table.reset(num_sampled, kSlotsPerGroup);
  for (int32_t group = 0; group < num_sampled; ++group) {
    table.find_or_insert(groups.words.data(), groups.words[group], group);
  }
  for (const std::vector<int32_t>& rows : missing) {
    for (const int32_t row : rows) {
      group_ids[row] = insert(row);
      if (groups.size() > 2 * kFewGroups) return false;
    }
  }
  if (in_key_order && groups.size() > num_sampled) {
    const std::vector<int32_t> numbers = groups.order_by_word(executor, sort);
    parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
      for (int64_t row = chunks.begin(chunk); row < chunks.end(chunk); ++row) {
        group_ids[row] = numbers[group_ids[row]];
      }
    });
  }
  return true;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_FEW_GROUPS_H_
