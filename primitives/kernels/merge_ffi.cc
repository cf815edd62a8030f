// SPDX-License-Identifier: Apache-2.0
#include "merge.h"

#include <algorithm>
#include <cstdint>

#include "ffi_arguments.h"

namespace jaxframes {
namespace {

constexpr char kMerge[] = "jaxframes_merge_v1";

template <typename Order>
void run(Executor& executor, const ffi::AnyBuffer& a, const ffi::AnyBuffer& b,
         const int32_t* num_valid_a, const int32_t* num_valid_b, const Order& order,
         int32_t* source_positions) {
  using Key = typename Order::Key;
  const int64_t batch = batch_size(a);
  const int64_t size_a = row_length(a), size_b = row_length(b);
  const auto merge_one = [&](Executor& row_executor, int64_t row) {
    merge(row_executor,
          MergeRow<Order>{words_of<Key>(a) + row * size_a, words_of<Key>(b) + row * size_b,
                        size_a, size_b,
                        std::clamp<int64_t>(num_valid_a[row], 0, size_a),
                        std::clamp<int64_t>(num_valid_b[row], 0, size_b),
                        order,
                        source_positions + row * (size_a + size_b)});
  };
  for_each_row(executor, batch, size_a + size_b, merge_one);
}

ffi::Error merge_target(ffi::ThreadPool pool, ffi::AnyBuffer a, ffi::AnyBuffer b,
                        ffi::AnyBuffer num_valid_a, ffi::AnyBuffer num_valid_b,
                        ffi::Result<ffi::AnyBuffer> source_positions, WordBits flip) {
  ArgumentChecker checker(kMerge);
  checker.require_keys(a, "a");
  checker.require_keys(b, "b");
  checker.require_flip(a, flip);
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(a);
  const int64_t num_rows = row_length(a) + row_length(b);
  checker.require_dtype(b, "b", a.element_type());
  checker.require_rows(b, "b", batch, row_length(b));
  checker.require_dtype(num_valid_a, "num_valid_a", ffi::DataType::S32);
  checker.require_scalars(num_valid_a, "num_valid_a", batch);
  checker.require_dtype(num_valid_b, "num_valid_b", ffi::DataType::S32);
  checker.require_scalars(num_valid_b, "num_valid_b", batch);
  checker.require(num_rows <= std::numeric_limits<int32_t>::max(),
                  "a and b must have fewer than 2^31 rows together, got " +
                      std::to_string(num_rows));
  checker.require_dtype(*source_positions, "source_positions", ffi::DataType::S32);
  checker.require_rows(*source_positions, "source_positions", batch, num_rows);
  if (!checker.ok()) return checker.error();
  return run_kernel(kMerge, [&] {
    XlaExecutor executor(pool);
    with_order(a, flip, [&](const auto& order) {
      run(executor, a, b, words_of<int32_t>(num_valid_a), words_of<int32_t>(num_valid_b),
          order, words_of<int32_t>(*source_positions));
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_merge_v1, jaxframes::merge_target,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<jaxframes::WordBits>("flip"));
