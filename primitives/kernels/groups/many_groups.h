// SPDX-License-Identifier: Apache-2.0
// Factorizes keys with many distinct values: partitions rows by the hash of their key into bins
// with tables that fit the cache (Manegold, Boncz, Kersten 2002).
#ifndef JAXFRAMES_KERNELS_GROUPS_MANY_GROUPS_H_
#define JAXFRAMES_KERNELS_GROUPS_MANY_GROUPS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sort/digit_partition.h"
#include "groups/group_table.h"
#include "base/huge_pages.h"
#include "sort/ordered_word.h"
#include "groups/row_flags.h"
#include "sort/rows.h"
#include "base/thread_pool.h"
#include "base/work_array.h"

namespace jaxframes {

// The bin of a row: the highest bits of its hash. The tables use the lowest.
struct HashDigit {
  int num_bits;

  template <typename Word>
  uint32_t of(Word word) const {
    return static_cast<uint32_t>(hash_of(word) >> (64 - num_bits));
  }
  int64_t num_bins() const { return int64_t{1} << num_bits; }
};

// Bytes of scratch: the word, the id and the group of each row, by bin.
inline int64_t many_groups_scratch_bytes(int64_t num_rows, int word_bytes) {
  return (num_rows * (word_bytes + 8) + 63) / 64 * 64;
}

template <typename Source>
class ManyGroups {
 public:
  using Word = typename Source::Word;

  // `scratch` holds many_groups_scratch_bytes.
  ManyGroups(Executor& executor, const Source& source, int64_t num_rows, void* scratch)
      : executor_(executor),
        source_(source),
        num_rows_(num_rows),
        digit_{std::clamp(bit_width(num_rows / kBinRows), 1, kMaxBinBits)},
        words_(static_cast<Word*>(scratch)),
        row_ids_(reinterpret_cast<int32_t*>(words_ + num_rows)),
        group_ids_(row_ids_ + num_rows) {
    advise_huge_pages(scratch, many_groups_scratch_bytes(num_rows, sizeof(Word)));
  }

  // Partitions the rows and finds the groups of each bin. Afterwards the words and first rows of
  // its groups are at the front of the bin, in the order of their first rows.
  void find() { find(RowGroups{group_ids_}); }

  // The same without group ids. For the rows of each bin, in their order,
  // calls visitor.add(begin, i, group, row, is_new): the bin starts at `begin`, the row is the i-th
  // of the bin, and its group has the position `group` there; is_new marks the first row of a
  // group. visitor.prefetch(row) is called some rows earlier.
  template <typename Visitor>
  void find(const Visitor& visitor) {
    ChunkCounts counts;
    count_digits(executor_, source_, num_rows_, digit_, counts, bin_offsets_);
    chunk_offsets_ = counts;
    move_to_bins(executor_, source_, num_rows_, digit_, counts,
                 WorkRows<Word, true>{words_, row_ids_});
    group_offsets_.assign(num_bins() + 1, 0);
    std::vector<GroupTable> tables(executor_.num_threads());
    parallel_for(executor_, num_bins(), [&](int worker, int64_t bin) {
      group_offsets_[bin + 1] = find_in_bin(tables[worker], bin, visitor);
    });
    for (int64_t bin = 0; bin < num_bins(); ++bin) {
      group_offsets_[bin + 1] += group_offsets_[bin];
    }
  }

  int64_t num_groups() const { return group_offsets_.back(); }

  // Writes the first rows of the first `capacity` groups in the order of their first
  // rows, and numbers the groups so.
  void number_by_first_row(int64_t capacity, int32_t* first_row_ids) {
    RowFlags is_first(num_rows_);
    parallel_for(executor_, num_bins(), [&](int, int64_t bin) {
      const int32_t* const first_rows = row_ids_ + bin_offsets_[bin];
      for (int64_t i = 0; i < num_groups_of(bin); ++i) is_first.add(first_rows[i]);
    });
    is_first.count(executor_);
    parallel_for(executor_, num_bins(), [&](int, int64_t bin) {
      int32_t* const first_rows = row_ids_ + bin_offsets_[bin];
      for (int64_t i = 0; i < num_groups_of(bin); ++i) {
        const int32_t number = is_first.rank(first_rows[i]);
        if (number < capacity) first_row_ids[number] = first_rows[i];
        first_rows[i] = number;
      }
    });
  }

  // The same in the order of the words. `sort(executor, words, num_words, sorted_words,
  // positions)` sorts words.
  template <typename Sort>
  void number_by_word(int64_t capacity, int32_t* first_row_ids, const Sort& sort) {
    // One cache line holds both, because groups in the order of their words are scattered.
    struct Group {
      int32_t first_row, number;
    };
    WorkArray<Group> groups(num_groups());
    for_groups_by_word(
        groups, sort, [&](int64_t position) { return Group{row_ids_[position], 0}; },
        [&](int64_t number, Group& group) {
          group.number = static_cast<int32_t>(number);
          if (number < capacity) first_row_ids[number] = group.first_row;
        });
    parallel_for(executor_, num_bins(), [&](int, int64_t bin) {
      int32_t* const first_rows = row_ids_ + bin_offsets_[bin];
      for (int64_t i = 0; i < num_groups_of(bin); ++i) {
        first_rows[i] = groups[group_offsets_[bin] + i].number;
      }
    });
  }

  // Fills `groups`, bin after bin, with what group_at(position) returns, and calls
  // each_group(number, group) for each of them, numbered in the order of their words.
  template <typename Group, typename Sort, typename GroupAt, typename EachGroup>
  void for_groups_by_word(WorkArray<Group>& groups, const Sort& sort, const GroupAt& group_at,
                          const EachGroup& each_group) {
    const int64_t size = num_groups();
    WorkArray<Word> words(size), sorted_words(size);
    WorkArray<int32_t> positions(size);
    parallel_for(executor_, num_bins(), [&](int, int64_t bin) {
      const int64_t begin = bin_offsets_[bin], first_group = group_offsets_[bin];
      std::copy_n(words_ + begin, num_groups_of(bin), words.data() + first_group);
      for (int64_t i = 0; i < num_groups_of(bin); ++i) {
        groups[first_group + i] = group_at(begin + i);
      }
    });
    sort(executor_, words.data(), size, sorted_words.data(), positions.data());
    const Chunks chunks(size, 1 << 15, executor_.num_threads());
    parallel_for(executor_, chunks.count, [&](int, int64_t chunk) {
      for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
        if (i + kGroupsAhead < size) {
          __builtin_prefetch(&groups[positions[i + kGroupsAhead]], 1);
        }
        each_group(i, groups[positions[i]]);
      }
    });
  }

  // The first row of the group at a position, before the groups are numbered.
  int32_t first_row(int64_t position) const { return row_ids_[position]; }

  // Writes the group id of each row, after the groups were numbered.
  void write(int32_t* group_ids) {
    parallel_for(executor_, num_bins(), [&](int, int64_t bin) {
      const int32_t* const numbers = row_ids_ + bin_offsets_[bin];
      for (int64_t i = bin_offsets_[bin]; i < bin_offsets_[bin + 1]; ++i) {
        group_ids_[i] = numbers[group_ids_[i]];
      }
    });
    // Each chunk of rows reads every bin from the position of its first row on.
    const Chunks chunks = partition_chunks(executor_, num_rows_);
    parallel_for(executor_, chunks.count, [&](int, int64_t chunk) {
      uint32_t* const positions = chunk_offsets_.chunk(chunk);
      for (int64_t row = chunks.begin(chunk); row < chunks.end(chunk); ++row) {
        uint32_t& position = positions[digit_.of(source_.word(row))];
        group_ids[row] = group_ids_[position];
        prefetch_after<false>(group_ids_ + position);
        ++position;
      }
    });
  }

 private:
  // A table for the groups of this many rows fits the second cache.
  static constexpr int64_t kBinRows = 1 << 13;
  static constexpr int kMaxBinBits = 10;
  static constexpr int64_t kSlotsPerGroup = 4;
  // Prefetch distance in groups: 16 to 64 took the same time.
  static constexpr int64_t kGroupsAhead = 16;
  // The rows of a bin are scattered: each is a cache line of its own.
  static constexpr int64_t kRowsAhead = 32;

  int64_t num_bins() const { return digit_.num_bins(); }
  int64_t num_groups_of(int64_t bin) const {
    return group_offsets_[bin + 1] - group_offsets_[bin];
  }

  // Records the group of each row, by bin.
  struct RowGroups {
    int32_t* group_ids;

    void prefetch(int32_t) const {}
    void add(int64_t begin, int64_t i, int32_t group, int32_t, bool) const {
      group_ids[begin + i] = group;
    }
  };

  template <typename Visitor>
  int64_t find_in_bin(GroupTable& table, int64_t bin, const Visitor& visitor) {
    const int64_t begin = bin_offsets_[bin], size = bin_offsets_[bin + 1] - begin;
    Word* const words = words_ + begin;
    int32_t* const row_ids = row_ids_ + begin;
    table.reset(std::min(size / 2 + 1, 2 * kBinRows), kSlotsPerGroup);
    int32_t num_groups = 0;
    for (int64_t i = 0; i < size; ++i) {
      const Word word = words[i];
      const int32_t group = table.find_or_insert(words, word, num_groups);
      if (i + kRowsAhead < size) visitor.prefetch(row_ids[i + kRowsAhead]);
      visitor.add(begin, i, group, row_ids[i], group == num_groups);
      // A group's position is never after its row.
      if (group == num_groups) {
        words[num_groups] = word;
        row_ids[num_groups] = row_ids[i];
        ++num_groups;
      }
    }
    return num_groups;
  }

  Executor& executor_;
  const Source source_;
  const int64_t num_rows_;
  const HashDigit digit_;
  Word* const words_;
  int32_t* const row_ids_;
  int32_t* const group_ids_;
  std::vector<uint32_t> bin_offsets_;
  std::vector<int64_t> group_offsets_;
  ChunkCounts chunk_offsets_;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_GROUPS_MANY_GROUPS_H_
