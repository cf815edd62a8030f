// SPDX-License-Identifier: Apache-2.0
#include <cstdint>

#include "base/cuda_target.h"
#include "sort/cuda_merge.h"
#include "sort/merge_arguments.h"

namespace jaxframes {
namespace {

constexpr char kMerge[] = "jaxframes_cuda_merge_v1";
constexpr char kSearch[] = "jaxframes_cuda_search_v1";

// A result without rows is not wanted.
const ffi::AnyBuffer* wanted(const ffi::AnyBuffer& result) {
  return result.element_count() == 0 ? nullptr : &result;
}

ffi::Error merge_target(cudaStream_t stream, ffi::AnyBuffer a, ffi::AnyBuffer b,
                        ffi::AnyBuffer num_valid_a, ffi::AnyBuffer num_valid_b,
                        ffi::Result<ffi::AnyBuffer> merged_words,
                        ffi::Result<ffi::AnyBuffer> source_positions, WordBits flip) {
  ArgumentChecker checker(kMerge);
  const MergeBuffers buffers{
      a, b, num_valid_a, num_valid_b, wanted(*merged_words), wanted(*source_positions)};
  check_merge(checker, buffers, flip);
  if (!checker.ok()) return checker.error();
  const CudaMerge call{
      ArgumentChecker::word_bytes(a),
      ArgumentChecker::is_floating(a),
      flip.bits,
      batch_size(a),
      row_length(a),
      row_length(b),
      a.untyped_data(),
      b.untyped_data(),
      words_of<int32_t>(num_valid_a),
      words_of<int32_t>(num_valid_b),
      buffers.merged_keys == nullptr ? nullptr : merged_words->untyped_data(),
      buffers.source_positions == nullptr ? nullptr : words_of<int32_t>(*source_positions)};
  return launched(kMerge, cuda_merge(call, stream));
}

ffi::Error search_target(cudaStream_t stream, ffi::AnyBuffer words, ffi::AnyBuffer queries,
                         ffi::AnyBuffer num_valid, ffi::Result<ffi::AnyBuffer> positions,
                         bool counts_equal) {
  ArgumentChecker checker(kSearch);
  checker.require_keys(words, "words");
  checker.require_keys(queries, "queries");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(words), num_queries = row_length(queries);
  checker.require(words.element_type() == ffi::DataType::U32 ||
                      words.element_type() == ffi::DataType::U64,
                  "words must have dtype u32 or u64");
  checker.require_dtype(queries, "queries", words.element_type());
  checker.require_rows(queries, "queries", batch, num_queries);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_dtype(*positions, "positions", ffi::DataType::S32);
  checker.require_rows(*positions, "positions", batch, num_queries);
  if (!checker.ok()) return checker.error();
  const CudaSearch call{ArgumentChecker::word_bytes(words),
                        counts_equal,
                        batch,
                        row_length(words),
                        num_queries,
                        words.untyped_data(),
                        queries.untyped_data(),
                        words_of<int32_t>(num_valid),
                        words_of<int32_t>(*positions)};
  return launched(kSearch, cuda_search(call, stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_merge_v1, jaxframes::merge_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<jaxframes::WordBits>("flip"));

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_search_v1, jaxframes::search_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<bool>("counts_equal"));
