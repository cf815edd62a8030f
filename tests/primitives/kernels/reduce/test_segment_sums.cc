// SPDX-License-Identifier: Apache-2.0
#include "reduce/segment_sums.h"

#include <limits>

#include "check.h"
#include "exact_sum.h"

using namespace jaxframes;
using namespace jaxframes_tests;

// Two columns with the sums of the first and of their products, actual and expected.
template <typename Number, typename Sum>
class Summed {
 public:
  Summed(const std::vector<int64_t>& segments, int64_t num_segments, bool at_front)
      : numbers_(random_numbers(static_cast<int64_t>(segments.size())), at_front),
        others_(random_numbers(static_cast<int64_t>(segments.size())), at_front),
        sums_(num_segments, at_front),
        product_sums_(num_segments, at_front) {
    std::vector<ExactSum<Sum>> sums(num_segments), product_sums(num_segments);
    for (size_t row = 0; row < segments.size(); ++row) {
      if (segments[row] < 0) continue;
      const Number number = numbers_.data()[row];
      // Rounded to the type of the numbers; a volatile variable is never contracted with a sum.
      const volatile Number product = static_cast<Number>(number * others_.data()[row]);
      sums[segments[row]] += static_cast<Sum>(number);
      product_sums[segments[row]] += static_cast<Sum>(product);
    }
    for (const ExactSum<Sum>& sum : sums) expected_.push_back(sum.value());
    for (const ExactSum<Sum>& sum : product_sums) expected_products_.push_back(sum.value());
    numbers_.protect();
    others_.protect();
  }

  SegmentTable table() { return sum_table(numbers_.data(), sums_.data(), num_segments()); }
  SegmentTable products() {
    return product_table(numbers_.data(), others_.data(), product_sums_.data(), num_segments());
  }
  void check() const {
    CHECK(sums_.values() == expected_);
    CHECK(product_sums_.values() == expected_products_);
  }

 private:
  int64_t num_segments() const { return static_cast<int64_t>(expected_.size()); }

  static std::vector<Number> random_numbers(int64_t size) {
    std::vector<Number> numbers(size);
    for (Number& number : numbers) {
      number = static_cast<Number>(random_bits()() % 1000) / static_cast<Number>(7);
    }
    return numbers;
  }

  GuardedArray<Number> numbers_, others_;
  GuardedArray<Sum> sums_, product_sums_;
  std::vector<Sum> expected_, expected_products_;
};

template <typename Id>
void check_sums(Executor& executor, int64_t num_rows, int64_t num_valid, int64_t num_segments,
                Id first_id, bool at_front) {
  std::vector<Id> ids(num_rows);
  std::vector<int64_t> segments(num_valid, -1);
  std::vector<int32_t> expected_counts(num_segments);
  for (int64_t row = 0; row < num_rows; ++row) {
    // Some rows have no segment.
    const int64_t segment = static_cast<int64_t>(random_bits()() % (num_segments + 3)) - 2;
    ids[row] = static_cast<Id>(first_id + static_cast<Id>(segment));
    if (row >= num_valid || segment < 0 || segment >= num_segments) continue;
    segments[row] = segment;
    ++expected_counts[segment];
  }
  GuardedArray<Id> guarded_ids(ids, at_front);
  guarded_ids.protect();
  GuardedArray<int32_t> counts(num_segments, at_front);
  Summed<double, double> doubles(segments, num_segments, at_front);
  Summed<float, double> floats(segments, num_segments, at_front);
  Summed<int64_t, double> integers(segments, num_segments, at_front);
  Summed<int32_t, int64_t> narrow(segments, num_segments, at_front);
  Summed<uint8_t, uint64_t> bytes(segments, num_segments, at_front);
  Summed<int64_t, int64_t> wide(segments, num_segments, at_front);
  Summed<uint64_t, uint64_t> words(segments, num_segments, at_front);
  add_segments(executor, SegmentIds<Id>(guarded_ids.data(), first_id, num_valid, num_segments),
               {count_table(counts.data()), doubles.table(), doubles.products(), floats.table(),
                floats.products(), integers.table(), integers.products(), narrow.table(),
                narrow.products(), bytes.table(), bytes.products(), wide.table(), wide.products(),
                words.table(), words.products()});
  CHECK(counts.values() == expected_counts);
  doubles.check();
  floats.check();
  integers.check();
  narrow.check();
  bytes.check();
  wide.check();
  words.check();
}

// Integers alone: nothing else makes the threads wait.
void check_integers(Executor& executor, int64_t num_rows, int64_t num_segments) {
  std::vector<int64_t> segments(num_rows);
  for (int64_t& segment : segments) segment = static_cast<int64_t>(random_bits()() % num_segments);
  Summed<int64_t, int64_t> wide(segments, num_segments, false);
  Summed<int32_t, uint64_t> narrow(segments, num_segments, false);
  add_segments(executor, SegmentIds<int64_t>(segments.data(), 0, num_rows, num_segments),
               {wide.table(), wide.products(), narrow.table(), narrow.products()});
  wide.check();
  narrow.check();
}

// Sums and products of signed integers wrap around, as those of unsigned ones do.
void check_overflow(int64_t num_repeats) {
  const int64_t most = std::numeric_limits<int64_t>::max();
  const int64_t least = std::numeric_limits<int64_t>::min();
  std::vector<int32_t> ids, factors;
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < num_repeats; ++i) {
    ids.insert(ids.end(), {0, 0, 1, 1});
    numbers.insert(numbers.end(), {most, most, least, -1});
    factors.insert(factors.end(), {1 << 16, 1 << 16, 1 << 16, -1});
  }
  std::vector<int64_t> sums(2), product_sums(2), narrow_sums(2);
  SerialExecutor executor;
  current_case() = "sums past the largest integer of " + std::to_string(num_repeats) + " repeats";
  add_segments(executor, SegmentIds<int32_t>(ids.data(), 0, ids.size(), 2),
               {sum_table(numbers.data(), sums.data(), 2),
                product_table(numbers.data(), numbers.data(), product_sums.data(), 2),
                product_table(factors.data(), factors.data(), narrow_sums.data(), 2)});
  // The second sum of one repeat is 2^63 - 1, which two repeats add up to -2.
  CHECK(sums == (std::vector<int64_t>{-2 * num_repeats, num_repeats == 1 ? most : -num_repeats}));
  // (2^63 - 1)^2 = 1 and (-2^63)^2 = 0 modulo 2^64; 2^32 = 0 in an int32.
  CHECK(product_sums == (std::vector<int64_t>{2 * num_repeats, num_repeats}));
  CHECK(narrow_sums == (std::vector<int64_t>{0, num_repeats}));
}

// Sums of integers as doubles: of words in any order while all are exact, else of rounded numbers.
template <typename Number>
void check_doubles(Executor& executor, int num_bits, int64_t num_rows) {
  constexpr int64_t kSegments = 3;
  std::vector<int32_t> ids(num_rows);
  std::vector<Number> numbers(num_rows);
  std::vector<ExactSum<double>> expected(kSegments);
  for (int64_t row = 0; row < num_rows; ++row) {
    ids[row] = static_cast<int32_t>(random_bits()() % kSegments);
    const uint64_t magnitude = (uint64_t{1} << num_bits) - random_bits()() % 1000;
    const bool is_negative = std::is_signed_v<Number> && random_bits()() % 2;
    numbers[row] = static_cast<Number>(is_negative ? 0 - magnitude : magnitude);
    expected[ids[row]] += static_cast<double>(numbers[row]);
  }
  std::vector<double> sums(kSegments);
  add_segments(executor, SegmentIds<int32_t>(ids.data(), 0, num_rows, kSegments),
               {sum_table(numbers.data(), sums.data(), kSegments)});
  current_case() = "doubles of " + std::to_string(num_bits) + " bits, " +
                   std::to_string(num_rows) + " rows";
  for (int64_t segment = 0; segment < kSegments; ++segment) {
    CHECK(sums[segment] == expected[segment].value());
  }
}

int main() {
  Executors executors;
  int index = 0;
  for (int64_t num_rows : {0, 1, 1023, 1025, 50000}) {
    // The last number of segments does not fit the cache.
    for (int64_t num_segments : {1, 100, 5000, 300000}) {
      for (int64_t num_valid : {num_rows, num_rows / 2}) {
        ++index;
        Executor& executor = executors.next(num_rows);
        current_case() = std::to_string(num_valid) + " of " + std::to_string(num_rows) +
                         " rows, " + std::to_string(num_segments) + " segments";
        // Threads divide both types of ids alike.
        if (!kFindsRaces || index % 2) {
          check_sums<int32_t>(executor, num_rows, num_valid, num_segments, 0, index / 2 % 2);
        }
        if (!kFindsRaces || index % 2 == 0) {
          check_sums<int64_t>(executor, num_rows, num_valid, num_segments, -50, index / 2 % 2);
        }
      }
    }
  }
  for (Executor* executor : executors.all()) {
    current_case() = std::to_string(executor->num_threads()) + " threads";
    check_sums<int32_t>(*executor, 50000, 50000, 5000, 0, false);
  }
  for (int64_t num_segments : {1, 5000, 300000}) {
    for (Executor* executor : executors.all()) {
      current_case() = "integers in " + std::to_string(num_segments) + " segments, " +
                       std::to_string(executor->num_threads()) + " threads";
      check_integers(*executor, 50000, num_segments);
    }
  }
  for (Executor* executor : executors.all()) {
    // 2^53 and few rows add up exactly, 2^53 and many do not; 2^54 is rounded.
    for (int num_bits : {10, 31, 53, 54, 62}) {
      for (int64_t num_rows : {1000, 50000}) {
        check_doubles<int64_t>(*executor, num_bits, num_rows);
        check_doubles<uint64_t>(*executor, num_bits, num_rows);
        if (num_bits < 31) check_doubles<int32_t>(*executor, num_bits, num_rows);
      }
    }
  }
  check_overflow(1);
  // With more rows for each segment they are added in any order.
  check_overflow(8);
  return finish("segment_sums");
}
