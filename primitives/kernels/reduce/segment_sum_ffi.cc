// SPDX-License-Identifier: Apache-2.0
#include "reduce/segment_sum.h"

#include <cstdint>

#include "base/ffi_arguments.h"

namespace jaxframes {
namespace {

constexpr char kSegmentSum[] = "jaxframes_segment_sum_v1";
constexpr char kSegmentCount[] = "jaxframes_segment_count_v1";

// Checks the common arguments of both targets; `results` has one number for each segment.
void check(ArgumentChecker& checker, const ffi::AnyBuffer& ids, const ffi::AnyBuffer& first_id,
           const ffi::AnyBuffer& num_valid, const ffi::AnyBuffer& results) {
  checker.require_keys(ids, "ids");
  checker.require(!ArgumentChecker::is_floating(ids), "ids must be integers");
  checker.require(results.dimensions().size() > 0, "the result must have shape [..., segments]");
  if (!checker.ok()) return;
  const int64_t batch = batch_size(ids);
  checker.require_dtype(first_id, "first_id", ids.element_type());
  checker.require_scalars(first_id, "first_id", batch);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_rows(results, "the result", batch, row_length(results));
}

// Calls each_row(executor, row, ids of the row) for each row of the batch.
template <typename Id, typename EachRow>
void for_each_ids(Executor& executor, const ffi::AnyBuffer& ids, const ffi::AnyBuffer& first_id,
                  const ffi::AnyBuffer& num_valid, int64_t num_segments,
                  const EachRow& each_row) {
  const int64_t num_rows = row_length(ids);
  for_each_row(executor, batch_size(ids), num_rows, [&](Executor& row_executor, int64_t row) {
    each_row(row_executor, row,
             SegmentIds<Id>(words_of<Id>(ids) + row * num_rows, words_of<Id>(first_id)[row],
                            count_at(num_valid, row, num_rows), num_segments));
  });
}

// Calls kernel(id) with a number of the type of the ids.
template <typename Kernel>
void with_id_type(const ffi::AnyBuffer& ids, const Kernel& kernel) {
  switch (ids.element_type()) {
    case ffi::DataType::S32: return kernel(int32_t{});
    case ffi::DataType::U32: return kernel(uint32_t{});
    case ffi::DataType::S64: return kernel(int64_t{});
    default: return kernel(uint64_t{});
  }
}

template <typename Number>
void run_sum(Executor& executor, const ffi::AnyBuffer& ids, const ffi::AnyBuffer& first_id,
             const ffi::AnyBuffer& num_valid, const ffi::AnyBuffer& numbers,
             const ffi::AnyBuffer& sums) {
  const int64_t num_rows = row_length(ids), num_segments = row_length(sums);
  with_id_type(ids, [&](auto id) {
    for_each_ids<decltype(id)>(
        executor, ids, first_id, num_valid, num_segments,
        [&](Executor& row_executor, int64_t row, const auto& segments) {
          sum_segments(row_executor, segments, words_of<Number>(numbers) + row * num_rows,
                       words_of<Number>(sums) + row * num_segments);
        });
  });
}

ffi::Error segment_sum_target(ffi::ThreadPool pool, ffi::AnyBuffer ids, ffi::AnyBuffer first_id,
                              ffi::AnyBuffer num_valid, ffi::AnyBuffer numbers,
                              ffi::Result<ffi::AnyBuffer> sums) {
  ArgumentChecker checker(kSegmentSum);
  check(checker, ids, first_id, num_valid, *sums);
  checker.require_keys(numbers, "numbers");
  if (!checker.ok()) return checker.error();
  checker.require_rows(numbers, "numbers", batch_size(ids), row_length(ids));
  checker.require_dtype(*sums, "sums", numbers.element_type());
  if (!checker.ok()) return checker.error();
  return run_kernel(kSegmentSum, [&] {
    XlaExecutor executor(pool);
    with_number(numbers, [&](auto number) {
      run_sum<decltype(number)>(executor, ids, first_id, num_valid, numbers, *sums);
    });
  });
}

ffi::Error segment_count_target(ffi::ThreadPool pool, ffi::AnyBuffer ids,
                                ffi::AnyBuffer first_id, ffi::AnyBuffer num_valid,
                                ffi::Result<ffi::AnyBuffer> counts) {
  ArgumentChecker checker(kSegmentCount);
  check(checker, ids, first_id, num_valid, *counts);
  checker.require_dtype(*counts, "counts", ffi::DataType::S32);
  if (!checker.ok()) return checker.error();
  return run_kernel(kSegmentCount, [&] {
    XlaExecutor executor(pool);
    const int64_t num_segments = row_length(*counts);
    with_id_type(ids, [&](auto id) {
      for_each_ids<decltype(id)>(
          executor, ids, first_id, num_valid, num_segments,
          [&](Executor& row_executor, int64_t row, const auto& segments) {
            count_segments(row_executor, segments,
                           words_of<int32_t>(*counts) + row * num_segments);
          });
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_segment_sum_v1, jaxframes::segment_sum_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());

JAXFRAMES_DEFINE_TARGET(jaxframes_segment_count_v1, jaxframes::segment_count_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());
