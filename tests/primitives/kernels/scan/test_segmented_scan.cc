// SPDX-License-Identifier: Apache-2.0
#include "scan/segmented_scan.h"

#include "check.h"
#include "keys.h"

using namespace jaxframes;
using namespace jaxframes_tests;

// The definition: row after row.
template <typename Op>
std::vector<typename Op::T> scan_by_definition(const std::vector<typename Op::T>& values,
                                               const std::vector<char>& heads,
                                               int64_t num_valid, bool reverse,
                                               bool exclusive) {
  using T = typename Op::T;
  std::vector<T> results(values.size(), T{0});
  T total = Op::kIdentity;
  for (int64_t i = 0; i < num_valid; ++i) {
    const int64_t row = reverse ? num_valid - 1 - i : i;
    const bool is_head = i == 0 || (!heads.empty() && heads[row]);
    if (exclusive) results[row] = is_head ? Op::kIdentity : total;
    total = is_head ? values[row] : Op::combine(total, values[row]);
    if (!exclusive) results[row] = total;
  }
  return results;
}

template <typename Op, bool kHasHeads, bool kExclusive>
std::vector<typename Op::T> scanned(Executor& executor,
                                    const std::vector<typename Op::T>& values,
                                    const std::vector<char>& heads, int64_t num_valid,
                                    bool reverse, bool at_front) {
  using T = typename Op::T;
  const int64_t num_rows = static_cast<int64_t>(values.size());
  GuardedArray<T> input(values, at_front), results(num_rows, at_front);
  GuardedArray<char> flags(heads, at_front);
  input.protect();
  flags.protect();
  segmented_scan<Op, kHasHeads, kExclusive>(
      executor, ScanRow<T>{input.data(), reinterpret_cast<const bool*>(flags.data()), num_rows,
                           num_valid, reverse, results.data()});
  return results.values();
}

// Small whole numbers, so that sums of floats are exact and must have the same bits.
template <typename T>
std::vector<T> small_values(int64_t size) {
  std::vector<T> values(size);
  for (T& value : values) value = static_cast<T>(random_bits()() % 9) - static_cast<T>(4);
  return values;
}

template <typename Op, bool kHasHeads, bool kExclusive>
void check_scan(int64_t num_rows, int64_t num_valid, int64_t mean_length,
                std::vector<typename Op::T> values) {
  static Executors executors;
  static int index = 0;
  std::vector<char> heads(kHasHeads ? num_rows : 0);
  for (char& head : heads) head = random_bits()() % mean_length == 0;
  for (bool reverse : {false, true}) {
    const auto expected =
        scan_by_definition<Op>(values, heads, num_valid, reverse, kExclusive);
    ++index;
    Executor& executor = executors.next(num_rows);
    current_case() = std::to_string(num_valid) + " of " + std::to_string(num_rows) +
                     " rows of " + std::to_string(8 * sizeof(typename Op::T)) +
                     " bits, segments of " + std::to_string(mean_length) +
                     (reverse ? ", reverse" : "") + (kExclusive ? ", exclusive, " : ", ") +
                     std::to_string(executor.num_threads()) + " threads";
    CHECK(same_bits(scanned<Op, kHasHeads, kExclusive>(executor, values, heads, num_valid,
                                                       reverse, index / 4 % 2),
                    expected));
  }
}

template <typename Op>
void check_sizes(std::vector<typename Op::T> (*make_values)(int64_t)) {
  const int64_t strip = internal::kStripRows, chunk = internal::kChunkRows;
  for (int64_t num_rows : {int64_t{0}, int64_t{1}, int64_t{9}, strip - 1, strip, strip + 1,
                           chunk - 1, chunk, chunk + 1, 5 * chunk + strip + 5}) {
    for (int64_t num_valid : {num_rows, num_rows / 2, std::min<int64_t>(num_rows, 1)}) {
      check_scan<Op, false, false>(num_rows, num_valid, 1, make_values(num_rows));
      check_scan<Op, true, true>(num_rows, num_valid, 3, make_values(num_rows));
    }
    check_scan<Op, false, true>(num_rows, num_rows, 1, make_values(num_rows));
    check_scan<Op, true, false>(num_rows, num_rows, 1, make_values(num_rows));
    check_scan<Op, true, false>(num_rows, num_rows, 1000, make_values(num_rows));
    // Segments of several chunks.
    check_scan<Op, true, true>(num_rows, num_rows, 3 * chunk, make_values(num_rows));
  }
}

template <typename T>
std::vector<T> words(int64_t size) {
  const auto keys =
      make_keys<std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>("float_corners", size);
  std::vector<T> values(size);
  for (int64_t i = 0; i < size; ++i) std::memcpy(&values[i], &keys[i], sizeof(T));
  return values;
}

// Rounded sums: different from the definition, but equal for any number of threads.
void check_rounding() {
  std::vector<float> values(500000);
  for (float& value : values) value = static_cast<float>(random_bits()() % 100000) / 7.0f;
  SerialExecutor serial;
  Executors executors;
  current_case() = "rounded sums";
  const auto alone = scanned<Add<float>, false, false>(serial, values, {}, 500000, false, false);
  for (Executor* executor : executors.all()) {
    CHECK(same_bits(
        scanned<Add<float>, false, false>(*executor, values, {}, 500000, false, false), alone));
  }
  const auto exact = scan_by_definition<Add<double>>(
      std::vector<double>(values.begin(), values.end()), {}, 500000, false, false);
  for (size_t i = 0; i < values.size(); i += 997) {
    CHECK(std::abs(alone[i] - exact[i]) <= exact[i] * (i + 1) * 1.2e-7);
  }
}

int main() {
  check_sizes<Add<uint32_t>>(words<uint32_t>);
  check_rounding();
#if !defined(__SANITIZE_THREAD__)
  // The division among threads does not depend on the operator.
  check_sizes<Mul<uint64_t>>(words<uint64_t>);
  check_sizes<Min<int32_t>>(words<int32_t>);
  check_sizes<Max<uint64_t>>(words<uint64_t>);
  check_sizes<Add<double>>(small_values<double>);
  check_sizes<Min<float>>(words<float>);
  check_sizes<Max<double>>(words<double>);
#endif
  return finish("segmented_scan");
}
