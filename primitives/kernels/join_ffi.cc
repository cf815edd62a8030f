// SPDX-License-Identifier: Apache-2.0
#include "join.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "factorize.h"
#include "ffi_arguments.h"
#include "key_sides.h"
#include "sort_words.h"

namespace jaxframes {
namespace {

constexpr char kJoin[] = "jaxframes_join_v1";

// The groups of all rows, and what finding them needs.
int64_t join_scratch_bytes(int64_t num_rows, int word_bytes) {
  return many_groups_scratch_bytes(num_rows, word_bytes) + (num_rows * 4 + 63) / 64 * 64;
}

// One row of the batch of each buffer.
template <typename Order>
int64_t join_row(Executor& executor, How how, const KeySides<Order>& sides, int64_t num_right,
                 int64_t capacity, int32_t* left_rows, int32_t* right_rows, char* scratch) {
  const int64_t num_rows = sides.num_left + num_right;
  int32_t* const groups = reinterpret_cast<int32_t*>(
      scratch + many_groups_scratch_bytes(num_rows, sizeof(typename Order::Key)));
  const int64_t num_groups = factorize(
      executor,
      FactorizeRow<KeySides<Order>>{sides, num_rows, how == How::kOuter, 0, groups, nullptr},
      SortWords(), scratch);
  return join(executor, how,
              JoinRow{groups, sides.num_left, groups + sides.num_left, num_right, num_groups,
                      capacity, left_rows, right_rows});
}

ffi::Error join_target(ffi::ThreadPool pool, ffi::AnyBuffer left_keys, ffi::AnyBuffer right_keys,
                       ffi::AnyBuffer num_left, ffi::AnyBuffer num_right,
                       ffi::Result<ffi::AnyBuffer> left_rows,
                       ffi::Result<ffi::AnyBuffer> right_rows,
                       ffi::Result<ffi::AnyBuffer> count, ffi::Result<ffi::AnyBuffer> scratch,
                       WordBits flip, int32_t how) {
  ArgumentChecker checker(kJoin);
  checker.require_keys(left_keys, "left_keys");
  checker.require_keys(right_keys, "right_keys");
  checker.require_dtype(right_keys, "right_keys", left_keys.element_type());
  checker.require_flip(left_keys, flip);
  checker.require(left_rows->dimensions().size() > 0, "left_rows must have shape [..., capacity]");
  checker.require(0 <= how && how <= static_cast<int32_t>(How::kAnti),
                  "how must be in [0, 4], got " + std::to_string(how));
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(left_keys);
  const int64_t left_length = row_length(left_keys), right_length = row_length(right_keys);
  const int64_t capacity = row_length(*left_rows);
  checker.require_rows(right_keys, "right_keys", batch, right_length);
  checker.require_dtype(num_left, "num_left", ffi::DataType::S32);
  checker.require_scalars(num_left, "num_left", batch);
  checker.require_dtype(num_right, "num_right", ffi::DataType::S32);
  checker.require_scalars(num_right, "num_right", batch);
  checker.require_dtype(*left_rows, "left_rows", ffi::DataType::S32);
  checker.require_rows(*left_rows, "left_rows", batch, capacity);
  checker.require_dtype(*right_rows, "right_rows", ffi::DataType::S32);
  checker.require_rows(*right_rows, "right_rows", batch, capacity);
  checker.require_dtype(*count, "count", ffi::DataType::U32);
  checker.require_rows(*count, "count", batch, 2);
  const int64_t scratch_bytes = join_scratch_bytes(left_length + right_length,
                                                   ArgumentChecker::word_bytes(left_keys));
  checker.require_dtype(*scratch, "scratch", ffi::DataType::U8);
  checker.require_rows(*scratch, "scratch", batch, scratch_bytes);
  if (!checker.ok()) return checker.error();
  return run_kernel(kJoin, [&] {
    XlaExecutor executor(pool);
    with_order(left_keys, flip, [&](const auto& order) {
      using Order = std::decay_t<decltype(order)>;
      using Key = typename Order::Key;
      for_each_row(executor, batch, left_length + right_length,
                   [&](Executor& row_executor, int64_t row) {
        const auto limited = [row](const ffi::AnyBuffer& counts, int64_t most) {
          return std::clamp<int64_t>(words_of<int32_t>(counts)[row], 0, most);
        };
        const KeySides<Order> sides{words_of<Key>(left_keys) + row * left_length,
                                    limited(num_left, left_length),
                                    words_of<Key>(right_keys) + row * right_length, order};
        const uint64_t total = static_cast<uint64_t>(
            join_row(row_executor, static_cast<How>(how), sides, limited(num_right, right_length),
                     capacity, words_of<int32_t>(*left_rows) + row * capacity,
                     words_of<int32_t>(*right_rows) + row * capacity,
                     words_of<char>(*scratch) + row * scratch_bytes));
        words_of<uint32_t>(*count)[2 * row] = static_cast<uint32_t>(total >> 32);
        words_of<uint32_t>(*count)[2 * row + 1] = static_cast<uint32_t>(total);
      });
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_join_v1, jaxframes::join_target,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<jaxframes::WordBits>("flip")
                                  .Attr<int32_t>("how"));

// Bytes of the `scratch` result for each row of keys of `word_bytes` each, those of both
// sides together.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_join_scratch_bytes(int64_t num_rows,
                                                                 int32_t word_bytes) {
  return jaxframes::join_scratch_bytes(num_rows, word_bytes);
}
