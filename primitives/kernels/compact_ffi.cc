// SPDX-License-Identifier: Apache-2.0
#include "compact.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "ffi_arguments.h"

namespace jaxframes {
namespace {

constexpr char kCompact[] = "jaxframes_compact_v1";

ffi::Error compact_target(ffi::ThreadPool pool, ffi::AnyBuffer mask, ffi::AnyBuffer num_valid,
                          ffi::Result<ffi::AnyBuffer> row_ids,
                          ffi::Result<ffi::AnyBuffer> count) {
  ArgumentChecker checker(kCompact);
  checker.require_dtype(mask, "mask", ffi::DataType::PRED);
  checker.require(mask.dimensions().size() > 0,
                  "mask must have shape [..., num_rows], got " + ArgumentChecker::shape_of(mask));
  checker.require(row_ids->dimensions().size() > 0, "row_ids must have shape [..., capacity]");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(mask), num_rows = row_length(mask);
  const int64_t capacity = row_length(*row_ids);
  checker.require(num_rows <= std::numeric_limits<int32_t>::max(),
                  "mask must have fewer than 2^31 rows, got " + std::to_string(num_rows));
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_dtype(*row_ids, "row_ids", ffi::DataType::S32);
  checker.require_rows(*row_ids, "row_ids", batch, capacity);
  checker.require_dtype(*count, "count", ffi::DataType::S32);
  checker.require_scalars(*count, "count", batch);
  if (!checker.ok()) return checker.error();
  return run_kernel(kCompact, [&] {
    XlaExecutor executor(pool);
    for_each_row(executor, batch, num_rows, [&](Executor& row_executor, int64_t row) {
      const int64_t valid = words_of<int32_t>(num_valid)[row];
      compact(row_executor,
              CompactRow{words_of<uint8_t>(mask) + row * num_rows,
                         std::clamp<int64_t>(valid, 0, num_rows), capacity,
                         words_of<int32_t>(*row_ids) + row * capacity,
                         words_of<int32_t>(*count) + row});
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_compact_v1, jaxframes::compact_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());
