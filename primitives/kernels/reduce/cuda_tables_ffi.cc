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

// The row that a dtype names; kNone for a dtype that the kernels do not read.
TableRow row_of(ffi::DataType dtype) {
  switch (dtype) {
    case ffi::DataType::PRED: return TableRow::kU8;
    case ffi::DataType::S32: return TableRow::kS32;
    case ffi::DataType::U32: return TableRow::kU32;
    case ffi::DataType::F32: return TableRow::kF32;
    case ffi::DataType::S64: return TableRow::kS64;
    case ffi::DataType::U64: return TableRow::kU64;
    case ffi::DataType::F64: return TableRow::kF64;
    default: return TableRow::kNone;
  }
}

// The dtype of the results for rows of a dtype; of first rows, two words for each segment.
ffi::DataType reduced_dtype(TableForm form, ffi::DataType rows) {
  if (form == TableForm::kTruth) return ffi::DataType::S32;
  if (form == TableForm::kFirstRows || rows == ffi::DataType::F32) return ffi::DataType::U32;
  return rows == ffi::DataType::F64 ? ffi::DataType::U64 : rows;
}

ffi::Error segment_reduce_target(cudaStream_t stream, ffi::AnyBuffer ids, ffi::AnyBuffer rows,
                                 ffi::Result<ffi::AnyBuffer> results, int32_t form_number,
                                 int32_t op_number) {
  ArgumentChecker checker(kSegmentReduce);
  checker.require_dtype(ids, "ids", ffi::DataType::S32);
  checker.require_keys(*results, "results");
  checker.require(ids.dimensions().size() > 0 && rows.dimensions().size() > 0,
                  "ids and rows must have shapes [..., num_rows]");
  checker.require(form_number >= 0 && form_number <= 2,
                  "form must be in [0, 2], got " + std::to_string(form_number));
  checker.require(op_number >= 0 && op_number <= 2,
                  "op must be in [0, 2], got " + std::to_string(op_number));
  if (!checker.ok()) return checker.error();
  const auto form = static_cast<TableForm>(form_number);
  const auto op = static_cast<TableOperator>(op_number);
  const int64_t batch = batch_size(ids), num_rows = row_length(ids);
  const int64_t words = form == TableForm::kFirstRows ? 2 : 1;
  const int64_t num_segments = row_length(*results) / words;
  const bool has_rows = row_length(rows) != 0 || num_rows == 0;
  const ffi::DataType dtype = rows.element_type();
  const TableRow type = row_of(dtype);
  const bool is_plain = type == TableRow::kS32 || type == TableRow::kU32 ||
                        type == TableRow::kS64 || type == TableRow::kU64;
  checker.require(form == TableForm::kNumbers   ? type != TableRow::kNone && type != TableRow::kU8
                  : form == TableForm::kTruth ? type != TableRow::kNone
                                              : type == TableRow::kF32 || type == TableRow::kS32 ||
                                                    type == TableRow::kU32,
                  "rows have a dtype that this form does not read");
  checker.require_dtype(*results, "results", reduced_dtype(form, dtype));
  checker.require(op != TableOperator::kAdd || (form == TableForm::kNumbers && is_plain),
                  "only integers are added up");
  checker.require(has_rows || (form == TableForm::kNumbers && type == TableRow::kS32),
                  "without rows, positions are combined as int32 numbers");
  checker.require_rows(rows, "rows", batch, has_rows ? num_rows : 0);
  checker.require_rows(*results, "results", batch, words * num_segments);
  checker.require(
      row_length(*results) * ArgumentChecker::word_bytes(*results) <= kMostTableBytes,
      "the results must have at most " + std::to_string(kMostTableBytes) + " bytes a row, got " +
          ArgumentChecker::shape_of(*results));
  if (!checker.ok()) return checker.error();
  return launched(kSegmentReduce,
                  cuda_segment_reduce({form, has_rows ? type : TableRow::kNone, op,
                                       words_of<int32_t>(ids), rows.untyped_data(),
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
                                 .Attr<int32_t>("form")
                                 .Attr<int32_t>("op"));

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_histogram_v1, jaxframes::histogram_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<jaxframes::WordBits>("is_uniform"));
