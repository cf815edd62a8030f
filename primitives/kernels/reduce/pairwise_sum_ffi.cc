// SPDX-License-Identifier: Apache-2.0
#include "reduce/pairwise_sum.h"

#include <cstdint>

#include "base/ffi_arguments.h"

namespace jaxframes {
namespace {

constexpr char kPairwiseSum[] = "jaxframes_pairwise_sum_v1";

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

ffi::Error pairwise_sum_target(ffi::ThreadPool pool, ffi::AnyBuffer numbers,
                               ffi::AnyBuffer num_valid, ffi::Result<ffi::AnyBuffer> sums) {
  ArgumentChecker checker(kPairwiseSum);
  checker.require_keys(numbers, "numbers");
  checker.require(ArgumentChecker::is_floating(numbers), "numbers must be floats");
  checker.require(ArgumentChecker::is_floating(*sums), "sums must be floats");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(numbers);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_scalars(*sums, "sums", batch);
  const bool is_wide = numbers.element_type() == ffi::DataType::F64;
  const bool has_wide_sums = sums->element_type() == ffi::DataType::F64;
  checker.require(has_wide_sums || !is_wide, "sums must not be narrower than numbers");
  if (!checker.ok()) return checker.error();
  return run_kernel(kPairwiseSum, [&] {
    XlaExecutor executor(pool);
    if (is_wide) return run<double, double>(executor, numbers, num_valid, *sums);
    if (has_wide_sums) return run<float, double>(executor, numbers, num_valid, *sums);
    return run<float, float>(executor, numbers, num_valid, *sums);
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
