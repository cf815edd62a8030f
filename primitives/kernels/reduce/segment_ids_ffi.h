// SPDX-License-Identifier: Apache-2.0
// The segment ids of the FFI handlers, by row and by type.
#ifndef JAXFRAMES_KERNELS_REDUCE_SEGMENT_IDS_FFI_H_
#define JAXFRAMES_KERNELS_REDUCE_SEGMENT_IDS_FFI_H_

#include <cstdint>

#include "base/ffi_arguments.h"
#include "reduce/segment_arguments.h"
#include "reduce/segment_sum.h"

namespace jaxframes {

// Calls each_row(executor, row, ids of the row) for each row of the batch.
template <typename Id, typename EachRow>
void for_each_ids(Executor& executor, const ffi::AnyBuffer& ids, const ffi::AnyBuffer& first_id,
                  const ffi::AnyBuffer& num_valid, int64_t num_segments,
                  const EachRow& each_row) {
  const int64_t num_rows = row_length(ids);
  for_each_row(executor, batch_size(ids), num_rows, [&](Executor& row_executor, int64_t row) {
    each_row(row_executor, row,
             SegmentIds<Id>(words_of<Id>(ids) + row * num_rows, words_of<Id>(first_id)[row],
                            count_at(num_valid, row, num_rows), num_segments));
  });
}

// Calls kernel(id) with a number of the type of the ids.
template <typename Kernel>
void with_id_type(const ffi::AnyBuffer& ids, const Kernel& kernel) {
  switch (ids.element_type()) {
    case ffi::DataType::S32: return kernel(int32_t{});
    case ffi::DataType::U32: return kernel(uint32_t{});
    case ffi::DataType::S64: return kernel(int64_t{});
    default: return kernel(uint64_t{});
  }
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_SEGMENT_IDS_FFI_H_
