// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "base/cuda_target.h"
#include "reduce/cuda_segment_statistic.h"

namespace jaxframes {
namespace {

constexpr char kSegmentStatistic[] = "jaxframes_cuda_segment_statistic_v1";

ffi::Error segment_statistic_target(cudaStream_t stream, ffi::AnyBuffer ids, ffi::AnyBuffer numbers,
                                    ffi::Result<ffi::AnyBuffer> results,
                                    ffi::Result<ffi::AnyBuffer> centers,
                                    ffi::Result<ffi::AnyBuffer> scratch, int32_t statistic_number,
                                    int64_t ddof) {
  ArgumentChecker checker(kSegmentStatistic);
  checker.require_dtype(ids, "ids", ffi::DataType::S32);
  checker.require_keys(ids, "ids");
  checker.require_keys(numbers, "numbers");
  checker.require(ArgumentChecker::is_floating(numbers), "numbers must have dtype f32 or f64");
  checker.require_keys(*results, "results");
  checker.require_dtype(*results, "results", numbers.element_type());
  checker.require_dtype(*centers, "centers", numbers.element_type());
  checker.require(statistic_number >= 0 && statistic_number <= 5,
                  "statistic must be in [0, 5], got " + std::to_string(statistic_number));
  if (!checker.ok()) return checker.error();
  const auto statistic = static_cast<SegmentStatistic>(statistic_number);
  const int64_t batch = batch_size(ids), num_rows = row_length(ids);
  const int64_t num_segments = row_length(*results);
  const int number_bytes = ArgumentChecker::word_bytes(numbers);
  checker.require(num_rows > 0, "there must be rows");
  checker.require(num_segments > 0 && num_segments <= kMostTableSegments,
                  "there must be between 1 and " + std::to_string(kMostTableSegments) +
                      " segments, got " + std::to_string(num_segments));
  checker.require_rows(numbers, "numbers", batch, num_rows);
  checker.require_rows(*results, "results", batch, num_segments);
  checker.require_rows(*centers, "centers", batch, has_centers(statistic) ? num_segments : 0);
  if (!checker.ok()) return checker.error();
  checker.require_scratch(
      *scratch, batch * cuda_segment_statistic_scratch_bytes(num_rows, num_segments, number_bytes));
  if (!checker.ok()) return checker.error();
  const CudaSegmentStatistic call{statistic,
                                  words_of<int32_t>(ids),
                                  numbers.untyped_data(),
                                  results->untyped_data(),
                                  centers->untyped_data(),
                                  number_bytes,
                                  ddof,
                                  batch,
                                  num_rows,
                                  num_segments};
  return launched(kSegmentStatistic,
                  cuda_segment_statistic(call, scratch->untyped_data(), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_segment_statistic_v1,
                             jaxframes::segment_statistic_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<int32_t>("statistic")
                                 .Attr<int64_t>("ddof"));

extern "C" JAXFRAMES_EXPORT int64_t jaxframes_cuda_segment_statistic_scratch_bytes(
    int64_t num_rows, int64_t num_segments, int32_t number_bytes) {
  return jaxframes::cuda_segment_statistic_scratch_bytes(num_rows, num_segments, number_bytes);
}
