// SPDX-License-Identifier: Apache-2.0
// The segment ids of the FFI handlers: their checks and their types.
#ifndef JAXFRAMES_KERNELS_REDUCE_SEGMENT_IDS_FFI_H_
#define JAXFRAMES_KERNELS_REDUCE_SEGMENT_IDS_FFI_H_

#include <cstdint>
#include <string>

#include "base/ffi_arguments.h"
#include "reduce/segment_sum.h"

namespace jaxframes {

// Checks segment ids, and results with one number for each segment.
inline void check_segments(ArgumentChecker& checker, const ffi::AnyBuffer& ids,
                           const ffi::AnyBuffer& first_id, const ffi::AnyBuffer& num_valid,
                           const ffi::AnyBuffer& results, const std::string& name) {
  checker.require_keys(ids, "ids");
  checker.require(!ArgumentChecker::is_floating(ids), "ids must be integers");
  checker.require(results.dimensions().size() > 0, name + " must have shape [..., segments]");
  if (!checker.ok()) return;
  const int64_t batch = batch_size(ids);
  checker.require_dtype(first_id, "first_id", ids.element_type());
  checker.require_scalars(first_id, "first_id", batch);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_rows(results, name.c_str(), batch, row_length(results));
}

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
