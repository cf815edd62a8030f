// SPDX-License-Identifier: Apache-2.0
#include "join/direct_match.h"

#include <cstdint>
#include <string>

#include "base/ffi_arguments.h"

namespace jaxframes {
namespace {

constexpr char kKeyTable[] = "jaxframes_key_table_v1";
constexpr char kLookUp[] = "jaxframes_look_up_v1";
constexpr char kMatchedRows[] = "jaxframes_matched_rows_v1";

void check_table(ArgumentChecker& checker, const ffi::AnyBuffer& keys,
                 const ffi::AnyBuffer& num_keys, const ffi::AnyBuffer& least,
                 const ffi::AnyBuffer& table) {
  checker.require_keys(keys, "keys");
  checker.require(!ArgumentChecker::is_floating(keys), "keys must not be floats");
  if (!checker.ok()) return;
  const int64_t batch = batch_size(keys);
  checker.require_dtype(num_keys, "num_keys", ffi::DataType::S32);
  checker.require_scalars(num_keys, "num_keys", batch);
  checker.require_dtype(least, "least", keys.element_type());
  checker.require_scalars(least, "least", batch);
  checker.require_dtype(table, "table", ffi::DataType::S32);
  checker.require(table.dimensions().size() > 0, "table must have shape [..., num_slots]");
  if (!checker.ok()) return;
  checker.require(row_length(table) > 0, "table must have a slot");
  checker.require_rows(table, "table", batch, row_length(table));
}

template <typename Word>
KeyTable<Word> table_at(const ffi::AnyBuffer& table, const ffi::AnyBuffer& least, int64_t row) {
  const int64_t num_slots = row_length(table);
  return {words_of<int32_t>(table) + row * num_slots, num_slots, words_of<Word>(least)[row]};
}

template <typename Kernel>
void with_word(const ffi::AnyBuffer& keys, const Kernel& kernel) {
  ArgumentChecker::word_bytes(keys) == 4 ? kernel(uint32_t{}) : kernel(uint64_t{});
}

ffi::Error key_table_target(ffi::ThreadPool pool, ffi::AnyBuffer keys, ffi::AnyBuffer num_keys,
                            ffi::AnyBuffer least, ffi::Result<ffi::AnyBuffer> table,
                            ffi::Result<ffi::AnyBuffer> num_distinct, int64_t num_sampled) {
  ArgumentChecker checker(kKeyTable);
  check_table(checker, keys, num_keys, least, *table);
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(keys), length = row_length(keys);
  checker.require_dtype(*num_distinct, "num_distinct", ffi::DataType::S32);
  checker.require_scalars(*num_distinct, "num_distinct", batch);
  checker.require(num_sampled >= 0,
                  "num_sampled must not be negative, got " + std::to_string(num_sampled));
  if (!checker.ok()) return checker.error();
  return run_kernel(kKeyTable, [&] {
    XlaExecutor executor(pool);
    with_word(keys, [&](auto word) {
      using Word = decltype(word);
      for_each_row(executor, batch, length, [&](Executor& row_executor, int64_t row) {
        words_of<int32_t>(*num_distinct)[row] = static_cast<int32_t>(
            fill_key_table(row_executor, words_of<Word>(keys) + row * length,
                           count_at(num_keys, row, length), num_sampled,
                           table_at<Word>(*table, least, row)));
      });
    });
  });
}

ffi::Error look_up_target(ffi::ThreadPool pool, ffi::AnyBuffer keys, ffi::AnyBuffer num_keys,
                          ffi::AnyBuffer least, ffi::AnyBuffer table, ffi::AnyBuffer num_right,
                          ffi::Result<ffi::AnyBuffer> right_rows,
                          ffi::Result<ffi::AnyBuffer> before, ffi::Result<ffi::AnyBuffer> counts,
                          ffi::Result<ffi::AnyBuffer> scratch) {
  ArgumentChecker checker(kLookUp);
  check_table(checker, keys, num_keys, least, table);
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(keys), length = row_length(keys);
  const int64_t num_chunks = match_chunks(length).count;
  checker.require_dtype(num_right, "num_right", ffi::DataType::S32);
  checker.require_scalars(num_right, "num_right", batch);
  checker.require_dtype(*right_rows, "right_rows", ffi::DataType::S32);
  checker.require_rows(*right_rows, "right_rows", batch, length);
  checker.require_dtype(*before, "before", ffi::DataType::S32);
  checker.require_rows(*before, "before", batch, num_chunks);
  checker.require_dtype(*counts, "counts", ffi::DataType::S32);
  checker.require_rows(*counts, "counts", batch, 2);
  checker.require_dtype(*scratch, "scratch", ffi::DataType::U8);
  checker.require(scratch->dimensions().size() > 0, "scratch must have shape [..., num_right]");
  if (!checker.ok()) return checker.error();
  const int64_t right_length = row_length(*scratch);
  checker.require_rows(*scratch, "scratch", batch, right_length);
  if (!checker.ok()) return checker.error();
  return run_kernel(kLookUp, [&] {
    XlaExecutor executor(pool);
    with_word(keys, [&](auto word) {
      using Word = decltype(word);
      for_each_row(executor, batch, length, [&](Executor& row_executor, int64_t row) {
        const LookedUp found = look_up(
            row_executor, words_of<Word>(keys) + row * length, count_at(num_keys, row, length),
            length, table_at<Word>(table, least, row), count_at(num_right, row, right_length),
            words_of<uint8_t>(*scratch) + row * right_length,
            words_of<int32_t>(*right_rows) + row * length,
            words_of<int32_t>(*before) + row * num_chunks);
        int32_t* const row_counts = words_of<int32_t>(*counts) + row * 2;
        row_counts[0] = static_cast<int32_t>(found.num_matches);
        row_counts[1] = static_cast<int32_t>(found.num_unmatched_right);
      });
    });
  });
}

ffi::Error matched_rows_target(ffi::ThreadPool pool, ffi::AnyBuffer found, ffi::AnyBuffer before,
                               ffi::AnyBuffer count, ffi::Result<ffi::AnyBuffer> left_rows,
                               ffi::Result<ffi::AnyBuffer> right_rows) {
  ArgumentChecker checker(kMatchedRows);
  checker.require_dtype(found, "found", ffi::DataType::S32);
  checker.require(found.dimensions().size() > 0, "found must have shape [..., num_left]");
  checker.require(left_rows->dimensions().size() > 0, "left_rows must have shape [..., capacity]");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(found), length = row_length(found);
  const int64_t num_chunks = match_chunks(length).count, capacity = row_length(*left_rows);
  checker.require_dtype(before, "before", ffi::DataType::S32);
  checker.require_rows(before, "before", batch, num_chunks);
  checker.require_dtype(count, "count", ffi::DataType::S32);
  checker.require_scalars(count, "count", batch);
  checker.require_dtype(*left_rows, "left_rows", ffi::DataType::S32);
  checker.require_rows(*left_rows, "left_rows", batch, capacity);
  checker.require_dtype(*right_rows, "right_rows", ffi::DataType::S32);
  checker.require_rows(*right_rows, "right_rows", batch, capacity);
  if (!checker.ok()) return checker.error();
  return run_kernel(kMatchedRows, [&] {
    XlaExecutor executor(pool);
    for_each_row(executor, batch, length, [&](Executor& row_executor, int64_t row) {
      write_matches(row_executor, words_of<int32_t>(found) + row * length, length,
                    words_of<int32_t>(before) + row * num_chunks, words_of<int32_t>(count)[row],
                    capacity, words_of<int32_t>(*left_rows) + row * capacity,
                    words_of<int32_t>(*right_rows) + row * capacity);
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_key_table_v1, jaxframes::key_table_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Attr<int64_t>("num_sampled"));

JAXFRAMES_DEFINE_TARGET(jaxframes_look_up_v1, jaxframes::look_up_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());

JAXFRAMES_DEFINE_TARGET(jaxframes_matched_rows_v1, jaxframes::matched_rows_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());
