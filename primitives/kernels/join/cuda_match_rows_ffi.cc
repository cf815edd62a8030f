// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "base/cuda_target.h"
#include "join/cuda_match_rows.h"

namespace jaxframes {
namespace {

constexpr char kMatchRows[] = "jaxframes_cuda_match_rows_v1";

ffi::Error match_rows_target(cudaStream_t stream, ffi::AnyBuffer words, ffi::AnyBuffer row_ids,
                             ffi::AnyBuffer valid_left, ffi::AnyBuffer valid_right,
                             ffi::Result<ffi::AnyBuffer> begins,
                             ffi::Result<ffi::AnyBuffer> num_matches,
                             ffi::Result<ffi::AnyBuffer> right_rows,
                             ffi::Result<ffi::AnyBuffer> scratch, bool outer) {
  ArgumentChecker checker(kMatchRows);
  checker.require_keys(words, "words");
  checker.require_keys(*right_rows, "right_rows");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(words), num_rows = row_length(words);
  const int64_t num_right = row_length(*right_rows), num_left = num_rows - num_right;
  checker.require(num_left >= 0, "there must be at most as many right rows as words");
  checker.require_dtype(row_ids, "row_ids", ffi::DataType::S32);
  checker.require_rows(row_ids, "row_ids", batch, num_rows);
  checker.require_dtype(valid_left, "valid_left", ffi::DataType::S32);
  checker.require_scalars(valid_left, "valid_left", batch);
  checker.require_dtype(valid_right, "valid_right", ffi::DataType::S32);
  checker.require_scalars(valid_right, "valid_right", batch);
  checker.require_dtype(*begins, "begins", ffi::DataType::S32);
  checker.require_rows(*begins, "begins", batch, outer ? num_rows : num_left);
  checker.require_dtype(*num_matches, "num_matches", ffi::DataType::S32);
  checker.require_rows(*num_matches, "num_matches", batch, outer ? num_rows : num_left);
  checker.require_dtype(*right_rows, "right_rows", ffi::DataType::S32);
  checker.require_rows(*right_rows, "right_rows", batch, num_right);
  checker.require_scratch(*scratch, cuda_match_rows_scratch_bytes(num_rows));
  if (!checker.ok()) return checker.error();
  const CudaMatchRows call{batch,
                           num_left,
                           num_right,
                           outer,
                           ArgumentChecker::word_bytes(words),
                           words.untyped_data(),
                           words_of<int32_t>(row_ids),
                           words_of<int32_t>(valid_left),
                           words_of<int32_t>(valid_right),
                           words_of<int32_t>(*begins),
                           words_of<int32_t>(*num_matches),
                           words_of<int32_t>(*right_rows)};
  return launched(kMatchRows, cuda_match_rows(call, scratch->untyped_data(), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_match_rows_v1, jaxframes::match_rows_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<bool>("outer"));

// Bytes of the scratch result.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_cuda_match_rows_scratch_bytes(int64_t num_rows) {
  return jaxframes::cuda_match_rows_scratch_bytes(num_rows);
}
