// SPDX-License-Identifier: Apache-2.0
#include "reduce/integer_range.h"

#include <cstdint>

#include "base/ffi_arguments.h"

namespace jaxframes {
namespace {

constexpr char kIntegerRange[] = "jaxframes_integer_range_v1";

template <typename Integer>
void run(Executor& executor, const ffi::AnyBuffer& integers, const ffi::AnyBuffer& num_valid,
         const ffi::AnyBuffer& least, const ffi::AnyBuffer& greatest) {
  const int64_t num_rows = row_length(integers);
  for_each_row(executor, batch_size(integers), num_rows, [&](Executor& row_executor, int64_t row) {
    const auto range = integer_range(row_executor, words_of<Integer>(integers) + row * num_rows,
                                     count_at(num_valid, row, num_rows));
    words_of<Integer>(least)[row] = range.least;
    words_of<Integer>(greatest)[row] = range.greatest;
  });
}

ffi::Error integer_range_target(ffi::ThreadPool pool, ffi::AnyBuffer integers,
                                ffi::AnyBuffer num_valid, ffi::Result<ffi::AnyBuffer> least,
                                ffi::Result<ffi::AnyBuffer> greatest) {
  ArgumentChecker checker(kIntegerRange);
  checker.require_keys(integers, "integers");
  checker.require(!ArgumentChecker::is_floating(integers), "integers must not be floats");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(integers);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_dtype(*least, "least", integers.element_type());
  checker.require_scalars(*least, "least", batch);
  checker.require_dtype(*greatest, "greatest", integers.element_type());
  checker.require_scalars(*greatest, "greatest", batch);
  if (!checker.ok()) return checker.error();
  return run_kernel(kIntegerRange, [&] {
    XlaExecutor executor(pool);
    switch (integers.element_type()) {
      case ffi::DataType::S32:
        return run<int32_t>(executor, integers, num_valid, *least, *greatest);
      case ffi::DataType::U32:
        return run<uint32_t>(executor, integers, num_valid, *least, *greatest);
      case ffi::DataType::S64:
        return run<int64_t>(executor, integers, num_valid, *least, *greatest);
      default:
        return run<uint64_t>(executor, integers, num_valid, *least, *greatest);
    }
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_integer_range_v1, jaxframes::integer_range_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());
