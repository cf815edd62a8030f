// SPDX-License-Identifier: Apache-2.0
#include "join/join.h"

#include <atomic>
#include <cstdint>
#include <string>

#include "groups/factorize.h"
#include "base/ffi_arguments.h"
#include "groups/key_sides.h"
#include "sort/sort_words.h"

namespace jaxframes {
namespace {

constexpr char kMatch[] = "jaxframes_match_v2";
constexpr char kPairs[] = "jaxframes_pairs_v1";
// The groups; the pairs, their high word and their low one; the unmatched rows of each side.
constexpr int64_t kNumCounts = 5;
constexpr char kHowRule[] = "how must be in [0, 4], got ";

bool is_how(int32_t how) { return 0 <= how && how <= static_cast<int32_t>(How::kAnti); }

// Where one row of the batch of each buffer lies.
struct MatchRow {
  int32_t* groups;      // [num_left + num_right]
  int32_t* offsets;     // [num_left + num_right + 2]
  int32_t* right_rows;  // [num_right]
  uint32_t* counts;     // [5], see kNumCounts
  char* scratch;
};

template <typename Order>
void match_row(Executor& executor, How how, const KeySides<Order>& sides, int64_t num_right,
               const MatchRow& row) {
  const int64_t num_rows = sides.num_left + num_right;
  const int64_t num_groups = factorize(
      executor,
      FactorizeRow<KeySides<Order>>{sides, num_rows, how == How::kOuter, 0, row.groups, nullptr},
      SortWords(), row.scratch);
  const GroupedRows right = group_rows(row.groups + sides.num_left, num_right, num_groups,
                                       row.offsets, row.right_rows);
  const MatchCounts counts =
      count_matches(executor, how, row.groups, sides.num_left, right, num_groups);
  row.counts[0] = static_cast<uint32_t>(num_groups);
  row.counts[1] = static_cast<uint32_t>(counts.num_pairs >> 32);
  row.counts[2] = static_cast<uint32_t>(counts.num_pairs);
  row.counts[3] = static_cast<uint32_t>(counts.num_unmatched_left);
  row.counts[4] = static_cast<uint32_t>(counts.num_unmatched_right);
}

ffi::Error match_target(ffi::ThreadPool pool, ffi::AnyBuffer left_keys, ffi::AnyBuffer right_keys,
                        ffi::AnyBuffer num_left, ffi::AnyBuffer num_right,
                        ffi::Result<ffi::AnyBuffer> groups, ffi::Result<ffi::AnyBuffer> offsets,
                        ffi::Result<ffi::AnyBuffer> right_rows,
                        ffi::Result<ffi::AnyBuffer> counts, ffi::Result<ffi::AnyBuffer> scratch,
                        WordBits flip, int32_t how) {
  ArgumentChecker checker(kMatch);
  checker.require_keys(left_keys, "left_keys");
  checker.require_keys(right_keys, "right_keys");
  checker.require_dtype(right_keys, "right_keys", left_keys.element_type());
  checker.require_flip(left_keys, flip);
  checker.require(is_how(how), kHowRule + std::to_string(how));
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(left_keys);
  const int64_t left_length = row_length(left_keys), right_length = row_length(right_keys);
  const int64_t length = left_length + right_length;
  checker.require_rows(right_keys, "right_keys", batch, right_length);
  checker.require_dtype(num_left, "num_left", ffi::DataType::S32);
  checker.require_scalars(num_left, "num_left", batch);
  checker.require_dtype(num_right, "num_right", ffi::DataType::S32);
  checker.require_scalars(num_right, "num_right", batch);
  checker.require_dtype(*groups, "groups", ffi::DataType::S32);
  checker.require_rows(*groups, "groups", batch, length);
  checker.require_dtype(*offsets, "offsets", ffi::DataType::S32);
  checker.require_rows(*offsets, "offsets", batch, length + 2);
  checker.require_dtype(*right_rows, "right_rows", ffi::DataType::S32);
  checker.require_rows(*right_rows, "right_rows", batch, right_length);
  checker.require_dtype(*counts, "counts", ffi::DataType::U32);
  checker.require_rows(*counts, "counts", batch, kNumCounts);
  const int64_t scratch_bytes =
      many_groups_scratch_bytes(length, ArgumentChecker::word_bytes(left_keys));
  checker.require_dtype(*scratch, "scratch", ffi::DataType::U8);
  checker.require_rows(*scratch, "scratch", batch, scratch_bytes);
  if (!checker.ok()) return checker.error();
  return run_kernel(kMatch, [&] {
    XlaExecutor executor(pool);
    with_order(left_keys, flip, [&](const auto& order) {
      using Order = std::decay_t<decltype(order)>;
      using Key = typename Order::Key;
      for_each_row(executor, batch, length, [&](Executor& row_executor, int64_t row) {
        const KeySides<Order> sides{words_of<Key>(left_keys) + row * left_length,
                                    count_at(num_left, row, left_length),
                                    words_of<Key>(right_keys) + row * right_length, order};
        match_row(row_executor, static_cast<How>(how), sides,
                  count_at(num_right, row, right_length),
                  MatchRow{words_of<int32_t>(*groups) + row * length,
                           words_of<int32_t>(*offsets) + row * (length + 2),
                           words_of<int32_t>(*right_rows) + row * right_length,
                           words_of<uint32_t>(*counts) + row * kNumCounts,
                           words_of<char>(*scratch) + row * scratch_bytes});
      });
    });
  });
}

// Writes the pairs of the result of `match_target`.
ffi::Error pairs_target(ffi::ThreadPool pool, ffi::AnyBuffer groups, ffi::AnyBuffer offsets,
                        ffi::AnyBuffer right_of_groups, ffi::AnyBuffer num_left,
                        ffi::AnyBuffer num_groups, ffi::Result<ffi::AnyBuffer> left_rows,
                        ffi::Result<ffi::AnyBuffer> right_rows, int32_t how) {
  ArgumentChecker checker(kPairs);
  checker.require_dtype(groups, "groups", ffi::DataType::S32);
  checker.require(groups.dimensions().size() > 0, "groups must have shape [..., num_rows]");
  checker.require(right_of_groups.dimensions().size() > 0,
                  "right_of_groups must have shape [..., num_right]");
  checker.require(left_rows->dimensions().size() > 0, "left_rows must have shape [..., capacity]");
  checker.require(is_how(how), kHowRule + std::to_string(how));
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(groups), length = row_length(groups);
  const int64_t right_length = row_length(right_of_groups), capacity = row_length(*left_rows);
  checker.require_dtype(offsets, "offsets", ffi::DataType::S32);
  checker.require_rows(offsets, "offsets", batch, length + 2);
  checker.require_dtype(right_of_groups, "right_of_groups", ffi::DataType::S32);
  checker.require_rows(right_of_groups, "right_of_groups", batch, right_length);
  checker.require_dtype(num_left, "num_left", ffi::DataType::S32);
  checker.require_scalars(num_left, "num_left", batch);
  checker.require_dtype(num_groups, "num_groups", ffi::DataType::S32);
  checker.require_scalars(num_groups, "num_groups", batch);
  checker.require_dtype(*left_rows, "left_rows", ffi::DataType::S32);
  checker.require_rows(*left_rows, "left_rows", batch, capacity);
  checker.require_dtype(*right_rows, "right_rows", ffi::DataType::S32);
  checker.require_rows(*right_rows, "right_rows", batch, capacity);
  checker.require(right_length <= length, "groups must have the rows of both sides");
  if (!checker.ok()) return checker.error();
  std::atomic<bool> are_sound{true};
  const ffi::Error error = run_kernel(kPairs, [&] {
    XlaExecutor executor(pool);
    for_each_row(executor, batch, length, [&](Executor& row_executor, int64_t row) {
      const int64_t groups_found = count_at(num_groups, row, length);
      const int64_t left_rows_found = count_at(num_left, row, length - right_length);
      const int32_t* const row_groups = words_of<int32_t>(groups) + row * length;
      const int32_t* const row_offsets = words_of<int32_t>(offsets) + row * (length + 2);
      if (!are_groups(row_executor, row_groups, left_rows_found, row_offsets, groups_found,
                      right_length)) {
        are_sound.store(false, std::memory_order_relaxed);
        return;
      }
      const GroupedRows right(row_offsets, words_of<int32_t>(right_of_groups) + row * right_length,
                              groups_found);
      join(row_executor, static_cast<How>(how),
           JoinRow{row_groups, left_rows_found, right, groups_found, capacity,
                   words_of<int32_t>(*left_rows) + row * capacity,
                   words_of<int32_t>(*right_rows) + row * capacity});
    });
  });
  checker.require(are_sound.load(), "groups and offsets must be those of the same match");
  return checker.ok() ? error : checker.error();
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_match_v2, jaxframes::match_target,
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
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<jaxframes::WordBits>("flip")
                                  .Attr<int32_t>("how"));

JAXFRAMES_DEFINE_TARGET(jaxframes_pairs_v1, jaxframes::pairs_target,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<int32_t>("how"));

// Bytes of the `scratch` result for each row of keys of `word_bytes` each, those of both
// sides together.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_join_scratch_bytes(int64_t num_rows,
                                                                 int32_t word_bytes) {
  return jaxframes::many_groups_scratch_bytes(num_rows, word_bytes);
}
