// SPDX-License-Identifier: Apache-2.0
#include "scan/merge_scan.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/ffi_arguments.h"
#include "base/huge_pages.h"
#include "scan/scan_arguments.h"

namespace jaxframes {
namespace {

constexpr char kMergeScan[] = "jaxframes_merge_scan_v1";

struct Buffers {
  const ffi::AnyBuffer& heads;
  const std::vector<ffi::AnyBuffer>& arguments;
  const std::vector<ffi::AnyBuffer>& results;
  bool reverse;
};

// One row of heads serves several rows of numbers.
template <typename Merge>
void run(Executor& executor, const Buffers& buffers) {
  using T = typename Merge::T;
  const ffi::AnyBuffer& first = buffers.arguments[0];
  const int64_t batch = batch_size(first), num_rows = row_length(first);
  const int64_t width = batch / std::max<int64_t>(batch_size(buffers.heads), 1);
  const bool has_heads = row_length(buffers.heads) != 0;
  for (const ffi::AnyBuffer& result : buffers.results) {
    advise_huge_pages(result.untyped_data(), static_cast<int64_t>(result.size_bytes()));
  }
  for_each_row(executor, batch, num_rows, [&](Executor& row_executor, int64_t row) {
    const T* arguments[Merge::kArguments];
    T* results[Merge::kResults];
    for (int k = 0; k < Merge::kArguments; ++k) {
      arguments[k] = words_of<T>(buffers.arguments[k]) + row * num_rows;
    }
    for (int k = 0; k < Merge::kResults; ++k) {
      results[k] = words_of<T>(buffers.results[k]) + row * num_rows;
    }
    const bool* heads =
        has_heads ? words_of<bool>(buffers.heads) + row / width * num_rows : nullptr;
    merge_scan<Merge>(row_executor,
                      MergedColumns<T>{arguments, heads, num_rows, buffers.reverse, results});
  });
}

// The numbers of the merges are those of `_merge_scan.py`.
template <typename T>
void run_dtype(Executor& executor, const Buffers& buffers, int32_t merge) {
  if (merge == 0) return run<Recurrence<T>>(executor, buffers);
  if (merge == 2) return run<PairMomentsMerge<T>>(executor, buffers);
  switch (buffers.arguments.size()) {
    case 3: return run<MomentsMerge<T, 1>>(executor, buffers);
    case 4: return run<MomentsMerge<T, 2>>(executor, buffers);
    default: return run<MomentsMerge<T, 3>>(executor, buffers);
  }
}

bool are_as_many(int32_t merge, size_t num_arguments, size_t num_results) {
  switch (merge) {
    case 0: return num_arguments == 2 && num_results == 1;
    case 1: return num_arguments >= 3 && num_arguments <= 5 && num_results == num_arguments;
    case 2: return num_arguments == 6 && num_results == 6;
    default: return false;
  }
}

void check_columns(ArgumentChecker& checker, const std::vector<ffi::AnyBuffer>& columns,
                   const ffi::AnyBuffer& first, const char* name) {
  for (const ffi::AnyBuffer& column : columns) {
    checker.require_dtype(column, name, first.element_type());
    checker.require_rows(column, name, batch_size(first), row_length(first));
  }
}

ffi::Error merge_scan_target(ffi::ThreadPool pool, ffi::AnyBuffer heads,
                             ffi::RemainingArgs given, ffi::RemainingRets returned,
                             int32_t merge, bool reverse) {
  ArgumentChecker checker(kMergeScan);
  const std::vector<ffi::AnyBuffer> arguments = buffers_of(checker, given);
  const std::vector<ffi::AnyBuffer> results = buffers_of(checker, returned);
  checker.require(are_as_many(merge, arguments.size(), results.size()),
                  "merge must be in [0, 2], with as many columns as it takes, got " +
                      std::to_string(merge) + " with " + std::to_string(arguments.size()) +
                      " and " + std::to_string(results.size()));
  if (!checker.ok()) return checker.error();
  const ffi::AnyBuffer& first = arguments[0];
  checker.require_keys(first, "columns");
  checker.require(ArgumentChecker::is_floating(first), "columns must be floats");
  checker.require(heads.dimensions().size() > 0, "heads must have shape [..., num_rows]");
  if (!checker.ok()) return checker.error();
  check_columns(checker, arguments, first, "columns");
  check_columns(checker, results, first, "results");
  check_heads(checker, heads, batch_size(first), row_length(first));
  if (!checker.ok()) return checker.error();
  return run_kernel(kMergeScan, [&] {
    XlaExecutor executor(pool);
    const Buffers buffers{heads, arguments, results, reverse};
    if (first.element_type() == ffi::DataType::F32) {
      run_dtype<float>(executor, buffers, merge);
    } else {
      run_dtype<double>(executor, buffers, merge);
    }
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_merge_scan_v1, jaxframes::merge_scan_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .RemainingArgs()
                            .RemainingRets()
                            .Attr<int32_t>("merge")
                            .Attr<bool>("reverse"));
