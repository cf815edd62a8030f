// SPDX-License-Identifier: Apache-2.0
// The arguments of a scan, on every platform.
#ifndef JAXFRAMES_KERNELS_SCAN_SCAN_ARGUMENTS_H_
#define JAXFRAMES_KERNELS_SCAN_SCAN_ARGUMENTS_H_

#include <cstdint>
#include <string>

#include "base/ffi_arguments.h"

namespace jaxframes {

// Checks the values and the operator, and that the results have the dtype of the values.
inline void check_scanned(ArgumentChecker& checker, const ffi::AnyBuffer& values,
                          const ffi::AnyBuffer& results, int32_t op) {
  checker.require_keys(values, "values");
  checker.require_dtype(results, "results", values.element_type());
  checker.require(op >= 0 && op <= 3, "op must be in [0, 3], got " + std::to_string(op));
}

// One row of heads, or none, serves several rows of values.
inline void check_heads(ArgumentChecker& checker, const ffi::AnyBuffer& heads, int64_t batch,
                        int64_t num_rows) {
  checker.require_dtype(heads, "heads", ffi::DataType::PRED);
  checker.require(row_length(heads) == 0 || row_length(heads) == num_rows,
                  "heads must have as many rows as values, or none, got " +
                      ArgumentChecker::shape_of(heads));
  checker.require(batch_size(heads) == 0 ? batch == 0 : batch % batch_size(heads) == 0,
                  "a row of heads must serve as many rows of values as any other");
}

// One row of heads and one number of valid rows serve several rows of values.
inline void check_scan(ArgumentChecker& checker, const ffi::AnyBuffer& values,
                       const ffi::AnyBuffer& heads, const ffi::AnyBuffer& num_valid,
                       const ffi::AnyBuffer& results, int32_t op) {
  check_scanned(checker, values, results, op);
  checker.require(heads.dimensions().size() > 0, "heads must have shape [..., num_rows]");
  if (!checker.ok()) return;
  const int64_t batch = batch_size(values), num_rows = row_length(values);
  check_heads(checker, heads, batch, num_rows);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch_size(heads));
  checker.require_rows(results, "results", batch, num_rows);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_SCAN_ARGUMENTS_H_
