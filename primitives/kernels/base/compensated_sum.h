// SPDX-License-Identifier: Apache-2.0
// Sums of floats that keep what their additions round away.
#ifndef JAXFRAMES_KERNELS_BASE_COMPENSATED_SUM_H_
#define JAXFRAMES_KERNELS_BASE_COMPENSATED_SUM_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/work_array.h"

namespace jaxframes {

// Adds `number` to `sum`, and the rounding error of that to `rest` (Knuth's TwoSum; Ogita, Rump and
// Oishi 2005, "Accurate sum and dot product"). The sum itself does not wait for the error. T may be a
// vector of floats.
template <typename T>
__attribute__((always_inline)) inline void add_compensated(T& sum, T& rest, const T& number) {
  const T next = sum + number, added = next - sum;
  rest += (sum - (next - added)) + (number - added);
  sum = next;
}

// The rounded sum. The error of an addition to an infinity or NaN is NaN: it does not count. A sum
// without rest keeps the sign of its zero.
template <typename T>
T rounded_sum(T sum, T rest) {
  const T total = sum + rest;
  return std::isfinite(total) && rest != 0 ? total : sum;
}

// Integers wrap around; for signed ones C++ leaves that undefined.
template <typename Number>
Number wrapping_sum(Number left, Number right) {
  if constexpr (std::is_integral_v<Number>) {
    using Bits = std::make_unsigned_t<Number>;
    return static_cast<Number>(static_cast<Bits>(left) + static_cast<Bits>(right));
  } else {
    return left + right;
  }
}

// The accumulator of a group or segment: a number and the rest for floats, one number for integers.
template <typename Number>
struct Accumulator {
  struct Exact {
    Number sum;
    void add(Number number) { sum = wrapping_sum(sum, number); }
    Number value() const { return sum; }
  };
  struct Compensated {
    Number sum, rest;
    void add(Number number) { add_compensated(sum, rest, number); }
    Number value() const { return rounded_sum(sum, rest); }
  };
  using Type = std::conditional_t<std::is_floating_point_v<Number>, Compensated, Exact>;
};

template <typename Number>
using SumSoFar = typename Accumulator<Number>::Type;

// One sum for each segment, written to `sums` in the end. Copies share their memory.
template <typename Number>
class SumTable {
 public:
  using Sum = SumSoFar<Number>;

  SumTable(Number* sums, int64_t size) : sums_(sums) {
    if constexpr (std::is_floating_point_v<Number>) {
      memory_ = std::make_shared<WorkArray<Sum>>(size);
      so_far_ = memory_->data();
    } else {
      so_far_ = reinterpret_cast<Sum*>(sums);
    }
  }

  void clear(int64_t begin, int64_t end) const {
    std::fill(so_far_ + begin, so_far_ + end, Sum{});
  }
  void add(int64_t segment, Number number) const { so_far_[segment].add(number); }
  void prefetch(int64_t segment) const { __builtin_prefetch(so_far_ + segment, 1); }
  void finish(int64_t begin, int64_t end) const {
    if constexpr (std::is_floating_point_v<Number>) {
      for (int64_t segment = begin; segment < end; ++segment) {
        sums_[segment] = so_far_[segment].value();
      }
    }
  }

 private:
  Number* sums_;
  std::shared_ptr<WorkArray<Sum>> memory_;
  Sum* so_far_;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_BASE_COMPENSATED_SUM_H_
