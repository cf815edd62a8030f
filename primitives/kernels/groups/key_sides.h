// SPDX-License-Identifier: Apache-2.0
// The rows of one factorization: of one column, or of the two sides of a join.
#ifndef JAXFRAMES_KERNELS_GROUPS_KEY_SIDES_H_
#define JAXFRAMES_KERNELS_GROUPS_KEY_SIDES_H_

#include <cstdint>

namespace jaxframes {

// The keys of one column as ordered words.
template <typename Order>
struct KeyColumn {
  using Word = typename Order::Key;

  const Word* keys;
  Order order;

  Word word(int64_t row) const { return order.ordered(keys[row]); }
  void prefetch(int64_t row) const { __builtin_prefetch(keys + row); }
  int32_t id(int64_t row) const { return static_cast<int32_t>(row); }
};

// The keys of two columns: the left side, then the right side.
template <typename Order>
struct KeySides {
  using Word = typename Order::Key;

  const Word* left;
  int64_t num_left;
  const Word* right;
  Order order;

  Word word(int64_t row) const {
    return order.ordered(*position(row));
  }
  void prefetch(int64_t row) const { __builtin_prefetch(position(row)); }
  int32_t id(int64_t row) const { return static_cast<int32_t>(row); }

 private:
  const Word* position(int64_t row) const {
    return row < num_left ? left + row : right + (row - num_left);
  }
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_GROUPS_KEY_SIDES_H_
