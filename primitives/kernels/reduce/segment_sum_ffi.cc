// SPDX-License-Identifier: Apache-2.0
#include "reduce/segment_sum.h"

#include <cstdint>

#include "base/ffi_arguments.h"
#include "base/huge_pages.h"
#include "reduce/segment_ids_ffi.h"

namespace jaxframes {
namespace {

constexpr char kSegmentSum[] = "jaxframes_segment_sum_v1";
constexpr char kSegmentCount[] = "jaxframes_segment_count_v1";

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
  check_segment_sum(checker, ids, first_id, num_valid, numbers, *sums);
  if (!checker.ok()) return checker.error();
  return run_kernel(kSegmentSum, [&] {
    XlaExecutor executor(pool);
    advise_huge_pages(sums->untyped_data(), static_cast<int64_t>(sums->size_bytes()));
    with_number(numbers, [&](auto number) {
      run_sum<decltype(number)>(executor, ids, first_id, num_valid, numbers, *sums);
    });
  });
}

ffi::Error segment_count_target(ffi::ThreadPool pool, ffi::AnyBuffer ids,
                                ffi::AnyBuffer first_id, ffi::AnyBuffer num_valid,
                                ffi::Result<ffi::AnyBuffer> counts) {
  ArgumentChecker checker(kSegmentCount);
  check_segments(checker, ids, first_id, num_valid, *counts, "the result");
  checker.require_dtype(*counts, "counts", ffi::DataType::S32);
  if (!checker.ok()) return checker.error();
  return run_kernel(kSegmentCount, [&] {
    XlaExecutor executor(pool);
    const int64_t num_segments = row_length(*counts);
    advise_huge_pages(counts->untyped_data(), static_cast<int64_t>(counts->size_bytes()));
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
