// SPDX-License-Identifier: Apache-2.0
#include "reduce/segment_sums.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/ffi_arguments.h"
#include "reduce/segment_ids_ffi.h"

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
  const int64_t num_segments = row_length(counts);
  for_each_ids<Id>(
      executor, ids, first_id, num_valid, num_segments,
      [&](Executor& row_executor, int64_t row, const auto& segments) {
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
  check_segments(checker, ids, first_id, num_valid, *counts, "counts");
  checker.require(columns.size() == results.size(), "one result must come for each column");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(ids), num_rows = row_length(ids);
  const int64_t num_segments = row_length(*counts);
  checker.require(num_segments < int64_t{1} << 31, "there must be fewer than 2^31 segments");
  checker.require_dtype(*counts, "counts", ffi::DataType::S32);
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
    with_id_type(ids, [&](auto id) {
      run<decltype(id)>(executor, ids, first_id, num_valid, columns, *counts, results);
    });
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
