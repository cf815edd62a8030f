// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/cuda_target.h"
#include "scan/cuda_reduce_by_key.h"
#include "scan/cuda_scan_arguments.h"
#include "scan/scan_arguments.h"

namespace jaxframes {
namespace {

constexpr char kReduceByKey[] = "jaxframes_cuda_reduce_by_key_v3";

// Checks the columns and their first rows. Of the first one no rows are kept if `is_compared`.
RunColumns run_columns_of(ArgumentChecker& checker, const std::vector<ffi::AnyBuffer>& columns,
                          const std::vector<ffi::AnyBuffer>& firsts, int64_t batch,
                          int64_t num_rows, int64_t capacity, bool is_compared) {
  RunColumns kept{};
  checker.require(columns.size() == firsts.size() && columns.size() <= RunColumns::kMost,
                  "one result must come for each of at most " +
                      std::to_string(RunColumns::kMost) + " columns");
  for (size_t i = 0; i < columns.size() && checker.ok(); ++i) {
    checker.require_words(columns[i], "a column");
    checker.require_rows(columns[i], "a column", batch, num_rows);
    checker.require_dtype(firsts[i], "a result", columns[i].element_type());
    const bool is_kept = i > 0 || !is_compared;
    checker.require_rows(firsts[i], "a result", batch, is_kept ? capacity : 0);
    kept.words[kept.count++] = {
        false, columns[i].untyped_data(), is_kept ? firsts[i].untyped_data() : nullptr,
        static_cast<int64_t>(ffi::ByteWidth(columns[i].element_type()))};
  }
  return kept;
}

ffi::Error reduce_by_key_target(cudaStream_t stream, ffi::AnyBuffer values, ffi::AnyBuffer heads,
                                ffi::AnyBuffer num_valid, ffi::AnyBuffer row_ids,
                                ffi::RemainingArgs columns, ffi::Result<ffi::AnyBuffer> results,
                                ffi::Result<ffi::AnyBuffer> count,
                                ffi::Result<ffi::AnyBuffer> run_ids,
                                ffi::Result<ffi::AnyBuffer> scratch,
                                ffi::RemainingRets firsts, int32_t op) {
  ArgumentChecker checker(kReduceByKey);
  check_scanned(checker, values, *results, op);
  const std::vector<ffi::AnyBuffer> sources = buffers_of(checker, columns);
  const std::vector<ffi::AnyBuffer> kept = buffers_of(checker, firsts);
  checker.require(heads.dimensions().size() > 0, "heads must have shape [..., num_rows]");
  checker.require(row_ids.dimensions().size() > 0, "row_ids must have shape [..., num_rows]");
  checker.require(run_ids->dimensions().size() > 0, "run_ids must have shape [..., num_rows]");
  if (!checker.ok()) return checker.error();
  const bool has_values = row_length(values) != 0, has_heads = row_length(heads) != 0;
  checker.require(results->dimensions().size() > 0, "results must have shape [..., capacity]");
  if (!checker.ok()) return checker.error();
  const bool is_reduced = has_values || row_length(*results) != 0;
  const bool has_run_ids = row_length(*run_ids) != 0, has_row_ids = row_length(row_ids) != 0;
  checker.require(sources.empty() || sources[0].dimensions().size() > 0,
                  "a column must have shape [..., num_rows]");
  checker.require(has_heads || !sources.empty(), "without heads there must be a column");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(values);
  const int64_t num_rows = has_heads ? row_length(heads) : row_length(sources[0]);
  checker.require(num_rows <= std::numeric_limits<int32_t>::max(),
                  "there must be fewer than 2^31 rows, got " + std::to_string(num_rows));
  checker.require(has_heads || ArgumentChecker::word_bytes(sources[0]) != 0,
                  "without heads the first column must have words of 4 or 8 bytes");
  if (has_values) {
    checker.require_rows(values, "values", batch, num_rows);
  } else if (is_reduced) {
    checker.require(values.element_type() == ffi::DataType::S32 &&
                        static_cast<ScanOperator>(op) == ScanOperator::kAdd,
                    "without values the rows are counted: results must have dtype s32, and op "
                    "must be an addition");
  }
  checker.require_dtype(heads, "heads", ffi::DataType::PRED);
  checker.require_rows(heads, "heads", batch, has_heads ? num_rows : 0);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_dtype(row_ids, "row_ids", ffi::DataType::S32);
  checker.require_rows(row_ids, "row_ids", batch, has_row_ids ? num_rows : 0);
  checker.require_dtype(*run_ids, "run_ids", ffi::DataType::S32);
  checker.require_rows(*run_ids, "run_ids", batch, has_run_ids ? num_rows : 0);
  checker.require_dtype(*count, "count", ffi::DataType::S32);
  checker.require_scalars(*count, "count", batch);
  if (!checker.ok()) return checker.error();
  checker.require(is_reduced || has_run_ids || !kept.empty(),
                  "there must be results, run_ids or a column");
  for (const ffi::AnyBuffer& first_rows : kept) {
    checker.require(first_rows.dimensions().size() > 0,
                    "a result must have shape [..., capacity]");
  }
  if (!checker.ok()) return checker.error();
  int64_t capacity = is_reduced ? row_length(*results) : 0;
  if (!is_reduced && !kept.empty()) capacity = row_length(kept.back());
  checker.require(capacity <= num_rows, "the capacity must be at most the number of rows, got " +
                                            std::to_string(capacity));
  checker.require_rows(*results, "results", batch, is_reduced ? capacity : 0);
  const bool is_compared = !has_heads && !kept.empty() && row_length(kept[0]) == 0;
  const RunColumns run_columns =
      run_columns_of(checker, sources, kept, batch, num_rows, capacity, is_compared);
  checker.require_scratch(
      *scratch, cuda_reduce_by_key_scratch_bytes(
                    num_rows, is_reduced ? ArgumentChecker::word_bytes(values) : 0));
  if (!checker.ok()) return checker.error();
  const CudaReduceByKey call{scan_number_of(values),
                             static_cast<ScanOperator>(op),
                             batch,
                             num_rows,
                             capacity,
                             has_values ? values.untyped_data() : nullptr,
                             has_heads ? words_of<uint8_t>(heads) : nullptr,
                             words_of<int32_t>(num_valid),
                             has_row_ids ? words_of<int32_t>(row_ids) : nullptr,
                             run_columns,
                             is_reduced ? results->untyped_data() : nullptr,
                             words_of<int32_t>(*count),
                             has_run_ids ? words_of<int32_t>(*run_ids) : nullptr};
  return launched(kReduceByKey, cuda_reduce_by_key(call, scratch->untyped_data(), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_reduce_by_key_v3, jaxframes::reduce_by_key_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .RemainingArgs()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .RemainingRets()
                                 .Attr<int32_t>("op"));

// Bytes of the scratch result; `number_bytes` is zero if nothing is reduced.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_cuda_reduce_by_key_scratch_bytes(
    int64_t num_rows, int32_t number_bytes) {
  return jaxframes::cuda_reduce_by_key_scratch_bytes(num_rows, number_bytes);
}
