// SPDX-License-Identifier: Apache-2.0
#include "scan/window_moments.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/ffi_arguments.h"
#include "base/huge_pages.h"

namespace jaxframes {
namespace {

constexpr char kWindowMoments[] = "jaxframes_window_moments_v1";

struct Buffers {
  const ffi::AnyBuffer& heads;
  const ffi::AnyBuffer& first;
  const ffi::AnyBuffer& is_split;
  const ffi::AnyBuffer& has_front;
  const ffi::AnyBuffer& held;
  const std::vector<ffi::AnyBuffer>& columns;
  const std::vector<ffi::AnyBuffer>& results;
};

// The places of one row of windows serve several rows of numbers.
template <typename Merge>
void run(Executor& executor, const Buffers& buffers) {
  using T = typename Merge::T;
  const ffi::AnyBuffer& values = buffers.columns[0];
  const int64_t batch = batch_size(values), num_rows = row_length(values);
  const int64_t width = batch / std::max<int64_t>(batch_size(buffers.heads), 1);
  for (const ffi::AnyBuffer& result : buffers.results) {
    advise_huge_pages(result.untyped_data(), static_cast<int64_t>(result.size_bytes()));
  }
  for_each_row(executor, batch, num_rows, [&](Executor& row_executor, int64_t row) {
    const int64_t own = row * num_rows, shared = row / width * num_rows;
    const T* columns[Merge::kColumns];
    T* results[Merge::kResults - Merge::kColumns];
    for (int k = 0; k < Merge::kColumns; ++k) columns[k] = words_of<T>(buffers.columns[k]) + own;
    for (int k = 0; k < Merge::kResults - Merge::kColumns; ++k) {
      results[k] = words_of<T>(buffers.results[k]) + own;
    }
    const bool is_masked = row_length(buffers.held) != 0;
    window_moments<Merge>(
        row_executor,
        RowWindows<T>{columns, is_masked ? words_of<bool>(buffers.held) + shared : nullptr,
                      words_of<bool>(buffers.heads) + shared,
                      words_of<int32_t>(buffers.first) + shared,
                      words_of<bool>(buffers.is_split) + shared,
                      words_of<bool>(buffers.has_front) + shared, num_rows, results});
  });
}

template <typename T>
void run_dtype(Executor& executor, const Buffers& buffers) {
  if (buffers.columns.size() == 2) return run<PairMomentsMerge<T>>(executor, buffers);
  switch (buffers.results.size()) {
    case 2: return run<MomentsMerge<T, 1>>(executor, buffers);
    case 3: return run<MomentsMerge<T, 2>>(executor, buffers);
    default: return run<MomentsMerge<T, 3>>(executor, buffers);
  }
}

ffi::Error window_moments_target(ffi::ThreadPool pool, ffi::AnyBuffer heads,
                                 ffi::AnyBuffer first, ffi::AnyBuffer is_split,
                                 ffi::AnyBuffer has_front, ffi::AnyBuffer held,
                                 ffi::RemainingArgs given, ffi::RemainingRets returned) {
  ArgumentChecker checker(kWindowMoments);
  const std::vector<ffi::AnyBuffer> columns = buffers_of(checker, given);
  const std::vector<ffi::AnyBuffer> results = buffers_of(checker, returned);
  const size_t num_results = results.size();
  checker.require(columns.size() == 1 ? num_results >= 2 && num_results <= 4
                                      : columns.size() == 2 && num_results == 4,
                  "one column has 2 to 4 results, and two have 4, got " +
                      std::to_string(columns.size()) + " and " + std::to_string(num_results));
  if (!checker.ok()) return checker.error();
  const ffi::AnyBuffer& values = columns[0];
  checker.require_keys(values, "columns");
  checker.require(ArgumentChecker::is_floating(values), "columns must be floats");
  checker.require(heads.dimensions().size() > 0 && held.dimensions().size() > 0,
                  "heads and held must have shape [..., num_rows]");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(values), num_rows = row_length(values);
  for (const auto* arrays : {&columns, &results}) {
    for (const ffi::AnyBuffer& array : *arrays) {
      checker.require_dtype(array, "columns and results", values.element_type());
      checker.require_rows(array, "columns and results", batch, num_rows);
    }
  }
  const int64_t shared = batch_size(heads);
  checker.require(shared == 0 ? batch == 0 : batch % shared == 0,
                  "a row of heads must serve as many rows of columns as any other");
  for (const ffi::AnyBuffer* flags : {&heads, &is_split, &has_front}) {
    checker.require_dtype(*flags, "flags", ffi::DataType::PRED);
    checker.require_rows(*flags, "flags", shared, num_rows);
  }
  checker.require_dtype(first, "first", ffi::DataType::S32);
  checker.require_rows(first, "first", shared, num_rows);
  checker.require_dtype(held, "held", ffi::DataType::PRED);
  checker.require(row_length(held) == 0 ||
                      (row_length(held) == num_rows && batch_size(held) == shared),
                  "held must have as many rows as heads, or none, got " +
                      ArgumentChecker::shape_of(held));
  if (!checker.ok()) return checker.error();
  return run_kernel(kWindowMoments, [&] {
    XlaExecutor executor(pool);
    const Buffers buffers{heads, first, is_split, has_front, held, columns, results};
    if (values.element_type() == ffi::DataType::F32) {
      run_dtype<float>(executor, buffers);
    } else {
      run_dtype<double>(executor, buffers);
    }
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_window_moments_v1, jaxframes::window_moments_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .RemainingArgs()
                            .RemainingRets());
