// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "base/cuda_target.h"
#include "move/compact_arguments.h"
#include "move/cuda_compact.h"

namespace jaxframes {
namespace {

constexpr char kCountFlags[] = "jaxframes_cuda_count_flags_v1";
constexpr char kFlaggedRows[] = "jaxframes_cuda_flagged_rows_v1";

CudaFlags flags_of(const ffi::AnyBuffer& mask) {
  return {words_of<uint8_t>(mask), batch_size(mask), row_length(mask)};
}

ffi::Error count_flags_target(cudaStream_t stream, ffi::AnyBuffer mask, ffi::AnyBuffer num_valid,
                              ffi::Result<ffi::AnyBuffer> before,
                              ffi::Result<ffi::AnyBuffer> count) {
  ArgumentChecker checker(kCountFlags);
  check_counted(checker, mask, num_valid, *before, *count);
  if (!checker.ok()) return checker.error();
  return launched(kCountFlags,
                  cuda_count_flags(flags_of(mask), words_of<int32_t>(num_valid),
                                   words_of<int32_t>(*before), words_of<int32_t>(*count), stream));
}

ffi::Error flagged_rows_target(cudaStream_t stream, ffi::AnyBuffer mask, ffi::AnyBuffer before,
                               ffi::AnyBuffer count, ffi::RemainingArgs arrays,
                               ffi::RemainingRets kept_arrays) {
  ArgumentChecker checker(kFlaggedRows);
  std::vector<ffi::AnyBuffer> results;
  const std::vector<KeptWords> kept_words =
      kept_words_of(checker, mask, before, count, arrays, kept_arrays, results);
  if (!checker.ok()) return checker.error();
  return launched(kFlaggedRows,
                  cuda_compact(flags_of(mask), words_of<int32_t>(before), words_of<int32_t>(count),
                               kept_words, row_length(results[0]), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_count_flags_v1, jaxframes::count_flags_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>());

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_flagged_rows_v1, jaxframes::flagged_rows_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .RemainingArgs()
                                 .RemainingRets());
