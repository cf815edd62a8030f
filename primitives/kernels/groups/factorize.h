// SPDX-License-Identifier: Apache-2.0
// Assigns group ids to the keys of rows.
#ifndef JAXFRAMES_KERNELS_GROUPS_FACTORIZE_H_
#define JAXFRAMES_KERNELS_GROUPS_FACTORIZE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "groups/few_groups.h"
#include "base/huge_pages.h"
#include "groups/many_groups.h"
#include "base/thread_pool.h"

namespace jaxframes {

template <typename Source>
struct FactorizeRow {
  Source source;
  int64_t num_rows;
  bool in_key_order;  // otherwise in the order of the groups' first rows
  int64_t capacity;
  int32_t* group_ids;      // [num_rows]
  int32_t* first_row_ids;  // [capacity], 0 from the last group on
};

// Receives group ids from FewGroups and writes them to the result.
class WrittenIds {
 public:
  WrittenIds(Executor& executor, const Chunks& chunks, int32_t* group_ids)
      : executor_(executor), chunks_(chunks), group_ids_(group_ids) {}

  void start(int64_t) {}
  int32_t* begin(int64_t chunk) { return group_ids_ + chunks_.begin(chunk); }
  void end(int64_t, int32_t*) {}
  void set(int64_t row, int32_t group) { group_ids_[row] = group; }
  void renumber(const std::vector<int32_t>& numbers) {
    parallel_for(executor_, chunks_.count, [&](int, int64_t chunk) {
      for (int64_t row = chunks_.begin(chunk); row < chunks_.end(chunk); ++row) {
        group_ids_[row] = numbers[group_ids_[row]];
      }
    });
  }

 private:
  Executor& executor_;
  const Chunks chunks_;
  int32_t* const group_ids_;
};

// Returns the number of groups. `sort(executor, words, num_words, sorted_words,
// positions)` sorts words; `scratch` holds many_groups_scratch_bytes.
template <typename Source, typename Sort>
int64_t factorize(Executor& executor, const FactorizeRow<Source>& row, const Sort& sort,
                  void* scratch) {
  advise_huge_pages(row.group_ids, row.num_rows * 4);
  advise_huge_pages(row.first_row_ids, row.capacity * 4);
  int64_t num_groups = 0;
  const Chunks chunks(row.num_rows, 1 << 14, executor.num_threads());
  WrittenIds ids(executor, chunks, row.group_ids);
  FewGroups<Source, WrittenIds> few(executor, row.source, chunks, ids);
  if (few.find(row.in_key_order, sort)) {
    num_groups = few.groups().size();
    std::copy_n(few.groups().first_rows.begin(), std::min(row.capacity, num_groups),
                row.first_row_ids);
  } else {
    ManyGroups<Source> many(executor, row.source, row.num_rows, scratch);
    many.find();
    num_groups = many.num_groups();
    if (row.in_key_order) {
      many.number_by_word(row.capacity, row.first_row_ids, sort);
    } else {
      many.number_by_first_row(row.capacity, row.first_row_ids);
    }
    many.write(row.group_ids);
  }
  std::fill(row.first_row_ids + std::min(row.capacity, num_groups),
            row.first_row_ids + row.capacity, 0);
  return num_groups;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_GROUPS_FACTORIZE_H_
