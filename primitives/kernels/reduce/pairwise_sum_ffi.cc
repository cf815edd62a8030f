// SPDX-License-Identifier: Apache-2.0
#include "reduce/pairwise_sum.h"

#include <cstdint>

#include "base/ffi_arguments.h"
#include "reduce/pairwise_sum_arguments.h"

namespace jaxframes {
namespace {

constexpr char kPairwiseSum[] = "jaxframes_pairwise_sum_v1";
constexpr char kSquaredDistances[] = "jaxframes_sum_of_squared_distances_v1";

template <typename Number, typename Sum>
void run(Executor& executor, const ffi::AnyBuffer& numbers, const ffi::AnyBuffer& num_valid,
         const ffi::AnyBuffer& sums) {
  const int64_t num_rows = row_length(numbers);
  for_each_row(executor, batch_size(numbers), num_rows, [&](Executor& row_executor, int64_t row) {
    words_of<Sum>(sums)[row] =
        pairwise_sum<Sum>(row_executor, words_of<Number>(numbers) + row * num_rows,
                          count_at(num_valid, row, num_rows));
  });
}

template <typename Number, typename Sum>
void run_distances(Executor& executor, const ffi::AnyBuffer& numbers,
                   const ffi::AnyBuffer& num_valid, const ffi::AnyBuffer& centers, bool skips_nan,
                   const ffi::AnyBuffer& sums) {
  const int64_t num_rows = row_length(numbers);
  for_each_row(executor, batch_size(numbers), num_rows, [&](Executor& row_executor, int64_t row) {
    words_of<Sum>(sums)[row] = sum_of_squared_distances<Sum>(
        row_executor, words_of<Number>(numbers) + row * num_rows,
        count_at(num_valid, row, num_rows), words_of<Sum>(centers)[row], skips_nan);
  });
}

ffi::Error pairwise_sum_target(ffi::ThreadPool pool, ffi::AnyBuffer numbers,
                               ffi::AnyBuffer num_valid, ffi::Result<ffi::AnyBuffer> sums) {
  ArgumentChecker checker(kPairwiseSum);
  check_sums(checker, numbers, num_valid, *sums);
  if (!checker.ok()) return checker.error();
  return run_kernel(kPairwiseSum, [&] {
    XlaExecutor executor(pool);
    if (has_wide_floats(numbers)) return run<double, double>(executor, numbers, num_valid, *sums);
    if (has_wide_floats(*sums)) return run<float, double>(executor, numbers, num_valid, *sums);
    return run<float, float>(executor, numbers, num_valid, *sums);
  });
}

ffi::Error squared_distances_target(ffi::ThreadPool pool, ffi::AnyBuffer numbers,
                                    ffi::AnyBuffer num_valid, ffi::AnyBuffer centers,
                                    bool skips_nan, ffi::Result<ffi::AnyBuffer> sums) {
  ArgumentChecker checker(kSquaredDistances);
  check_sums(checker, numbers, num_valid, *sums);
  if (!checker.ok()) return checker.error();
  checker.require_dtype(centers, "centers", sums->element_type());
  checker.require_scalars(centers, "centers", batch_size(numbers));
  if (!checker.ok()) return checker.error();
  return run_kernel(kSquaredDistances, [&] {
    XlaExecutor executor(pool);
    if (has_wide_floats(numbers)) {
      return run_distances<double, double>(executor, numbers, num_valid, centers, skips_nan, *sums);
    }
    if (has_wide_floats(*sums)) {
      return run_distances<float, double>(executor, numbers, num_valid, centers, skips_nan, *sums);
    }
    return run_distances<float, float>(executor, numbers, num_valid, centers, skips_nan, *sums);
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_pairwise_sum_v1, jaxframes::pairwise_sum_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());

JAXFRAMES_DEFINE_TARGET(jaxframes_sum_of_squared_distances_v1, jaxframes::squared_distances_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Attr<bool>("skips_nan")
                            .Ret<ffi::AnyBuffer>());
