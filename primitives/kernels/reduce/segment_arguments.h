// SPDX-License-Identifier: Apache-2.0
// The arguments of reductions by segment, on every platform.
#ifndef JAXFRAMES_KERNELS_REDUCE_SEGMENT_ARGUMENTS_H_
#define JAXFRAMES_KERNELS_REDUCE_SEGMENT_ARGUMENTS_H_

#include <cstdint>
#include <string>

#include "base/ffi_arguments.h"

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

inline void check_segment_sum(ArgumentChecker& checker, const ffi::AnyBuffer& ids,
                              const ffi::AnyBuffer& first_id, const ffi::AnyBuffer& num_valid,
                              const ffi::AnyBuffer& numbers, const ffi::AnyBuffer& sums) {
  check_segments(checker, ids, first_id, num_valid, sums, "the result");
  checker.require_keys(numbers, "numbers");
  if (!checker.ok()) return;
  checker.require_rows(numbers, "numbers", batch_size(ids), row_length(ids));
  checker.require_dtype(sums, "sums", numbers.element_type());
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_SEGMENT_ARGUMENTS_H_
