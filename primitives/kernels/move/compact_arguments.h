// SPDX-License-Identifier: Apache-2.0
// The arguments of a selection, on every platform.
#ifndef JAXFRAMES_KERNELS_MOVE_COMPACT_ARGUMENTS_H_
#define JAXFRAMES_KERNELS_MOVE_COMPACT_ARGUMENTS_H_

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/ffi_arguments.h"
#include "move/kept_words.h"

namespace jaxframes {

// Checks a mask and the counts of its flags.
inline void check_flags(ArgumentChecker& checker, const ffi::AnyBuffer& mask,
                 const ffi::AnyBuffer& before, const ffi::AnyBuffer& count) {
  checker.require_dtype(mask, "mask", ffi::DataType::PRED);
  checker.require(mask.dimensions().size() > 0,
                  "mask must have shape [..., num_rows], got " + ArgumentChecker::shape_of(mask));
  if (!checker.ok()) return;
  const int64_t batch = batch_size(mask), num_rows = row_length(mask);
  checker.require(num_rows <= std::numeric_limits<int32_t>::max(),
                  "mask must have fewer than 2^31 rows, got " + std::to_string(num_rows));
  checker.require_dtype(before, "before", ffi::DataType::S32);
  checker.require_rows(before, "before", batch, num_flag_chunks(num_rows));
  checker.require_dtype(count, "count", ffi::DataType::S32);
  checker.require_scalars(count, "count", batch);
}

inline void check_counted(ArgumentChecker& checker, const ffi::AnyBuffer& mask,
                          const ffi::AnyBuffer& num_valid, const ffi::AnyBuffer& before,
                          const ffi::AnyBuffer& count) {
  check_flags(checker, mask, before, count);
  if (!checker.ok()) return;
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch_size(mask));
}

// One result for each source; an additional first result holds the row ids.
inline std::vector<KeptWords> kept_words_of(ArgumentChecker& checker, const ffi::AnyBuffer& mask,
                                            const ffi::AnyBuffer& before,
                                            const ffi::AnyBuffer& count,
                                            const ffi::RemainingArgs& arrays,
                                            const ffi::RemainingRets& kept_arrays,
                                            std::vector<ffi::AnyBuffer>& results) {
  check_flags(checker, mask, before, count);
  const std::vector<ffi::AnyBuffer> sources = buffers_of(checker, arrays);
  results = buffers_of(checker, kept_arrays);
  const bool has_ids = results.size() == sources.size() + 1;
  checker.require((has_ids || results.size() == sources.size()) && !results.empty(),
                  "one result must come for each source, and one more for the row ids");
  if (!checker.ok()) return {};
  checker.require(results[0].dimensions().size() > 0, "a result must have shape [..., capacity]");
  std::vector<KeptWords> kept_words;
  for (size_t i = 0; i < results.size() && checker.ok(); ++i) {
    const ffi::AnyBuffer& kept = results[i];
    checker.require_rows(kept, "a result", batch_size(mask), row_length(results[0]));
    checker.require_words(kept, "a result");
    const int64_t word_bytes = static_cast<int64_t>(ffi::ByteWidth(kept.element_type()));
    if (has_ids && i == 0) {
      checker.require_dtype(kept, "row_ids", ffi::DataType::S32);
      kept_words.push_back({true, nullptr, kept.untyped_data(), word_bytes});
    } else {
      const ffi::AnyBuffer& source = sources[i - has_ids];
      checker.require_rows(source, "a source", batch_size(mask), row_length(mask));
      checker.require_dtype(kept, "a result", source.element_type());
      kept_words.push_back({false, source.untyped_data(), kept.untyped_data(), word_bytes});
    }
  }
  return kept_words;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_MOVE_COMPACT_ARGUMENTS_H_
