// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <string>

#include "base/cuda_target.h"
#include "reduce/cuda_segment_sum.h"
#include "reduce/segment_arguments.h"

namespace jaxframes {
namespace {

constexpr char kSegmentSum[] = "jaxframes_cuda_segment_sum_v1";

SegmentId id_type_of(const ffi::AnyBuffer& ids) {
  switch (ids.element_type()) {
    case ffi::DataType::S32: return SegmentId::kS32;
    case ffi::DataType::U32: return SegmentId::kU32;
    case ffi::DataType::S64: return SegmentId::kS64;
    default: return SegmentId::kU64;
  }
}

ffi::Error segment_sum_target(cudaStream_t stream, ffi::AnyBuffer ids, ffi::AnyBuffer first_id,
                              ffi::AnyBuffer num_valid, ffi::AnyBuffer numbers,
                              ffi::Result<ffi::AnyBuffer> sums,
                              ffi::Result<ffi::AnyBuffer> scratch) {
  ArgumentChecker checker(kSegmentSum);
  check_segment_sum(checker, ids, first_id, num_valid, numbers, *sums);
  checker.require(ArgumentChecker::is_floating(numbers), "numbers must have dtype f32 or f64");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(ids), num_rows = row_length(ids);
  const int64_t num_segments = row_length(*sums);
  const int number_bytes = ArgumentChecker::word_bytes(numbers);
  checker.require(num_segments <= std::numeric_limits<int32_t>::max(),
                  "there must be fewer than 2^31 segments, got " + std::to_string(num_segments));
  if (!checker.ok()) return checker.error();
  checker.require_scratch(*scratch, batch * cuda_segment_sum_scratch_bytes(num_rows, num_segments,
                                                                           number_bytes));
  if (!checker.ok()) return checker.error();
  const CudaSegmentSum call{id_type_of(ids),
                            ids.untyped_data(),
                            first_id.untyped_data(),
                            words_of<int32_t>(num_valid),
                            numbers.untyped_data(),
                            sums->untyped_data(),
                            number_bytes,
                            batch,
                            num_rows,
                            num_segments};
  return launched(kSegmentSum, cuda_segment_sum(call, scratch->untyped_data(), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_segment_sum_v1, jaxframes::segment_sum_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>());

extern "C" JAXFRAMES_EXPORT int64_t jaxframes_cuda_segment_sum_scratch_bytes(
    int64_t num_rows, int64_t num_segments, int32_t number_bytes) {
  return jaxframes::cuda_segment_sum_scratch_bytes(num_rows, num_segments, number_bytes);
}
