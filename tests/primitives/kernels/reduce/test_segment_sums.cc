// SPDX-License-Identifier: Apache-2.0
#include "reduce/segment_sums.h"

#include <limits>

#include "check.h"

using namespace jaxframes;
using namespace jaxframes_tests;

// One column with its sums, actual and expected: added in the order of the rows.
template <typename Number, typename Sum>
class Summed {
 public:
  Summed(const std::vector<int64_t>& segments, int64_t num_segments, bool at_front)
      : numbers_(random_numbers(static_cast<int64_t>(segments.size())), at_front),
        sums_(num_segments, at_front),
        expected_(num_segments) {
    for (size_t row = 0; row < segments.size(); ++row) {
      if (segments[row] >= 0) expected_[segments[row]] += static_cast<Sum>(numbers_.data()[row]);
    }
    numbers_.protect();
  }

  SegmentTable table() { return sum_table(numbers_.data(), sums_.data()); }
  void check() const { CHECK(sums_.values() == expected_); }

 private:
  static std::vector<Number> random_numbers(int64_t size) {
    std::vector<Number> numbers(size);
    for (Number& number : numbers) {
      number = static_cast<Number>(random_bits()() % 1000) / static_cast<Number>(7);
    }
    return numbers;
  }

  GuardedArray<Number> numbers_;
  GuardedArray<Sum> sums_;
  std::vector<Sum> expected_;
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
  add_segments(executor, SegmentIds<Id>(guarded_ids.data(), first_id, num_valid, num_segments),
               {count_table(counts.data()), doubles.table(), floats.table(), integers.table(),
                narrow.table(), bytes.table()});
  CHECK(counts.values() == expected_counts);
  doubles.check();
  floats.check();
  integers.check();
  narrow.check();
  bytes.check();
}

// Sums of signed integers wrap around, as those of unsigned ones do.
void check_overflow() {
  const std::vector<int32_t> ids{0, 0, 1, 1};
  const int64_t most = std::numeric_limits<int64_t>::max();
  const int64_t least = std::numeric_limits<int64_t>::min();
  const std::vector<int64_t> numbers{most, most, least, -1};
  std::vector<int64_t> sums(2);
  SerialExecutor executor;
  current_case() = "sums past the largest integer";
  add_segments(executor, SegmentIds<int32_t>(ids.data(), 0, 4, 2),
               {sum_table(numbers.data(), sums.data())});
  CHECK(sums == (std::vector<int64_t>{-2, most}));
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
        check_sums<int32_t>(executor, num_rows, num_valid, num_segments, 0, index % 2);
        check_sums<int64_t>(executor, num_rows, num_valid, num_segments, -50, index % 2);
      }
    }
  }
  for (Executor* executor : executors.all()) {
    current_case() = std::to_string(executor->num_threads()) + " threads";
    check_sums<int32_t>(*executor, 50000, 50000, 5000, 0, false);
  }
  check_overflow();
  return finish("segment_sums");
}
