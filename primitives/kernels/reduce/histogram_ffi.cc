// SPDX-License-Identifier: Apache-2.0
#include "reduce/histogram.h"

#include <cstdint>

#include "base/ffi_arguments.h"
#include "reduce/histogram_arguments.h"

namespace jaxframes {
namespace {

constexpr char kHistogram[] = "jaxframes_histogram_v1";

template <typename Number, typename Edge>
void run(Executor& executor, const ffi::AnyBuffer& numbers, const ffi::AnyBuffer& edges,
         const ffi::AnyBuffer& num_valid, bool is_uniform, int32_t* counts) {
  const int64_t batch = batch_size(numbers), num_rows = row_length(numbers);
  const int64_t num_bins = row_length(edges) - 1;
  for_each_row(executor, batch, num_rows, [&](Executor& row_executor, int64_t row) {
    histogram(row_executor,
              HistogramRow<Number, Edge>{
                  static_cast<const Number*>(numbers.untyped_data()) + row * num_rows,
                  count_at(num_valid, row, num_rows),
                  static_cast<const Edge*>(edges.untyped_data()) + row * (num_bins + 1),
                  num_bins, is_uniform, counts + row * num_bins});
  });
}

template <typename Edge>
void run_of_edges(Executor& executor, const ffi::AnyBuffer& numbers, const ffi::AnyBuffer& edges,
                  const ffi::AnyBuffer& num_valid, bool is_uniform, int32_t* counts) {
  const auto run_of = [&](auto number) {
    run<decltype(number), Edge>(executor, numbers, edges, num_valid, is_uniform, counts);
  };
  switch (numbers.element_type()) {
    case ffi::DataType::S32: return run_of(int32_t{});
    case ffi::DataType::S64: return run_of(int64_t{});
    case ffi::DataType::F32: return run_of(float{});
    default: return run_of(double{});
  }
}

ffi::Error histogram_target(ffi::ThreadPool pool, ffi::AnyBuffer numbers, ffi::AnyBuffer edges,
                            ffi::AnyBuffer num_valid, ffi::Result<ffi::AnyBuffer> counts,
                            WordBits is_uniform) {
  ArgumentChecker checker(kHistogram);
  check_histogram(checker, numbers, edges, num_valid, *counts);
  if (!checker.ok()) return checker.error();
  return run_kernel(kHistogram, [&] {
    XlaExecutor executor(pool);
    auto* bins = words_of<int32_t>(*counts);
    if (edges.element_type() == ffi::DataType::F32) {
      run_of_edges<float>(executor, numbers, edges, num_valid, is_uniform.bits != 0, bins);
    } else {
      run_of_edges<double>(executor, numbers, edges, num_valid, is_uniform.bits != 0, bins);
    }
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_histogram_v1, jaxframes::histogram_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Attr<jaxframes::WordBits>("is_uniform"));
