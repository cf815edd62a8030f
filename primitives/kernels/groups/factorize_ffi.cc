// SPDX-License-Identifier: Apache-2.0
#include "groups/factorize.h"

#include <algorithm>
#include <cstdint>

#include "base/ffi_arguments.h"
#include "groups/key_sides.h"
#include "sort/sort_words.h"

namespace jaxframes {

namespace {

constexpr char kFactorize[] = "jaxframes_factorize_v1";

ffi::Error factorize_target(ffi::ThreadPool pool, ffi::AnyBuffer keys, ffi::AnyBuffer num_valid,
                            ffi::Result<ffi::AnyBuffer> group_ids,
                            ffi::Result<ffi::AnyBuffer> first_row_ids,
                            ffi::Result<ffi::AnyBuffer> count,
                            ffi::Result<ffi::AnyBuffer> scratch, WordBits flip,
                            bool in_key_order) {
  ArgumentChecker checker(kFactorize);
  checker.require_keys(keys, "keys");
  checker.require_flip(keys, flip);
  checker.require(first_row_ids->dimensions().size() > 0,
                  "first_row_ids must have shape [..., capacity]");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(keys), num_rows = row_length(keys);
  const int64_t capacity = row_length(*first_row_ids);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_dtype(*group_ids, "group_ids", ffi::DataType::S32);
  checker.require_rows(*group_ids, "group_ids", batch, num_rows);
  checker.require_dtype(*first_row_ids, "first_row_ids", ffi::DataType::S32);
  checker.require_rows(*first_row_ids, "first_row_ids", batch, capacity);
  checker.require_dtype(*count, "count", ffi::DataType::S32);
  checker.require_scalars(*count, "count", batch);
  const int64_t scratch_bytes =
      many_groups_scratch_bytes(num_rows, ArgumentChecker::word_bytes(keys));
  checker.require_scratch(*scratch, batch * scratch_bytes);
  if (!checker.ok()) return checker.error();
  return run_kernel(kFactorize, [&] {
    XlaExecutor executor(pool);
    with_order(keys, flip, [&](const auto& order) {
      using Order = std::decay_t<decltype(order)>;
      using Key = typename Order::Key;
      for_each_row(executor, batch, num_rows, [&](Executor& row_executor, int64_t row) {
        const int64_t valid = count_at(num_valid, row, num_rows);
        const KeyColumn<Order> column{words_of<Key>(keys) + row * num_rows, order};
        int32_t* const ids = words_of<int32_t>(*group_ids) + row * num_rows;
        words_of<int32_t>(*count)[row] = static_cast<int32_t>(factorize(
            row_executor,
            FactorizeRow<KeyColumn<Order>>{column, valid, in_key_order, capacity, ids,
                                           words_of<int32_t>(*first_row_ids) + row * capacity},
            SortWords(), words_of<char>(*scratch) + row * scratch_bytes));
        std::fill(ids + valid, ids + num_rows, -1);
      });
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_factorize_v1, jaxframes::factorize_target,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<jaxframes::WordBits>("flip")
                                  .Attr<bool>("in_key_order"));

// Bytes of the `scratch` result for each row of keys of `word_bytes` each.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_factorize_scratch_bytes(int64_t num_rows,
                                                                      int32_t word_bytes) {
  return jaxframes::many_groups_scratch_bytes(num_rows, word_bytes);
}
