// SPDX-License-Identifier: Apache-2.0
#include "reduce/segment_sums.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/ffi_arguments.h"

namespace jaxframes {
namespace {

constexpr char kSegmentSums[] = "jaxframes_segment_sums_v1";

// Calls kernel(number) with a number of the type of a column; returns whether it is supported.
template <typename Kernel>
bool with_number(ffi::DataType dtype, const Kernel& kernel) {
  switch (dtype) {
    case ffi::DataType::PRED: return kernel(uint8_t{}), true;
    case ffi::DataType::S32: return kernel(int32_t{}), true;
    case ffi::DataType::U32: return kernel(uint32_t{}), true;
    case ffi::DataType::S64: return kernel(int64_t{}), true;
    case ffi::DataType::U64: return kernel(uint64_t{}), true;
    case ffi::DataType::F32: return kernel(float{}), true;
    case ffi::DataType::F64: return kernel(double{}), true;
    default: return false;
  }
}

template <typename Kernel>
bool with_sum(ffi::DataType dtype, const Kernel& kernel) {
  switch (dtype) {
    case ffi::DataType::S64: return kernel(int64_t{}), true;
    case ffi::DataType::U64: return kernel(uint64_t{}), true;
    case ffi::DataType::F64: return kernel(double{}), true;
    default: return false;
  }
}

bool is_floating(ffi::DataType dtype) {
  return dtype == ffi::DataType::F32 || dtype == ffi::DataType::F64;
}

// The table of one column for one row of the batch.
SegmentTable table_of(const ffi::AnyBuffer& numbers, const ffi::AnyBuffer& sums, int64_t row) {
  SegmentTable table;
  with_number(numbers.element_type(), [&](auto number) {
    with_sum(sums.element_type(), [&](auto sum) {
      table = sum_table(words_of<decltype(number)>(numbers) + row * row_length(numbers),
                        words_of<decltype(sum)>(sums) + row * row_length(sums));
    });
  });
  return table;
}

template <typename Id>
void run(Executor& executor, const ffi::AnyBuffer& ids, const ffi::AnyBuffer& first_id,
         const ffi::AnyBuffer& num_valid, const std::vector<ffi::AnyBuffer>& columns,
         const ffi::AnyBuffer& counts, const std::vector<ffi::AnyBuffer>& sums) {
  const int64_t num_rows = row_length(ids), num_segments = row_length(counts);
  for_each_row(executor, batch_size(ids), num_rows, [&](Executor& row_executor, int64_t row) {
    const SegmentIds<Id> segments(words_of<Id>(ids) + row * num_rows, words_of<Id>(first_id)[row],
                                  count_at(num_valid, row, num_rows), num_segments);
    std::vector<SegmentTable> tables{
        count_table(words_of<int32_t>(counts) + row * num_segments)};
    for (size_t i = 0; i < columns.size(); ++i) {
      tables.push_back(table_of(columns[i], sums[i], row));
    }
    add_segments(row_executor, segments, tables);
  });
}

ffi::Error segment_sums_target(ffi::ThreadPool pool, ffi::AnyBuffer ids, ffi::AnyBuffer first_id,
                               ffi::AnyBuffer num_valid, ffi::RemainingArgs numbers,
                               ffi::Result<ffi::AnyBuffer> counts, ffi::RemainingRets sums) {
  ArgumentChecker checker(kSegmentSums);
  const std::vector<ffi::AnyBuffer> columns = buffers_of(checker, numbers),
                                    results = buffers_of(checker, sums);
  checker.require_keys(ids, "ids");
  checker.require(!ArgumentChecker::is_floating(ids), "ids must be integers");
  checker.require(counts->dimensions().size() > 0, "counts must have shape [..., segments]");
  checker.require(columns.size() == results.size(), "one result must come for each column");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(ids), num_rows = row_length(ids);
  const int64_t num_segments = row_length(*counts);
  checker.require(num_segments < int64_t{1} << 31, "there must be fewer than 2^31 segments");
  checker.require_dtype(first_id, "first_id", ids.element_type());
  checker.require_scalars(first_id, "first_id", batch);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_dtype(*counts, "counts", ffi::DataType::S32);
  checker.require_rows(*counts, "counts", batch, num_segments);
  for (size_t i = 0; i < columns.size() && checker.ok(); ++i) {
    const ffi::DataType dtype = columns[i].element_type(), sum_dtype = results[i].element_type();
    const auto nothing = [](auto) {};
    checker.require_rows(columns[i], "a column", batch, num_rows);
    checker.require_rows(results[i], "a result", batch, num_segments);
    checker.require(with_number(dtype, nothing) && with_sum(sum_dtype, nothing) &&
                        (is_floating(sum_dtype) || !is_floating(dtype)),
                    "a column or a sum has the wrong dtype");
  }
  if (!checker.ok()) return checker.error();
  return run_kernel(kSegmentSums, [&] {
    XlaExecutor executor(pool);
    switch (ids.element_type()) {
      case ffi::DataType::S32:
        return run<int32_t>(executor, ids, first_id, num_valid, columns, *counts, results);
      case ffi::DataType::U32:
        return run<uint32_t>(executor, ids, first_id, num_valid, columns, *counts, results);
      case ffi::DataType::S64:
        return run<int64_t>(executor, ids, first_id, num_valid, columns, *counts, results);
      default:
        return run<uint64_t>(executor, ids, first_id, num_valid, columns, *counts, results);
    }
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_segment_sums_v1, jaxframes::segment_sums_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .RemainingArgs()
                            .Ret<ffi::AnyBuffer>()
                            .RemainingRets());
