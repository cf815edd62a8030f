// SPDX-License-Identifier: Apache-2.0
#include "join/membership.h"

#include <set>

#include "check.h"
#include "keys.h"

using namespace jaxframes;
using namespace jaxframes_tests;

template <typename Order>
void check_membership(Executor& executor, const std::vector<typename Order::Key>& keys,
                      const std::vector<typename Order::Key>& members, const Order& order,
                      bool at_front) {
  using Key = typename Order::Key;
  std::set<Key> words;
  for (Key member : members) words.insert(order.ordered(member));
  std::vector<uint8_t> expected;
  for (Key key : keys) expected.push_back(words.count(order.ordered(key)) != 0);

  int64_t num_slots = 1;
  while (num_slots / 2 < static_cast<int64_t>(members.size())) num_slots *= 2;
  GuardedArray<Key> guarded_keys(keys, at_front), guarded_members(members, at_front);
  GuardedArray<Key> slots(num_slots, at_front);
  GuardedArray<uint8_t> flags(static_cast<int64_t>(keys.size()), at_front);
  guarded_keys.protect();
  guarded_members.protect();
  flag_members(executor, MembershipRow<Order>{guarded_keys.data(), guarded_keys.size(),
                                              guarded_members.data(), guarded_members.size(),
                                              order, slots.data(), num_slots, flags.data()});
  CHECK(flags.values() == expected);
}

template <typename Order>
void check_sizes(const Order& order, const char* name) {
  using Key = typename Order::Key;
  Executors executors;
  int index = 0;
  // The last size has several chunks for each thread.
  const int64_t sizes[][2] = {{0, 0}, {0, 3}, {4, 0}, {1, 1}, {40, 7}, {33, 64}, {50000, 40000}};
  for (const std::string& distribution : key_distributions()) {
    for (const auto& [num_keys, num_members] : sizes) {
      ++index;
      current_case() = std::string(name) + ", " + distribution + ", " +
                       std::to_string(num_keys) + " keys, " + std::to_string(num_members) +
                       " members";
      std::vector<Key> keys = make_keys<Key>(distribution, num_keys);
      const std::vector<Key> members = make_keys<Key>(distribution, num_members);
      // Every second key is a member, and every tenth is next to one.
      for (size_t i = 0; i < keys.size() && num_members != 0; ++i) {
        if (i % 2 == 0) keys[i] = members[i % num_members];
        if (i % 10 == 1) keys[i] = static_cast<Key>(members[i % num_members] + 1);
      }
      check_membership(executors.next(num_keys), keys, members, order, index % 2);
    }
  }
}

int main() {
  check_sizes(IntegerOrder<uint32_t>{0x80000000u}, "int32");
#if !defined(__SANITIZE_THREAD__)
  check_sizes(IntegerOrder<uint64_t>{0}, "uint64");
  check_sizes(FloatOrder<uint32_t>(), "float32");
#endif
  check_sizes(FloatOrder<uint64_t>(), "float64");
  return finish("membership");
}
