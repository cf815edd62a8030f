// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "base/cuda_target.h"
#include "move/cuda_repeat_rows.h"

namespace jaxframes {
namespace {

constexpr char kRepeatRows[] = "jaxframes_cuda_repeat_rows_v2";

ffi::Error repeat_rows_target(cudaStream_t stream, ffi::AnyBuffer repeats,
                              ffi::AnyBuffer num_valid, ffi::Result<ffi::AnyBuffer> row_ids,
                              ffi::Result<ffi::AnyBuffer> copies,
                              ffi::Result<ffi::AnyBuffer> count,
                              ffi::Result<ffi::AnyBuffer> scratch) {
  ArgumentChecker checker(kRepeatRows);
  checker.require_dtype(repeats, "repeats", ffi::DataType::S32);
  checker.require_keys(repeats, "repeats");
  checker.require_keys(*row_ids, "row_ids");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(repeats), num_rows = row_length(repeats);
  const int64_t capacity = row_length(*row_ids);
  checker.require(num_rows > 0 || batch == 0, "repeats must have rows");
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_dtype(*row_ids, "row_ids", ffi::DataType::S32);
  checker.require_rows(*row_ids, "row_ids", batch, capacity);
  checker.require_dtype(*copies, "copies", ffi::DataType::S32);
  checker.require_rows(*copies, "copies", batch, capacity);
  checker.require_dtype(*count, "count", ffi::DataType::S32);
  checker.require_scalars(*count, "count", batch);
  checker.require_scratch(*scratch, cuda_repeat_rows_scratch_bytes(num_rows, capacity));
  if (!checker.ok()) return checker.error();
  const CudaRepeatRows call{batch,
                            num_rows,
                            capacity,
                            words_of<int32_t>(repeats),
                            words_of<int32_t>(num_valid),
                            words_of<int32_t>(*row_ids),
                            words_of<int32_t>(*copies),
                            words_of<int32_t>(*count)};
  return launched(kRepeatRows, cuda_repeat_rows(call, scratch->untyped_data(), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_repeat_rows_v2, jaxframes::repeat_rows_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>());

// Bytes of the scratch result.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_cuda_repeat_rows_scratch_bytes(int64_t num_rows,
                                                                             int64_t capacity) {
  return jaxframes::cuda_repeat_rows_scratch_bytes(num_rows, capacity);
}
