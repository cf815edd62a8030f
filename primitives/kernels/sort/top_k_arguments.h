// SPDX-License-Identifier: Apache-2.0
// The arguments of a selection of the first rows, on every platform.
#ifndef JAXFRAMES_KERNELS_SORT_TOP_K_ARGUMENTS_H_
#define JAXFRAMES_KERNELS_SORT_TOP_K_ARGUMENTS_H_

#include <cstdint>
#include <string>

#include "base/ffi_arguments.h"

namespace jaxframes {

inline void check_top_k(ArgumentChecker& checker, const ffi::AnyBuffer& keys,
                        const ffi::AnyBuffer& num_valid, const ffi::AnyBuffer& row_ids,
                        WordBits flip) {
  checker.require_keys(keys, "keys");
  checker.require_flip(keys, flip);
  checker.require(row_ids.dimensions().size() > 0, "row_ids must have shape [..., k]");
  if (!checker.ok()) return;
  const int64_t batch = batch_size(keys), num_rows = row_length(keys);
  const int64_t k = row_length(row_ids);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_dtype(row_ids, "row_ids", ffi::DataType::S32);
  checker.require_rows(row_ids, "row_ids", batch, k);
  checker.require(k <= num_rows, "k must be at most the number of rows, got k=" +
                                     std::to_string(k) + " of " + std::to_string(num_rows));
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_TOP_K_ARGUMENTS_H_
