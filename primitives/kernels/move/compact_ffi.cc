// SPDX-License-Identifier: Apache-2.0
#include "move/compact.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/ffi_arguments.h"
#include "base/huge_pages.h"
#include "move/compact_arguments.h"

namespace jaxframes {
namespace {

constexpr char kCountFlags[] = "jaxframes_count_flags_v1";
constexpr char kFlaggedRows[] = "jaxframes_flagged_rows_v1";

ffi::Error count_flags_target(ffi::ThreadPool pool, ffi::AnyBuffer mask, ffi::AnyBuffer num_valid,
                              ffi::Result<ffi::AnyBuffer> before,
                              ffi::Result<ffi::AnyBuffer> count) {
  ArgumentChecker checker(kCountFlags);
  check_counted(checker, mask, num_valid, *before, *count);
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(mask), num_rows = row_length(mask);
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
  std::vector<ffi::AnyBuffer> results;
  const std::vector<KeptWords> kept_words =
      kept_words_of(checker, mask, before, count, arrays, kept_arrays, results);
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
