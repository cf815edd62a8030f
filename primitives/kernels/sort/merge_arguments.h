// SPDX-License-Identifier: Apache-2.0
// The checks of the arguments of merges, on CPU and GPU.
#ifndef JAXFRAMES_KERNELS_SORT_MERGE_ARGUMENTS_H_
#define JAXFRAMES_KERNELS_SORT_MERGE_ARGUMENTS_H_

#include <cstdint>
#include <limits>
#include <string>

#include "base/ffi_arguments.h"

namespace jaxframes {

// The buffers of one call; null if the target lacks one.
struct MergeBuffers {
  const ffi::AnyBuffer& a;
  const ffi::AnyBuffer& b;
  const ffi::AnyBuffer& num_valid_a;
  const ffi::AnyBuffer& num_valid_b;
  const ffi::AnyBuffer* merged_keys;
  const ffi::AnyBuffer* source_positions;
};

inline void check_merge(ArgumentChecker& checker, const MergeBuffers& buffers, WordBits flip) {
  checker.require_keys(buffers.a, "a");
  checker.require_keys(buffers.b, "b");
  checker.require_flip(buffers.a, flip);
  if (!checker.ok()) return;
  const int64_t batch = batch_size(buffers.a);
  const int64_t num_rows = row_length(buffers.a) + row_length(buffers.b);
  checker.require_dtype(buffers.b, "b", buffers.a.element_type());
  checker.require_rows(buffers.b, "b", batch, row_length(buffers.b));
  checker.require_dtype(buffers.num_valid_a, "num_valid_a", ffi::DataType::S32);
  checker.require_scalars(buffers.num_valid_a, "num_valid_a", batch);
  checker.require_dtype(buffers.num_valid_b, "num_valid_b", ffi::DataType::S32);
  checker.require_scalars(buffers.num_valid_b, "num_valid_b", batch);
  checker.require(num_rows <= std::numeric_limits<int32_t>::max(),
                  "a and b must have fewer than 2^31 rows together, got " +
                      std::to_string(num_rows));
  if (buffers.merged_keys != nullptr) {
    checker.require_dtype(*buffers.merged_keys, "merged_keys", buffers.a.element_type());
    checker.require_rows(*buffers.merged_keys, "merged_keys", batch, num_rows);
  }
  if (buffers.source_positions != nullptr) {
    checker.require_dtype(*buffers.source_positions, "source_positions", ffi::DataType::S32);
    checker.require_rows(*buffers.source_positions, "source_positions", batch, num_rows);
  }
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_MERGE_ARGUMENTS_H_
