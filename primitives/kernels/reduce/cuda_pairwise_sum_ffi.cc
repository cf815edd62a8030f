// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "base/cuda_target.h"
#include "reduce/cuda_pairwise_sum.h"
#include "reduce/pairwise_sum_arguments.h"

namespace jaxframes {
namespace {

constexpr char kPairwiseSum[] = "jaxframes_cuda_pairwise_sum_v1";

// Without centers, which then have length zero, the numbers themselves are added up.
ffi::Error pairwise_sum_target(cudaStream_t stream, ffi::AnyBuffer numbers,
                               ffi::AnyBuffer num_valid, ffi::AnyBuffer centers,
                               ffi::Result<ffi::AnyBuffer> sums,
                               ffi::Result<ffi::AnyBuffer> scratch, bool skips_nan) {
  ArgumentChecker checker(kPairwiseSum);
  check_sums(checker, numbers, num_valid, *sums);
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(numbers), num_rows = row_length(numbers);
  const bool has_centers = centers.element_count() != 0;
  checker.require(num_rows > 0, "there must be rows");
  checker.require_dtype(centers, "centers", sums->element_type());
  if (has_centers) checker.require_scalars(centers, "centers", batch);
  if (!checker.ok()) return checker.error();
  const int number_bytes = ArgumentChecker::word_bytes(numbers);
  const int sum_bytes = has_wide_floats(*sums) ? 8 : 4;
  checker.require_scratch(*scratch, batch * cuda_pairwise_sum_scratch_bytes(num_rows, sum_bytes));
  if (!checker.ok()) return checker.error();
  const CudaPairwiseSum call{numbers.untyped_data(),
                             words_of<int32_t>(num_valid),
                             has_centers ? centers.untyped_data() : nullptr,
                             skips_nan,
                             sums->untyped_data(),
                             number_bytes,
                             sum_bytes,
                             batch,
                             num_rows};
  return launched(kPairwiseSum, cuda_pairwise_sum(call, scratch->untyped_data(), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_pairwise_sum_v1, jaxframes::pairwise_sum_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<bool>("skips_nan"));

extern "C" JAXFRAMES_EXPORT int64_t jaxframes_cuda_pairwise_sum_scratch_bytes(int64_t num_rows,
                                                                              int32_t sum_bytes) {
  return jaxframes::cuda_pairwise_sum_scratch_bytes(num_rows, sum_bytes);
}
