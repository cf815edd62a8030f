// SPDX-License-Identifier: Apache-2.0
// The arguments of a histogram, on every platform.
#ifndef JAXFRAMES_KERNELS_REDUCE_HISTOGRAM_ARGUMENTS_H_
#define JAXFRAMES_KERNELS_REDUCE_HISTOGRAM_ARGUMENTS_H_

#include <cstdint>

#include "base/ffi_arguments.h"

namespace jaxframes {

inline void check_histogram(ArgumentChecker& checker, const ffi::AnyBuffer& numbers,
                            const ffi::AnyBuffer& edges, const ffi::AnyBuffer& num_valid,
                            const ffi::AnyBuffer& counts) {
  checker.require_keys(numbers, "numbers");
  checker.require(numbers.element_type() != ffi::DataType::U32 &&
                      numbers.element_type() != ffi::DataType::U64,
                  "numbers must have dtype s32, s64, f32 or f64");
  checker.require(ArgumentChecker::is_floating(edges), "edges must have dtype f32 or f64");
  checker.require(edges.dimensions().size() > 0 && row_length(edges) >= 2,
                  "edges must have shape [..., bins + 1]");
  if (!checker.ok()) return;
  const int64_t batch = batch_size(numbers);
  checker.require_rows(edges, "edges", batch, row_length(edges));
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_dtype(counts, "counts", ffi::DataType::S32);
  checker.require_rows(counts, "counts", batch, row_length(edges) - 1);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_HISTOGRAM_ARGUMENTS_H_
