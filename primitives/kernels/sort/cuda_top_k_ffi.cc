// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "base/cuda_target.h"
#include "sort/cuda_top_k.h"
#include "sort/top_k_arguments.h"

namespace jaxframes {
namespace {

constexpr char kTopK[] = "jaxframes_cuda_top_k_v1";

ffi::Error top_k_target(cudaStream_t stream, ffi::AnyBuffer keys, ffi::AnyBuffer num_valid,
                        ffi::Result<ffi::AnyBuffer> row_ids,
                        ffi::Result<ffi::AnyBuffer> scratch, WordBits flip) {
  ArgumentChecker checker(kTopK);
  check_top_k(checker, keys, num_valid, *row_ids, flip);
  checker.require(ArgumentChecker::word_bytes(keys) == 4, "keys must have 32 bits");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(keys), num_rows = row_length(keys), k = row_length(*row_ids);
  checker.require_scratch(*scratch, batch * cuda_top_k_scratch_bytes(num_rows, k));
  if (!checker.ok()) return checker.error();
  const CudaTopK call{words_of<uint32_t>(keys),
                      ArgumentChecker::is_floating(keys),
                      static_cast<uint32_t>(flip.bits),
                      words_of<int32_t>(num_valid),
                      words_of<int32_t>(*row_ids),
                      batch,
                      num_rows,
                      k};
  return launched(kTopK, cuda_top_k(call, scratch->untyped_data(), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_top_k_v1, jaxframes::top_k_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<jaxframes::WordBits>("flip"));

extern "C" JAXFRAMES_EXPORT int64_t jaxframes_cuda_top_k_scratch_bytes(int64_t num_rows,
                                                                       int64_t k) {
  return jaxframes::cuda_top_k_scratch_bytes(num_rows, k);
}
