// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <string>

#include "base/cuda_target.h"
#include "scan/cuda_scan_arguments.h"
#include "scan/cuda_segmented_scan.h"
#include "scan/scan_arguments.h"

namespace jaxframes {
namespace {

constexpr char kSegmentedScan[] = "jaxframes_cuda_segmented_scan_v1";

ffi::Error segmented_scan_target(cudaStream_t stream, ffi::AnyBuffer values, ffi::AnyBuffer heads,
                                 ffi::AnyBuffer num_valid, ffi::Result<ffi::AnyBuffer> results,
                                 ffi::Result<ffi::AnyBuffer> scratch, int32_t op, bool reverse,
                                 bool exclusive) {
  ArgumentChecker checker(kSegmentedScan);
  check_scan(checker, values, heads, num_valid, *results, op);
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(values), num_rows = row_length(values);
  checker.require_scratch(*scratch, cuda_segmented_scan_scratch_bytes(
                                        batch * num_rows, ArgumentChecker::word_bytes(values)));
  if (!checker.ok()) return checker.error();
  if (batch * num_rows == 0) return ffi::Error::Success();
  const CudaSegmentedScan scan{scan_number_of(values),
                               static_cast<ScanOperator>(op),
                               reverse,
                               exclusive,
                               batch,
                               num_rows,
                               batch / std::max<int64_t>(batch_size(heads), 1),
                               values.untyped_data(),
                               row_length(heads) == 0 ? nullptr : words_of<uint8_t>(heads),
                               words_of<int32_t>(num_valid),
                               results->untyped_data()};
  return launched(kSegmentedScan, cuda_segmented_scan(scan, scratch->untyped_data(), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_segmented_scan_v1, jaxframes::segmented_scan_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<int32_t>("op")
                                 .Attr<bool>("reverse")
                                 .Attr<bool>("exclusive"));

// Bytes of the scratch result.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_cuda_segmented_scan_scratch_bytes(
    int64_t num_values, int32_t number_bytes) {
  return jaxframes::cuda_segmented_scan_scratch_bytes(num_values, number_bytes);
}
