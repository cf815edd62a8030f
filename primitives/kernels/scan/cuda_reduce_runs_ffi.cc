// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "base/cuda_target.h"
#include "scan/cuda_reduce_runs.h"
#include "scan/cuda_scan_arguments.h"
#include "scan/scan_arguments.h"

namespace jaxframes {
namespace {

constexpr char kReduceRuns[] = "jaxframes_cuda_reduce_runs_v1";

ffi::Error reduce_runs_target(cudaStream_t stream, ffi::AnyBuffer values, ffi::AnyBuffer heads,
                              ffi::AnyBuffer num_valid, ffi::Result<ffi::AnyBuffer> results,
                              ffi::Result<ffi::AnyBuffer> scratch, int32_t op) {
  ArgumentChecker checker(kReduceRuns);
  check_scanned(checker, values, *results, op);
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(values), num_rows = row_length(values);
  checker.require_dtype(heads, "heads", ffi::DataType::PRED);
  checker.require_rows(heads, "heads", batch, num_rows);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require(results->dimensions().size() > 0 && batch_size(*results) == batch,
                  "results must have shape [..., num_segments], got " +
                      ArgumentChecker::shape_of(*results));
  checker.require_scratch(
      *scratch, cuda_reduce_runs_scratch_bytes(num_rows, ArgumentChecker::word_bytes(values)));
  if (!checker.ok()) return checker.error();
  const CudaRunReduction call{scan_number_of(values),
                              static_cast<ScanOperator>(op),
                              batch,
                              num_rows,
                              row_length(*results),
                              values.untyped_data(),
                              words_of<uint8_t>(heads),
                              words_of<int32_t>(num_valid),
                              results->untyped_data()};
  return launched(kReduceRuns, cuda_reduce_runs(call, scratch->untyped_data(), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_reduce_runs_v1, jaxframes::reduce_runs_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<int32_t>("op"));

// Bytes of the scratch result.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_cuda_reduce_runs_scratch_bytes(
    int64_t num_rows, int32_t number_bytes) {
  return jaxframes::cuda_reduce_runs_scratch_bytes(num_rows, number_bytes);
}
