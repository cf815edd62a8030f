// SPDX-License-Identifier: Apache-2.0
// The arguments of a sort, on every platform.
#ifndef JAXFRAMES_KERNELS_SORT_SORT_ARGUMENTS_H_
#define JAXFRAMES_KERNELS_SORT_SORT_ARGUMENTS_H_

#include <cstdint>
#include <string>
#include <vector>

#include "base/ffi_arguments.h"

namespace jaxframes {

// The buffers of one call; null if the variant lacks one.
struct SortBuffers {
  const ffi::AnyBuffer* keys = nullptr;
  const ffi::AnyBuffer* row_ids = nullptr;
  const ffi::AnyBuffer* num_valid = nullptr;
  const ffi::AnyBuffer* sorted_keys = nullptr;
  const ffi::AnyBuffer* sorted_row_ids = nullptr;
  const ffi::AnyBuffer* scratch = nullptr;
};

inline void check_sort(ArgumentChecker& checker, const SortBuffers& buffers, WordBits flip,
                       int32_t bits) {
  checker.require_keys(*buffers.keys, "keys");
  checker.require_flip(*buffers.keys, flip);
  if (!checker.ok()) return;
  const int64_t batch = batch_size(*buffers.keys);
  const int64_t num_rows = row_length(*buffers.keys);
  const int word_bytes = ArgumentChecker::word_bytes(*buffers.keys);
  checker.require_dtype(*buffers.num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(*buffers.num_valid, "num_valid", batch);
  if (buffers.row_ids != nullptr) {
    const bool is_implicit = buffers.row_ids->element_count() == 0;
    checker.require_dtype(*buffers.row_ids, "row_ids", ffi::DataType::S32);
    checker.require_rows(*buffers.row_ids, "row_ids", batch, is_implicit ? 0 : num_rows);
  }
  if (buffers.sorted_keys != nullptr) {
    checker.require_dtype(*buffers.sorted_keys, "sorted_keys", buffers.keys->element_type());
    checker.require_rows(*buffers.sorted_keys, "sorted_keys", batch, num_rows);
  }
  if (buffers.sorted_row_ids != nullptr) {
    checker.require_dtype(*buffers.sorted_row_ids, "sorted row_ids", ffi::DataType::S32);
    checker.require_rows(*buffers.sorted_row_ids, "sorted row_ids", batch, num_rows);
  }
  checker.require(0 <= bits && bits <= 8 * word_bytes,
                  "bits must be in [0, " + std::to_string(8 * word_bytes) + "], got " +
                      std::to_string(bits));
  checker.require(bits == 8 * word_bytes || !ArgumentChecker::is_floating(*buffers.keys),
                  "bits must be " + std::to_string(8 * word_bytes) +
                      " for floating point, got " + std::to_string(bits));
}

// A column that moves with the keys, and its place.
struct MovedBuffers {
  ffi::AnyBuffer source;
  ffi::AnyBuffer moved;
};

inline std::vector<MovedBuffers> moved_buffers(ArgumentChecker& checker,
                                               const ffi::AnyBuffer& keys,
                                               const ffi::RemainingArgs& columns_in,
                                               const ffi::RemainingRets& columns_out) {
  const std::vector<ffi::AnyBuffer> sources = buffers_of(checker, columns_in),
                                    results = buffers_of(checker, columns_out);
  checker.require(sources.size() == results.size(), "each moved column needs one result");
  std::vector<MovedBuffers> columns;
  for (size_t i = 0; i < sources.size() && checker.ok(); ++i) {
    const ffi::AnyBuffer &source = sources[i], &moved = results[i];
    checker.require_rows(source, "a column", batch_size(keys), row_length(keys));
    checker.require_rows(moved, "a moved column", batch_size(keys), row_length(keys));
    checker.require_dtype(moved, "a moved column", source.element_type());
    checker.require_words(source, "a column");
    if (checker.ok()) columns.push_back({source, moved});
  }
  return columns;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_SORT_ARGUMENTS_H_
