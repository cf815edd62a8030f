// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "base/cuda_target.h"
#include "reduce/cuda_tables.h"
#include "reduce/histogram_arguments.h"

namespace jaxframes {
namespace {

constexpr char kSegmentReduce[] = "jaxframes_cuda_segment_reduce_v1";
constexpr char kHistogram[] = "jaxframes_cuda_histogram_v1";

ffi::Error segment_reduce_target(cudaStream_t stream, ffi::AnyBuffer ids, ffi::AnyBuffer numbers,
                                 ffi::Result<ffi::AnyBuffer> results, int32_t op) {
  ArgumentChecker checker(kSegmentReduce);
  checker.require_dtype(ids, "ids", ffi::DataType::S32);
  checker.require_keys(*results, "results");
  checker.require(!ArgumentChecker::is_floating(*results), "results must be integers");
  checker.require(ids.dimensions().size() > 0 && numbers.dimensions().size() > 0,
                  "ids and numbers must have shapes [..., num_rows]");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(ids), num_rows = row_length(ids);
  const int64_t num_segments = row_length(*results);
  const bool has_numbers = row_length(numbers) != 0;
  checker.require_dtype(numbers, "numbers", results->element_type());
  checker.require_rows(numbers, "numbers", batch, has_numbers ? num_rows : 0);
  checker.require_rows(*results, "results", batch, num_segments);
  checker.require(op >= 0 && op <= 2, "op must be in [0, 2], got " + std::to_string(op));
  checker.require(
      num_segments * ArgumentChecker::word_bytes(*results) <= kMostTableBytes,
      "the results must have at most " + std::to_string(kMostTableBytes) + " bytes a row, got " +
          ArgumentChecker::shape_of(*results));
  if (!checker.ok()) return checker.error();
  const auto type = results->element_type();
  return launched(
      kSegmentReduce,
      cuda_segment_reduce({type == ffi::DataType::S32   ? TableNumber::kS32
                           : type == ffi::DataType::U32 ? TableNumber::kU32
                           : type == ffi::DataType::S64 ? TableNumber::kS64
                                                        : TableNumber::kU64,
                           static_cast<TableOperator>(op), words_of<int32_t>(ids),
                           has_numbers ? numbers.untyped_data() : nullptr,
                           results->untyped_data(), batch, num_rows, num_segments},
                          stream));
}

ffi::Error histogram_target(cudaStream_t stream, ffi::AnyBuffer numbers, ffi::AnyBuffer edges,
                            ffi::AnyBuffer num_valid, ffi::Result<ffi::AnyBuffer> counts,
                            WordBits is_uniform) {
  ArgumentChecker checker(kHistogram);
  check_histogram(checker, numbers, edges, num_valid, *counts);
  if (!checker.ok()) return checker.error();
  const int64_t num_bins = row_length(edges) - 1;
  checker.require(num_bins <= kMostBins, "there must be at most " + std::to_string(kMostBins) +
                                             " bins, got " + std::to_string(num_bins));
  if (!checker.ok()) return checker.error();
  const auto type = numbers.element_type();
  return launched(kHistogram,
                  cuda_histogram({type == ffi::DataType::S32   ? BinnedNumber::kS32
                                  : type == ffi::DataType::S64 ? BinnedNumber::kS64
                                  : type == ffi::DataType::F32 ? BinnedNumber::kF32
                                                               : BinnedNumber::kF64,
                                  edges.element_type() == ffi::DataType::F64, is_uniform.bits != 0,
                                  numbers.untyped_data(), edges.untyped_data(),
                                  words_of<int32_t>(num_valid), words_of<int32_t>(*counts),
                                  batch_size(numbers), row_length(numbers), num_bins},
                                 stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_segment_reduce_v1, jaxframes::segment_reduce_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<int32_t>("op"));

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_histogram_v1, jaxframes::histogram_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<jaxframes::WordBits>("is_uniform"));
