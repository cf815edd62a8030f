// SPDX-License-Identifier: Apache-2.0
// Sums without rounding errors, as an oracle.
#ifndef JAXFRAMES_TESTS_EXACT_SUM_H_
#define JAXFRAMES_TESTS_EXACT_SUM_H_

#include <cmath>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

namespace jaxframes_tests {

// Floats are kept as parts that do not overlap, whose sum is exact (Shewchuk 1997, "Adaptive
// precision floating-point arithmetic"); integers wrap around.
template <typename Number>
class ExactSum {
 public:
  void operator+=(Number number) {
    if constexpr (std::is_integral_v<Number>) {
      parts_ = static_cast<Number>(static_cast<uint64_t>(parts_) + static_cast<uint64_t>(number));
    } else {
      double rest = number;
      size_t num_parts = 0;
      for (double part : parts_) {
        if (std::abs(rest) < std::abs(part)) std::swap(rest, part);
        const volatile double high = rest + part;
        const double low = part - (high - rest);
        if (low != 0) parts_[num_parts++] = low;
        rest = high;
      }
      parts_.resize(num_parts);
      parts_.push_back(rest);
    }
  }

  // Rounded once.
  Number value() const {
    if constexpr (std::is_integral_v<Number>) {
      return parts_;
    } else {
      double sum = 0, rest = 0;
      size_t left = parts_.size();
      while (left > 0 && rest == 0) {
        const double part = parts_[--left];
        const volatile double total = sum + part;
        rest = part - (total - sum);
        sum = total;
      }
      // Half of a unit goes to the side of what is left.
      if (left > 0 && (rest > 0) == (parts_[left - 1] > 0)) {
        const volatile double next = sum + 2 * rest;
        if (next - sum == 2 * rest) sum = next;
      }
      return static_cast<Number>(sum);
    }
  }

 private:
  std::conditional_t<std::is_integral_v<Number>, Number, std::vector<double>> parts_{};
};

}  // namespace jaxframes_tests

#endif  // JAXFRAMES_TESTS_EXACT_SUM_H_
