// SPDX-License-Identifier: Apache-2.0
#include "reduce/segment_sum.h"

#include "check.h"
#include "exact_sum.h"
#include "reduce/integer_range.h"

using namespace jaxframes;
using namespace jaxframes_tests;

template <typename Id, typename Number>
void check_segments(Executor& executor, const std::vector<Id>& ids, Id first_id,
                    int64_t num_valid, int64_t num_segments) {
  current_case() = std::to_string(num_valid) + " rows, " + std::to_string(num_segments) +
                   " segments from " + std::to_string(first_id) + ", " +
                   std::to_string(executor.num_threads()) + " threads";
  std::vector<Number> numbers(ids.size());
  for (Number& number : numbers) number = static_cast<Number>(random_bits()() % 1000) / 7;
  GuardedArray<Id> guarded_ids(ids);
  GuardedArray<Number> guarded_numbers(numbers);
  guarded_ids.protect();
  guarded_numbers.protect();
  GuardedArray<Number> sums(num_segments);
  GuardedArray<int32_t> counts(num_segments);
  const SegmentIds<Id> rows(guarded_ids.data(), first_id, num_valid, num_segments);
  sum_segments(executor, rows, guarded_numbers.data(), sums.data());
  count_segments(executor, rows, counts.data());

  std::vector<ExactSum<Number>> exact(num_segments);
  std::vector<int32_t> expected_counts(num_segments);
  for (int64_t row = 0; row < num_valid; ++row) {
    // A distance that does not wrap around.
    const __int128 segment = static_cast<__int128>(ids[row]) - static_cast<__int128>(first_id);
    if (segment < 0 || segment >= num_segments) continue;
    exact[segment] += numbers[row];
    ++expected_counts[segment];
  }
  std::vector<Number> expected_sums;
  for (const ExactSum<Number>& sum : exact) expected_sums.push_back(sum.value());
  CHECK(sums.values() == expected_sums);
  CHECK(counts.values() == expected_counts);
}

template <typename Id>
void check_range(Executor& executor, const std::vector<Id>& ids, int64_t num_valid) {
  GuardedArray<Id> input(ids);
  input.protect();
  const IntegerRange<Id> range = integer_range(executor, input.data(), num_valid);
  IntegerRange<Id> expected;
  for (int64_t row = 0; row < num_valid; ++row) expected.add(ids[row]);
  CHECK(range.least == expected.least);
  CHECK(range.greatest == expected.greatest);
}

template <typename Id>
void check_all() {
  Executors executors;
  const Id least = std::numeric_limits<Id>::min(), most = std::numeric_limits<Id>::max();
  int index = 0;
  for (int64_t num_rows : {0, 1, 2, 3, 1000, 70001, 300000}) {
    for (int64_t num_segments : {1, 2, 10, 5000}) {
      // Segments at both ends of the integers, and some past the last integer.
      for (Id first_id : {Id{0}, Id{100}, least, static_cast<Id>(most - 3), most}) {
        ++index;
        // Most rows meet each number of segments and each first one, but not each pair of them.
        if (num_rows == 300000 && index % 3 != 0) continue;
        Executor& executor = executors.next(num_rows);
        std::vector<Id> ids(num_rows);
        for (int64_t row = 0; row < num_rows; ++row) {
          const uint64_t bits = random_bits()();
          const uint64_t near = bits % static_cast<uint64_t>(2 * num_segments + 4);
          ids[row] = static_cast<Id>(static_cast<uint64_t>(first_id) + near - 2);
          if (bits >> 60 == 0) ids[row] = bits & 1 ? least : most;
        }
        const int64_t num_valid = index % 2 == 0 ? num_rows / 2 : num_rows;
        check_segments<Id, double>(executor, ids, first_id, num_valid, num_segments);
        check_segments<Id, uint32_t>(executor, ids, first_id, num_valid, num_segments);
        check_range(executor, ids, num_valid);
      }
    }
  }
  // More sums than the cache holds, which threads divide.
  const int64_t num_rows = 1 << 15;
  for (Executor* executor : executors.all()) {
    for (Id first_id : {Id{0}, static_cast<Id>(most - 400000)}) {
      if (kFindsRaces && first_id != 0) continue;
      std::vector<Id> ids(num_rows);
      for (Id& id : ids) {
        // Some are out of range, and a tenth are in the first two segments.
        const uint64_t near = random_bits()() % 660000;
        id = static_cast<Id>(static_cast<uint64_t>(first_id) + (near < 60000 ? near & 1 : near) - 1);
      }
      check_segments<Id, double>(*executor, ids, first_id, num_rows - 5, 600000);
      check_segments<Id, uint32_t>(*executor, ids, first_id, num_rows, 600000);
      // In order, which threads divide by rows; and with one row out of order.
      const auto before = [&](Id a, Id b) {
        return static_cast<uint64_t>(a) - static_cast<uint64_t>(first_id) <
               static_cast<uint64_t>(b) - static_cast<uint64_t>(first_id);
      };
      std::sort(ids.begin(), ids.end(), before);
      check_segments<Id, double>(*executor, ids, first_id, num_rows - 5, 600000);
      std::swap(ids[3], ids[num_rows - 777]);
      check_segments<Id, uint32_t>(*executor, ids, first_id, num_rows, 600000);
    }
  }
}

int main() {
  check_all<int32_t>();
#if !defined(__SANITIZE_THREAD__)
  check_all<uint32_t>();
  check_all<int64_t>();
  check_all<uint64_t>();
#endif
  return finish("segment_sum");
}
