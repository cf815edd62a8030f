// SPDX-License-Identifier: Apache-2.0
// Moments by their definition, in more precision.
#ifndef JAXFRAMES_TESTS_SCAN_MOMENTS_OF_H_
#define JAXFRAMES_TESTS_SCAN_MOMENTS_OF_H_

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "check.h"

namespace jaxframes_tests {

// A count, the mean of x and that of y, and sums of products of distances: x to the power 2, 3 and
// 4, y to the power 2, x by y.
struct NaiveMoments {
  long double count = 0, x_mean = 0, y_mean = 0;
  std::array<long double, 5> sums{};
};

// Of the rows from `begin` to `end` that are held.
template <typename T>
NaiveMoments naive_moments(const std::vector<T>& x, const std::vector<T>& y,
                           const std::vector<char>& held, int64_t begin, int64_t end) {
  NaiveMoments moments;
  for (int64_t i = begin; i < end; ++i) {
    if (!held[i]) continue;
    moments.count += 1;
    moments.x_mean += x[i];
    moments.y_mean += y[i];
  }
  if (moments.count == 0) return moments;
  moments.x_mean /= moments.count;
  moments.y_mean /= moments.count;
  for (int64_t i = begin; i < end; ++i) {
    if (!held[i]) continue;
    const long double a = x[i] - moments.x_mean, b = y[i] - moments.y_mean;
    const long double terms[] = {a * a, a * a * a, a * a * a * a, b * b, a * b};
    for (int k = 0; k < 5; ++k) moments.sums[k] += terms[k];
  }
  return moments;
}

// Values of up to about 1, with a mean of `centre`.
template <typename T>
std::vector<T> values_around(T centre, int64_t size) {
  std::vector<T> values(size);
  for (T& value : values) value = centre + static_cast<T>(random_bits()() % 2001) / 1000 - 1;
  return values;
}

// Whether a number is right up to the rounding of so many terms of at most about one.
template <typename T>
bool is_near(T number, long double exact, int64_t num_terms, long double scale) {
  const long double unit = sizeof(T) == 4 ? 6e-8L : 1.2e-16L;
  return std::abs(number - exact) <= unit * 16 * (num_terms + 4) * scale;
}

}  // namespace jaxframes_tests

#endif  // JAXFRAMES_TESTS_SCAN_MOMENTS_OF_H_
