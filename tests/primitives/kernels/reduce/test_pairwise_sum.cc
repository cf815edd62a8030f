// SPDX-License-Identifier: Apache-2.0
#include "reduce/pairwise_sum.h"

#include "check.h"
#include "exact_sum.h"

using namespace jaxframes;
using namespace jaxframes_tests;

template <typename Sum, typename Number>
Sum expected_sum(const std::vector<Number>& numbers, int64_t size) {
  ExactSum<Sum> sum;
  for (int64_t i = 0; i < size; ++i) sum += numbers[i];
  return sum.value();
}

// The sum of the squared distances is that of an array of them, in which missing ones are zero.
template <typename Sum, typename Number>
void check_squared_distances(Executor& executor, std::vector<Number> numbers) {
  const Sum center = 0.3;
  const int64_t size = numbers.size();
  for (bool skips_nan : {true, false}) {
    current_case() = "squared distances of " + std::to_string(size) + " numbers";
    std::vector<Sum> squares;
    for (Number& number : numbers) {
      if (skips_nan && squares.size() % 7 == 3) number = std::numeric_limits<Number>::quiet_NaN();
      const Sum distance = static_cast<Sum>(number) - center;
      squares.push_back(number == number ? distance * distance : Sum{0});
    }
    GuardedArray<Number> input(numbers, false);
    input.protect();
    const Sum sum = sum_of_squared_distances<Sum>(executor, input.data(), size, center, skips_nan);
    const Sum expected = expected_sum<Sum>(squares, size);
    const bool has_nan = !skips_nan && size > 3;
    CHECK(has_nan ? sum != sum : sum == expected);
  }
}

template <typename Sum, typename Number>
void check_sums(Executors& executors) {
  for (int64_t size : {0, 1, 15, 16, 17, 1023, 1024, 1025, 5000, 65536, 131072, 200001}) {
    std::vector<Number> numbers(size);
    // Many magnitudes: another order would round differently.
    for (Number& number : numbers) {
      const uint64_t bits = random_bits()();
      number = std::ldexp(static_cast<Number>(bits % 1000003) - 500000, bits >> 59);
    }
    for (int64_t num_valid : {size, size / 2, size - size / 3}) {
      Executor& executor = executors.next(size);
      current_case() = std::to_string(num_valid) + " of " + std::to_string(size) + " numbers of " +
                       std::to_string(sizeof(Number)) + " bytes, " +
                       std::to_string(executor.num_threads()) + " threads";
      GuardedArray<Number> input(numbers, num_valid % 2 == 1);
      input.protect();
      const Sum expected = expected_sum<Sum>(numbers, num_valid);
      CHECK(pairwise_sum<Sum>(executor, input.data(), num_valid) == expected);
    }
    check_squared_distances<Sum>(executors.next(size), numbers);
  }
}

template <typename Number>
void check_instructions() {
  current_case() = "every set of instructions";
  std::vector<Number> numbers(8 * kSumBlock);
  for (Number& number : numbers) number = static_cast<Number>(random_bits()() % 1000003) / 7;
  double sums[8], rests[8], others[8], other_rests[8];
  const internal::SquaredDistance<double, true> term{0.3};
  internal::AddBlocks::run(numbers.data(), 8, term, sums, rests);
  run_with_widest_vectors<internal::AddBlocks>(numbers.data(), 8, term, others, other_rests);
  CHECK(std::memcmp(sums, others, sizeof(sums)) == 0);
  CHECK(std::memcmp(rests, other_rests, sizeof(rests)) == 0);
}

// A resulting zero or NaN has a positive sign.
void check_signs() {
  SerialExecutor serial;
  const float infinity = std::numeric_limits<float>::infinity();
  for (const float number : {-0.0f, -std::numeric_limits<float>::quiet_NaN(), infinity}) {
    for (int64_t size : {1, 1024, 2048, 3000}) {
      current_case() = std::to_string(size) + " times " + std::to_string(number);
      std::vector<float> numbers(size, number);
      if (number == infinity) numbers.back() = -infinity;
      const double sum = pairwise_sum<double>(serial, numbers.data(), size);
      CHECK(size == 1 && number == infinity ? sum < 0 : !std::signbit(sum));
    }
  }
}

int main() {
  Executors executors;
  check_sums<double, float>(executors);
  check_sums<double, double>(executors);
  check_sums<float, float>(executors);
  check_instructions<float>();
  check_instructions<double>();
  check_signs();
  return finish("pairwise_sum");
}
