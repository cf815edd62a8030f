// SPDX-License-Identifier: Apache-2.0
// Numbers the distinct keys of some rows.
#ifndef JAXFRAMES_KERNELS_FACTORIZE_H_
#define JAXFRAMES_KERNELS_FACTORIZE_H_

#include <algorithm>
#include <cstdint>

#include "few_groups.h"
#include "huge_pages.h"
#include "many_groups.h"
#include "thread_pool.h"

namespace jaxframes {

template <typename Source>
struct FactorizeRow {
  Source source;
  int64_t num_rows;
  bool in_key_order;  // else in the order of the groups' first rows
  int64_t capacity;
  int32_t* group_ids;      // [num_rows]
  int32_t* first_row_ids;  // [capacity], 0 from the last group on
};

// Returns the number of groups. `sort(executor, words, num_words, sorted_words,
// positions)` sorts words; `scratch` holds many_groups_scratch_bytes.
template <typename Source, typename Sort>
int64_t factorize(Executor& executor, const FactorizeRow<Source>& row, const Sort& sort,
                  void* scratch) {
  advise_huge_pages(row.group_ids, row.num_rows * 4);
  advise_huge_pages(row.first_row_ids, row.capacity * 4);
  int64_t num_groups = 0;
  FewGroups<Source> few(executor, row.source, row.num_rows, row.group_ids);
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

#endif  // JAXFRAMES_KERNELS_FACTORIZE_H_
