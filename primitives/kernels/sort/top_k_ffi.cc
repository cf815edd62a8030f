// SPDX-License-Identifier: Apache-2.0
#include "sort/top_k.h"

#include <cstdint>
#include <string>

#include "base/ffi_arguments.h"
#include "sort/top_k_arguments.h"

namespace jaxframes {
namespace {

constexpr char kTopK[] = "jaxframes_top_k_v1";

template <typename Order>
void run(Executor& executor, const ffi::AnyBuffer& keys, const ffi::AnyBuffer& num_valid,
         const Order& order, int64_t k, int32_t* row_ids) {
  using Key = typename Order::Key;
  const int64_t batch = batch_size(keys), num_rows = row_length(keys);
  for_each_row(executor, batch, num_rows, [&](Executor& row_executor, int64_t row) {
    top_k(row_executor,
          TopKRow<Order>{words_of<Key>(keys) + row * num_rows, num_rows,
                       count_at(num_valid, row, num_rows), k,
                       order, row_ids + row * k});
  });
}

ffi::Error top_k_target(ffi::ThreadPool pool, ffi::AnyBuffer keys, ffi::AnyBuffer num_valid,
                        ffi::Result<ffi::AnyBuffer> row_ids, WordBits flip) {
  ArgumentChecker checker(kTopK);
  check_top_k(checker, keys, num_valid, *row_ids, flip);
  if (!checker.ok()) return checker.error();
  const int64_t k = row_length(*row_ids);
  return run_kernel(kTopK, [&] {
    XlaExecutor executor(pool);
    with_order(keys, flip, [&](const auto& order) {
      run(executor, keys, num_valid, order, k, words_of<int32_t>(*row_ids));
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_top_k_v1, jaxframes::top_k_target,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<jaxframes::WordBits>("flip"));
