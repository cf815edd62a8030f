// SPDX-License-Identifier: Apache-2.0
// The operators of a scan, and one branch-free step of a scan.
#ifndef JAXFRAMES_KERNELS_SCAN_SCAN_OPERATOR_H_
#define JAXFRAMES_KERNELS_SCAN_SCAN_OPERATOR_H_

#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/vector_unit.h"

namespace jaxframes {

// A number in a register with selections by bit operations. With short segments a branch on heads
// is mispredicted, and costs more than everything else. Integers have bit operations of their own.
template <typename T, typename = void>
struct Register {
  using Type = T;
  using Bits = std::make_unsigned_t<T>;

  static Type load(T value) { return value; }
  static T value(Type a) { return a; }
  static Bits mask(bool is_set) { return static_cast<Bits>(-static_cast<Bits>(is_set)); }
  static Type select(Bits mask, Type a, Type b) {
    return static_cast<T>((static_cast<Bits>(a) & mask) | (static_cast<Bits>(b) & ~mask));
  }
  // Whether `right` replaces `left`, the extreme so far.
  static Bits is_less(Type right, Type left) { return mask(right < left); }
};

// Floating point has them in vectors; one lane is used. A conversion to integers and back would go
// through memory or another register file.
template <typename T>
struct Register<T, std::enable_if_t<std::is_floating_point_v<T>>> {
  using Bits = Lanes16<std::conditional_t<sizeof(T) == 4, int32_t, int64_t>>;
  using Type = Lanes16<T>;

  static Type load(T value) { return Type{value}; }
  static T value(Type a) { return a[0]; }
  static Bits mask(bool is_set) {
    static constexpr Bits kMasks[2] = {Bits{0}, Bits{-1}};
    return kMasks[is_set];
  }
  static Type select(Bits mask, Type a, Type b) {
    return (Type)(((Bits)a & mask) | ((Bits)b & ~mask));
  }
  // NaN replaces every number, and nothing replaces NaN.
  static Bits is_less(Type right, Type left) { return ~(left <= right) & (left == left); }
};

// Each operator has its identity, and a start value that preserves the bits of the first row:
// adding to 0.0 would lose the sign of -0.0.
template <typename Value>
struct Add {
  using T = Value;
  using R = Register<T>;
  static constexpr T kIdentity = 0;
  static constexpr T kStart = std::is_floating_point_v<T> ? T(-0.0) : T(0);

  static T combine(T left, T right) { return left + right; }
  static typename R::Type step(typename R::Type left, typename R::Type right,
                               typename R::Bits is_head) {
    return R::select(is_head, R::load(kStart), left) + right;
  }
};

template <typename Value>
struct Mul {
  using T = Value;
  using R = Register<T>;
  static constexpr T kIdentity = 1;

  static T combine(T left, T right) { return left * right; }
  static typename R::Type step(typename R::Type left, typename R::Type right,
                               typename R::Bits is_head) {
    return R::select(is_head, R::load(kIdentity), left) * right;
  }
};

// The first of equal numbers wins, and the first NaN: the result always has the bits of a row.
template <typename Value>
struct Min {
  using T = Value;
  using R = Register<T>;
  static constexpr T kIdentity = std::numeric_limits<T>::has_infinity
                                     ? std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::max();

  static T combine(T left, T right) {
    return (left <= right) || (left != left) ? left : right;
  }
  static typename R::Type step(typename R::Type left, typename R::Type right,
                               typename R::Bits is_head) {
    return R::select(is_head | R::is_less(right, left), right, left);
  }
};

template <typename Value>
struct Max {
  using T = Value;
  using R = Register<T>;
  static constexpr T kIdentity = std::numeric_limits<T>::has_infinity
                                     ? -std::numeric_limits<T>::infinity()
                                     : std::numeric_limits<T>::lowest();

  static T combine(T left, T right) {
    return (left >= right) || (left != left) ? left : right;
  }
  static typename R::Type step(typename R::Type left, typename R::Type right,
                               typename R::Bits is_head) {
    return R::select(is_head | is_greater(right, left), right, left);
  }

 private:
  static typename R::Bits is_greater(typename R::Type right, typename R::Type left) {
    if constexpr (std::is_floating_point_v<T>) {
      return ~(left >= right) & (left == left);
    } else {
      return R::is_less(left, right);
    }
  }
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_SCAN_OPERATOR_H_
