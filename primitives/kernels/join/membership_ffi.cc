// SPDX-License-Identifier: Apache-2.0
#include "join/membership.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <type_traits>

#include "base/ffi_arguments.h"

namespace jaxframes {
namespace {

constexpr char kMembership[] = "jaxframes_membership_v1";

ffi::Error membership_target(ffi::ThreadPool pool, ffi::AnyBuffer keys, ffi::AnyBuffer members,
                             ffi::AnyBuffer num_keys, ffi::AnyBuffer num_members,
                             ffi::Result<ffi::AnyBuffer> flags,
                             ffi::Result<ffi::AnyBuffer> slots, WordBits flip) {
  ArgumentChecker checker(kMembership);
  checker.require_keys(keys, "keys");
  checker.require_keys(members, "members");
  checker.require_dtype(members, "members", keys.element_type());
  checker.require_flip(keys, flip);
  checker.require(slots->dimensions().size() > 0, "slots must have shape [..., num_slots]");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(keys);
  const int64_t length = row_length(keys), member_length = row_length(members);
  const int64_t num_slots = row_length(*slots);
  checker.require_rows(members, "members", batch, member_length);
  checker.require_dtype(num_keys, "num_keys", ffi::DataType::S32);
  checker.require_scalars(num_keys, "num_keys", batch);
  checker.require_dtype(num_members, "num_members", ffi::DataType::S32);
  checker.require_scalars(num_members, "num_members", batch);
  checker.require_dtype(*flags, "flags", ffi::DataType::PRED);
  checker.require_rows(*flags, "flags", batch, length);
  checker.require_dtype(*slots, "slots", ArgumentChecker::word_bytes(keys) == 4
                                             ? ffi::DataType::U32
                                             : ffi::DataType::U64);
  checker.require_rows(*slots, "slots", batch, num_slots);
  checker.require(num_slots / 2 >= member_length && (num_slots & (num_slots - 1)) == 0,
                  "slots must be a power of two and at least twice the members, got " +
                      std::to_string(num_slots));
  if (!checker.ok()) return checker.error();
  return run_kernel(kMembership, [&] {
    XlaExecutor executor(pool);
    with_order(keys, flip, [&](const auto& order) {
      using Order = std::decay_t<decltype(order)>;
      using Key = typename Order::Key;
      for_each_row(executor, batch, length + member_length,
                   [&](Executor& row_executor, int64_t row) {
        const int64_t valid = count_at(num_keys, row, length);
        uint8_t* const row_flags = words_of<uint8_t>(*flags) + row * length;
        flag_members(row_executor,
                     MembershipRow<Order>{words_of<Key>(keys) + row * length, valid,
                                          words_of<Key>(members) + row * member_length,
                                          count_at(num_members, row, member_length), order,
                                          words_of<Key>(*slots) + row * num_slots, num_slots,
                                          row_flags});
        std::fill(row_flags + valid, row_flags + length, uint8_t{0});
      });
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_membership_v1, jaxframes::membership_target,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<jaxframes::WordBits>("flip"));
