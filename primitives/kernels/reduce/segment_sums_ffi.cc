// SPDX-License-Identifier: Apache-2.0
#include "reduce/segment_sums.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/ffi_arguments.h"
#include "reduce/segment_ids_ffi.h"

namespace jaxframes {
namespace {

constexpr char kSegmentSums[] = "jaxframes_segment_sums_v2";

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

// One result: a column, or two whose product is added up.
struct Summed {
  std::vector<ffi::AnyBuffer> columns;
  ffi::AnyBuffer sums;
};

// The first `num_products` results have two columns each, the others one.
std::vector<Summed> pair_up(const std::vector<ffi::AnyBuffer>& columns,
                            const std::vector<ffi::AnyBuffer>& results, int64_t num_products) {
  std::vector<Summed> pairs;
  auto column = columns.begin();
  for (const ffi::AnyBuffer& sums : results) {
    const auto end = column + (static_cast<int64_t>(pairs.size()) < num_products ? 2 : 1);
    pairs.push_back({{column, end}, sums});
    column = end;
  }
  return pairs;
}

// The table of one result for one row of the batch.
SegmentTable table_of(const Summed& summed, int64_t row) {
  SegmentTable table;
  const ffi::AnyBuffer& left = summed.columns.front();
  const ffi::AnyBuffer& right = summed.columns.back();
  with_number(left.element_type(), [&](auto number) {
    using Number = decltype(number);
    with_sum(summed.sums.element_type(), [&](auto sum) {
      const Number* const numbers = words_of<Number>(left) + row * row_length(left);
      const Number* const others = words_of<Number>(right) + row * row_length(right);
      auto* const sums = words_of<decltype(sum)>(summed.sums) + row * row_length(summed.sums);
      const int64_t num_segments = row_length(summed.sums);
      table = summed.columns.size() == 1 ? sum_table(numbers, sums, num_segments)
                                         : product_table(numbers, others, sums, num_segments);
    });
  });
  return table;
}

template <typename Id>
void run(Executor& executor, const ffi::AnyBuffer& ids, const ffi::AnyBuffer& first_id,
         const ffi::AnyBuffer& num_valid, const std::vector<Summed>& results,
         const ffi::AnyBuffer& counts) {
  const int64_t num_segments = row_length(counts);
  for_each_ids<Id>(
      executor, ids, first_id, num_valid, num_segments,
      [&](Executor& row_executor, int64_t row, const auto& segments) {
        std::vector<SegmentTable> tables{
            count_table(words_of<int32_t>(counts) + row * num_segments)};
        for (const Summed& summed : results) tables.push_back(table_of(summed, row));
        add_segments(row_executor, segments, tables);
      });
}

ffi::Error segment_sums_target(ffi::ThreadPool pool, ffi::AnyBuffer ids, ffi::AnyBuffer first_id,
                               ffi::AnyBuffer num_valid, ffi::RemainingArgs numbers,
                               ffi::Result<ffi::AnyBuffer> counts, ffi::RemainingRets sums,
                               int64_t num_products) {
  ArgumentChecker checker(kSegmentSums);
  const std::vector<ffi::AnyBuffer> columns = buffers_of(checker, numbers),
                                    results = buffers_of(checker, sums);
  check_segments(checker, ids, first_id, num_valid, *counts, "counts");
  const int64_t num_results = static_cast<int64_t>(results.size());
  checker.require(0 <= num_products && num_products <= num_results,
                  "num_products must be at most the number of results");
  if (!checker.ok()) return checker.error();
  checker.require(static_cast<int64_t>(columns.size()) == num_results + num_products,
                  "two columns must come for each product, one for each other result");
  if (!checker.ok()) return checker.error();
  const std::vector<Summed> pairs = pair_up(columns, results, num_products);
  const int64_t batch = batch_size(ids), num_rows = row_length(ids);
  const int64_t num_segments = row_length(*counts);
  checker.require(num_segments < int64_t{1} << 31, "there must be fewer than 2^31 segments");
  checker.require_dtype(*counts, "counts", ffi::DataType::S32);
  for (const Summed& summed : pairs) {
    const ffi::DataType dtype = summed.columns.front().element_type();
    const ffi::DataType sum_dtype = summed.sums.element_type();
    const auto nothing = [](auto) {};
    for (const ffi::AnyBuffer& column : summed.columns) {
      checker.require_rows(column, "a column", batch, num_rows);
      checker.require_dtype(column, "a factor", dtype);
    }
    checker.require_rows(summed.sums, "a result", batch, num_segments);
    checker.require(with_number(dtype, nothing) && with_sum(sum_dtype, nothing) &&
                        (is_floating(sum_dtype) || !is_floating(dtype)),
                    "a column or a sum has the wrong dtype");
    if (!checker.ok()) return checker.error();
  }
  if (!checker.ok()) return checker.error();
  return run_kernel(kSegmentSums, [&] {
    XlaExecutor executor(pool);
    with_id_type(ids, [&](auto id) {
      run<decltype(id)>(executor, ids, first_id, num_valid, pairs, *counts);
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_segment_sums_v2, jaxframes::segment_sums_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .RemainingArgs()
                            .Ret<ffi::AnyBuffer>()
                            .RemainingRets()
                            .Attr<int64_t>("num_products"));
