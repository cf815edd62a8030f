// SPDX-License-Identifier: Apache-2.0
// The arguments of sums of floats, on every platform.
#ifndef JAXFRAMES_KERNELS_REDUCE_PAIRWISE_SUM_ARGUMENTS_H_
#define JAXFRAMES_KERNELS_REDUCE_PAIRWISE_SUM_ARGUMENTS_H_

#include <cstdint>

#include "base/ffi_arguments.h"

namespace jaxframes {

inline bool has_wide_floats(const ffi::AnyBuffer& buffer) {
  return buffer.element_type() == ffi::DataType::F64;
}

inline void check_sums(ArgumentChecker& checker, const ffi::AnyBuffer& numbers,
                       const ffi::AnyBuffer& num_valid, const ffi::AnyBuffer& sums) {
  checker.require_keys(numbers, "numbers");
  checker.require(ArgumentChecker::is_floating(numbers), "numbers must be floats");
  checker.require(ArgumentChecker::is_floating(sums), "sums must be floats");
  if (!checker.ok()) return;
  const int64_t batch = batch_size(numbers);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_scalars(sums, "sums", batch);
  checker.require(has_wide_floats(sums) || !has_wide_floats(numbers),
                  "sums must not be narrower than numbers");
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_PAIRWISE_SUM_ARGUMENTS_H_
