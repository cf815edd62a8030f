// SPDX-License-Identifier: Apache-2.0
// Sums of rows by key, without writing group ids: few groups use one table, many groups use bins
// that fit the cache, and rows with mostly unique keys are sorted.
#ifndef JAXFRAMES_KERNELS_GROUPS_GROUP_SUMS_H_
#define JAXFRAMES_KERNELS_GROUPS_GROUP_SUMS_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/compensated_sum.h"
#include "groups/few_groups.h"
#include "groups/group_sample.h"
#include "groups/group_table.h"
#include "base/huge_pages.h"
#include "groups/many_groups.h"
#include "base/thread_pool.h"
#include "groups/tile_sums.h"
#include "base/work_array.h"

namespace jaxframes {

template <typename Source, typename Number>
struct GroupSumsRow {
  Source source;
  int64_t num_rows;
  const Number* numbers;  // [num_rows]
  int64_t capacity;
  int32_t* first_row_ids;  // [capacity], 0 from the last group on
  Number* sums;            // [capacity], 0 from the last group on
};

// Bytes of scratch: that of ManyGroups, and an accumulator for each row. Only the memory of those
// of groups is touched.
inline int64_t group_sums_scratch_bytes(int64_t num_rows, int word_bytes) {
  return many_groups_scratch_bytes(num_rows, word_bytes) +
         (num_rows * static_cast<int64_t>(sizeof(SumSoFar<double>)) + 63) / 64 * 64;
}

namespace internal {

// Adds the rows of each group of a bin at the position of the group.
template <typename Number>
struct BinSums {
  const Number* numbers;
  SumSoFar<Number>* sums;

  void prefetch(int32_t row) const { __builtin_prefetch(numbers + row); }
  void add(int64_t begin, int64_t, int32_t group, int32_t row, bool is_new) const {
    SumSoFar<Number>& sum = sums[begin + group];
    if (is_new) sum = {};
    sum.add(numbers[row]);
  }
};

// Rows are added in the bin of their key; only groups are sorted.
template <typename Source, typename Number, typename Sort>
int64_t sum_many_groups(Executor& executor, const GroupSumsRow<Source, Number>& row,
                        const Sort& sort, void* scratch) {
  struct Group {
    Number sum;
    int32_t first_row;
  };
  ManyGroups<Source> many(executor, row.source, row.num_rows, scratch);
  // The sum of the group at each position.
  SumSoFar<Number>* const sums = reinterpret_cast<SumSoFar<Number>*>(
      static_cast<char*>(scratch) +
      many_groups_scratch_bytes(row.num_rows, sizeof(typename Source::Word)));
  advise_huge_pages(sums, row.num_rows * static_cast<int64_t>(sizeof(SumSoFar<Number>)));
  many.find(BinSums<Number>{row.numbers, sums});
  WorkArray<Group> groups(many.num_groups());
  many.for_groups_by_word(
      groups, sort,
      [&](int64_t position) { return Group{sums[position].value(), many.first_row(position)}; },
      [&](int64_t number, const Group& group) {
        if (number >= row.capacity) return;
        row.first_row_ids[number] = group.first_row;
        row.sums[number] = group.sum;
      });
  return many.num_groups();
}

// Whether more than half of the rows seem to have a unique key. With `m` equally frequent keys, a
// sample of `s` rows has about s * s / 2m repetitions.
template <typename Source>
bool are_mostly_distinct(const Source& source, int64_t num_rows) {
  using Word = typename Source::Word;
  const int64_t size = std::min<int64_t>(num_rows / 8, 1 << 16);
  std::vector<Word> words(size), group_words;
  for (int64_t i = 0; i < size; ++i) words[i] = source.word(row_of_stratum(i, size, num_rows));
  GroupTable table;
  table.reset(size, 2);
  for (const Word word : words) {
    const int32_t num_groups = static_cast<int32_t>(group_words.size());
    if (table.find_or_insert(group_words.data(), word, num_groups) == num_groups) {
      group_words.push_back(word);
    }
  }
  const int64_t num_twice = size - static_cast<int64_t>(group_words.size());
  return num_twice < size * size / std::max<int64_t>(num_rows, 1);
}

// Sorts rows by key, and adds the rows of each run of equal keys.
template <typename Source, typename Number, typename Sort>
int64_t sum_sorted_rows(Executor& executor, const GroupSumsRow<Source, Number>& row,
                        const Sort& sort) {
  using Word = typename Source::Word;
  constexpr int64_t kRowsAhead = 32;
  const int64_t size = row.num_rows;
  WorkArray<Word> words(size), sorted_words(size);
  WorkArray<int32_t> row_ids(size);
  const Chunks chunks(size, 1 << 15, executor.num_threads());
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      words[i] = row.source.word(i);
    }
  });
  sort(executor, words.data(), size, sorted_words.data(), row_ids.data());
  const auto is_head = [&](int64_t i) { return i == 0 || sorted_words[i] != sorted_words[i - 1]; };
  std::vector<int64_t> groups_before(chunks.count + 1, 0);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    int64_t num_heads = 0;
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) num_heads += is_head(i);
    groups_before[chunk + 1] = num_heads;
  });
  for (int64_t chunk = 0; chunk < chunks.count; ++chunk) {
    groups_before[chunk + 1] += groups_before[chunk];
  }
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    // A run belongs to the chunk of its first row.
    int64_t group = groups_before[chunk], i = chunks.begin(chunk);
    const int64_t end_group = std::min(groups_before[chunk + 1], row.capacity);
    while (i < chunks.end(chunk) && !is_head(i)) ++i;
    for (; group < end_group; ++group) {
      row.first_row_ids[group] = row_ids[i];
      SumSoFar<Number> sum{};
      do {
        if (i + kRowsAhead < size) __builtin_prefetch(row.numbers + row_ids[i + kRowsAhead]);
        sum.add(row.numbers[row_ids[i++]]);
      } while (i < size && !is_head(i));
      row.sums[group] = sum.value();
    }
  });
  return groups_before.back();
}

}  // namespace internal

// Sums the numbers of each group, in the order of the words; returns the number of groups. `sort`
// is that of factorize; `scratch` holds group_sums_scratch_bytes.
template <typename Source, typename Number, typename Sort>
int64_t sum_groups(Executor& executor, const GroupSumsRow<Source, Number>& row, const Sort& sort,
                   void* scratch) {
  advise_huge_pages(row.first_row_ids, row.capacity * 4);
  advise_huge_pages(row.sums, row.capacity * static_cast<int64_t>(sizeof(Number)));
  const Chunks tiles = Chunks::of_rows(row.num_rows, TileSums<Number>::kTileRows);
  TileSums<Number> tile_sums(tiles, row.numbers);
  FewGroups<Source, TileSums<Number>> few(executor, row.source, tiles, tile_sums);
  int64_t num_groups = 0;
  if (few.find(true, sort)) {
    num_groups = few.groups().size();
    const int64_t num_shown = std::min(row.capacity, num_groups);
    std::copy_n(few.groups().first_rows.begin(), num_shown, row.first_row_ids);
    for (int64_t group = 0; group < num_shown; ++group) row.sums[group] = tile_sums.sum(group);
  } else if (internal::are_mostly_distinct(row.source, row.num_rows)) {
    num_groups = internal::sum_sorted_rows(executor, row, sort);
  } else {
    num_groups = internal::sum_many_groups(executor, row, sort, scratch);
  }
  const int64_t num_shown = std::min(row.capacity, num_groups);
  std::fill(row.first_row_ids + num_shown, row.first_row_ids + row.capacity, 0);
  std::fill(row.sums + num_shown, row.sums + row.capacity, Number{0});
  return num_groups;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_GROUPS_GROUP_SUMS_H_
