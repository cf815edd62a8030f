// SPDX-License-Identifier: Apache-2.0
#include "move/compact.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/ffi_arguments.h"
#include "base/huge_pages.h"

namespace jaxframes {
namespace {

constexpr char kCountFlags[] = "jaxframes_count_flags_v1";
constexpr char kFlaggedRows[] = "jaxframes_flagged_rows_v1";

// Checks a mask and the counts of its flags.
void check_flags(ArgumentChecker& checker, const ffi::AnyBuffer& mask,
                 const ffi::AnyBuffer& before, const ffi::AnyBuffer& count) {
  checker.require_dtype(mask, "mask", ffi::DataType::PRED);
  checker.require(mask.dimensions().size() > 0,
                  "mask must have shape [..., num_rows], got " + ArgumentChecker::shape_of(mask));
  if (!checker.ok()) return;
  const int64_t batch = batch_size(mask), num_rows = row_length(mask);
  checker.require(num_rows <= std::numeric_limits<int32_t>::max(),
                  "mask must have fewer than 2^31 rows, got " + std::to_string(num_rows));
  checker.require_dtype(before, "before", ffi::DataType::S32);
  checker.require_rows(before, "before", batch, flag_chunks(num_rows).count);
  checker.require_dtype(count, "count", ffi::DataType::S32);
  checker.require_scalars(count, "count", batch);
}

ffi::Error count_flags_target(ffi::ThreadPool pool, ffi::AnyBuffer mask, ffi::AnyBuffer num_valid,
                              ffi::Result<ffi::AnyBuffer> before,
                              ffi::Result<ffi::AnyBuffer> count) {
  ArgumentChecker checker(kCountFlags);
  check_flags(checker, mask, *before, *count);
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(mask), num_rows = row_length(mask);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  if (!checker.ok()) return checker.error();
  return run_kernel(kCountFlags, [&] {
    XlaExecutor executor(pool);
    for_each_row(executor, batch, num_rows, [&](Executor& row_executor, int64_t row) {
      words_of<int32_t>(*count)[row] =
          count_flags(row_executor, words_of<uint8_t>(mask) + row * num_rows, num_rows,
                      count_at(num_valid, row, num_rows),
                      words_of<int32_t>(*before) + row * row_length(*before));
    });
  });
}

// One result for each source; an additional first result holds the row ids.
ffi::Error flagged_rows_target(ffi::ThreadPool pool, ffi::AnyBuffer mask, ffi::AnyBuffer before,
                               ffi::AnyBuffer count, ffi::RemainingArgs arrays,
                               ffi::RemainingRets kept_arrays) {
  ArgumentChecker checker(kFlaggedRows);
  check_flags(checker, mask, before, count);
  const std::vector<ffi::AnyBuffer> sources = buffers_of(checker, arrays),
                                    results = buffers_of(checker, kept_arrays);
  const bool has_ids = results.size() == sources.size() + 1;
  checker.require((has_ids || results.size() == sources.size()) && !results.empty(),
                  "one result must come for each source, and one more for the row ids");
  if (!checker.ok()) return checker.error();
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
  if (!checker.ok()) return checker.error();
  return run_kernel(kFlaggedRows, [&] {
    XlaExecutor executor(pool);
    const int64_t num_rows = row_length(mask), capacity = row_length(results[0]);
    // For all of them before the first write, because two may share a huge page.
    for (const ffi::AnyBuffer& kept : results) {
      advise_huge_pages(kept.untyped_data(), static_cast<int64_t>(kept.size_bytes()));
    }
    for_each_row(executor, batch_size(mask), num_rows, [&](Executor& row_executor, int64_t row) {
      const Flags flags{words_of<uint8_t>(mask) + row * num_rows, num_rows,
                        words_of<int32_t>(before) + row * row_length(before),
                        words_of<int32_t>(count)[row]};
      compact(row_executor, flags, row, capacity, kept_words);
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_count_flags_v1, jaxframes::count_flags_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());

JAXFRAMES_DEFINE_TARGET(jaxframes_flagged_rows_v1, jaxframes::flagged_rows_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .RemainingArgs()
                            .RemainingRets());
