// SPDX-License-Identifier: Apache-2.0
#include "scan/segmented_scan.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "base/ffi_arguments.h"
#include "scan/scan_arguments.h"

namespace jaxframes {
namespace {

constexpr char kSegmentedScan[] = "jaxframes_segmented_scan_v1";

struct Buffers {
  const ffi::AnyBuffer& values;
  const ffi::AnyBuffer& heads;
  const ffi::AnyBuffer& num_valid;
  const ffi::AnyBuffer& results;
  bool reverse;
};

// One row of heads and one number of valid rows serve several rows of values.
template <typename Op, bool kHasHeads, bool kExclusive>
void run(Executor& executor, const Buffers& buffers) {
  using T = typename Op::T;
  const int64_t batch = batch_size(buffers.values), num_rows = row_length(buffers.values);
  const int64_t width = batch / std::max<int64_t>(batch_size(buffers.heads), 1);
  for_each_row(executor, batch, num_rows, [&](Executor& row_executor, int64_t row) {
    segmented_scan<Op, kHasHeads, kExclusive>(
        row_executor,
        ScanRow<T>{words_of<T>(buffers.values) + row * num_rows,
                   kHasHeads ? words_of<bool>(buffers.heads) + row / width * num_rows : nullptr,
                   num_rows, count_at(buffers.num_valid, row / width, num_rows), buffers.reverse,
                   words_of<T>(buffers.results) + row * num_rows});
  });
}

template <typename Op>
void run_operator(Executor& executor, const Buffers& buffers, bool exclusive) {
  if (row_length(buffers.heads) != 0) {
    return exclusive ? run<Op, true, true>(executor, buffers)
                     : run<Op, true, false>(executor, buffers);
  }
  return exclusive ? run<Op, false, true>(executor, buffers)
                   : run<Op, false, false>(executor, buffers);
}

// The numbers of the operators are those of `_segmented_scan.py`.
template <typename T>
void run_dtype(Executor& executor, const Buffers& buffers, int32_t op, bool exclusive) {
  if constexpr (std::is_signed_v<T> && std::is_integral_v<T>) {
    // Sums and products wrap around, which C++ guarantees for unsigned integers only.
    if (op < 2) {
      return run_dtype<std::make_unsigned_t<T>>(executor, buffers, op, exclusive);
    }
  }
  if constexpr (!(std::is_signed_v<T> && std::is_integral_v<T>)) {
    if (op == 0) return run_operator<Add<T>>(executor, buffers, exclusive);
    if (op == 1) return run_operator<Mul<T>>(executor, buffers, exclusive);
  }
  if (op == 2) return run_operator<Min<T>>(executor, buffers, exclusive);
  return run_operator<Max<T>>(executor, buffers, exclusive);
}

ffi::Error segmented_scan_target(ffi::ThreadPool pool, ffi::AnyBuffer values,
                                 ffi::AnyBuffer heads, ffi::AnyBuffer num_valid,
                                 ffi::Result<ffi::AnyBuffer> results, int32_t op,
                                 bool reverse, bool exclusive) {
  ArgumentChecker checker(kSegmentedScan);
  check_scan(checker, values, heads, num_valid, *results, op);
  if (!checker.ok()) return checker.error();
  return run_kernel(kSegmentedScan, [&] {
    XlaExecutor executor(pool);
    const Buffers buffers{values, heads, num_valid, *results, reverse};
    switch (values.element_type()) {
      case ffi::DataType::U32: return run_dtype<uint32_t>(executor, buffers, op, exclusive);
      case ffi::DataType::S32: return run_dtype<int32_t>(executor, buffers, op, exclusive);
      case ffi::DataType::F32: return run_dtype<float>(executor, buffers, op, exclusive);
      case ffi::DataType::U64: return run_dtype<uint64_t>(executor, buffers, op, exclusive);
      case ffi::DataType::S64: return run_dtype<int64_t>(executor, buffers, op, exclusive);
      default: return run_dtype<double>(executor, buffers, op, exclusive);
    }
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_segmented_scan_v1, jaxframes::segmented_scan_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Attr<int32_t>("op")
                            .Attr<bool>("reverse")
                            .Attr<bool>("exclusive"));
