// SPDX-License-Identifier: Apache-2.0
#include "groups/group_sums.h"

#include <cstdint>

#include "base/ffi_arguments.h"
#include "groups/key_sides.h"
#include "sort/sort_words.h"

namespace jaxframes {
namespace {

constexpr char kGroupSums[] = "jaxframes_group_sums_v1";

template <typename Number>
void run_sums(Executor& executor, const ffi::AnyBuffer& keys, const ffi::AnyBuffer& num_valid,
              const ffi::AnyBuffer& numbers, const ffi::AnyBuffer& first_row_ids,
              const ffi::AnyBuffer& count, const ffi::AnyBuffer& sums,
              const ffi::AnyBuffer& scratch, WordBits flip) {
  const int64_t num_rows = row_length(keys), capacity = row_length(sums);
  const int64_t scratch_bytes =
      group_sums_scratch_bytes(num_rows, ArgumentChecker::word_bytes(keys));
  with_order(keys, flip, [&](const auto& order) {
    using Order = std::decay_t<decltype(order)>;
    using Key = typename Order::Key;
    for_each_row(executor, batch_size(keys), num_rows, [&](Executor& row_executor, int64_t row) {
      const KeyColumn<Order> column{words_of<Key>(keys) + row * num_rows, order};
      words_of<int32_t>(count)[row] = static_cast<int32_t>(sum_groups(
          row_executor,
          GroupSumsRow<KeyColumn<Order>, Number>{
              column, count_at(num_valid, row, num_rows),
              words_of<Number>(numbers) + row * num_rows, capacity,
              words_of<int32_t>(first_row_ids) + row * capacity,
              words_of<Number>(sums) + row * capacity},
          SortWords(), words_of<char>(scratch) + row * scratch_bytes));
    });
  });
}

ffi::Error group_sums_target(ffi::ThreadPool pool, ffi::AnyBuffer keys, ffi::AnyBuffer num_valid,
                             ffi::AnyBuffer numbers, ffi::Result<ffi::AnyBuffer> first_row_ids,
                             ffi::Result<ffi::AnyBuffer> count, ffi::Result<ffi::AnyBuffer> sums,
                             ffi::Result<ffi::AnyBuffer> scratch, WordBits flip) {
  ArgumentChecker checker(kGroupSums);
  checker.require_keys(keys, "keys");
  checker.require_flip(keys, flip);
  checker.require_keys(numbers, "numbers");
  checker.require(sums->dimensions().size() > 0, "sums must have shape [..., capacity]");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(keys), num_rows = row_length(keys);
  const int64_t capacity = row_length(*sums);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_rows(numbers, "numbers", batch, num_rows);
  checker.require_dtype(*first_row_ids, "first_row_ids", ffi::DataType::S32);
  checker.require_rows(*first_row_ids, "first_row_ids", batch, capacity);
  checker.require_dtype(*count, "count", ffi::DataType::S32);
  checker.require_scalars(*count, "count", batch);
  checker.require_dtype(*sums, "sums", numbers.element_type());
  checker.require_rows(*sums, "sums", batch, capacity);
  const int64_t scratch_bytes =
      group_sums_scratch_bytes(num_rows, ArgumentChecker::word_bytes(keys));
  checker.require_scratch(*scratch, batch * scratch_bytes);
  if (!checker.ok()) return checker.error();
  return run_kernel(kGroupSums, [&] {
    XlaExecutor executor(pool);
    with_number(numbers, [&](auto number) {
      run_sums<decltype(number)>(executor, keys, num_valid, numbers, *first_row_ids, *count,
                                 *sums, *scratch, flip);
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_group_sums_v1, jaxframes::group_sums_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Attr<jaxframes::WordBits>("flip"));

// Bytes of the `scratch` result for each row of keys of `word_bytes` each.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_group_sums_scratch_bytes(int64_t num_rows,
                                                                       int32_t word_bytes) {
  return jaxframes::group_sums_scratch_bytes(num_rows, word_bytes);
}
