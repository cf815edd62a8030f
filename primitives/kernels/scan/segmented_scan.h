// SPDX-License-Identifier: Apache-2.0
// Segmented scan of a row of numbers, in one pass over memory.
#ifndef JAXFRAMES_KERNELS_SCAN_SEGMENTED_SCAN_H_
#define JAXFRAMES_KERNELS_SCAN_SEGMENTED_SCAN_H_

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>

#include "scan/scan_operator.h"
#include "base/thread_pool.h"

namespace jaxframes {

// One row of a batch. A scan goes over the first num_valid numbers, from the last one
// if it is reversed. It restarts where `heads` is set, and always starts at its first number.
template <typename T>
struct ScanRow {
  const T* values;
  const bool* heads;
  int64_t num_rows;
  int64_t num_valid;
  bool reverse;
  T* results;
};

namespace internal {

// One accumulator scans a strip. Four interleaved strips hide the latency of an addition; a thread
// takes a chunk. Both have a fixed number of rows, so that sums do not depend on the number of
// threads. 4112 rows, not 4096: the strips of a chunk must not share cache sets.
constexpr int kStrips = 4;
constexpr int64_t kStripRows = 4112;
constexpr int64_t kChunkRows = kStrips * kStripRows;

// The carry of a chunk for the next one.
template <typename T>
struct alignas(64) CarryOut {
  std::atomic<bool> is_known{false};
  T value;

  void publish(T carry) {
    value = carry;
    is_known.store(true, std::memory_order_release);
  }
  // Chunks are taken in order, so the previous one has started and waits only for earlier ones.
  T wait() const {
    for (int polls = 0; !is_known.load(std::memory_order_acquire); ++polls) {
      if (polls > 1000) std::this_thread::yield();
    }
    return value;
  }
};

// The number of flags before the first set one among `num_rows`, in steps of 1 or -1.
inline int64_t rows_before_head(const bool* heads, int64_t num_rows, int64_t step) {
  if (step > 0) {
    const void* found = std::memchr(heads, 1, num_rows);
    return found == nullptr ? num_rows : static_cast<const bool*>(found) - heads;
  }
  int64_t row = 0;
  for (; row + 8 <= num_rows; row += 8) {
    uint64_t eight;
    std::memcpy(&eight, heads - row - 7, 8);
    if (eight != 0) break;
  }
  while (row < num_rows && !heads[-row]) ++row;
  return row;
}

// The scan of one chunk: every position below counts in the order of the scan.
template <typename Op, bool kHasHeads, bool kExclusive>
class ChunkScan {
 public:
  using T = typename Op::T;
  using R = Register<T>;

  ChunkScan(const ScanRow<T>& row, int64_t chunk)
      : step_(row.reverse ? -1 : 1),
        begin_(chunk * kChunkRows),
        num_rows_(std::min(kChunkRows, row.num_valid - begin_)),
        num_strips_(static_cast<int>((num_rows_ + kStripRows - 1) / kStripRows)) {
    const int64_t first = row.reverse ? row.num_valid - 1 - begin_ : begin_;
    values_ = row.values + first;
    heads_ = kHasHeads ? row.heads + first : nullptr;
    results_ = row.results + first;
  }

  // Upsweep: scans each strip as if the scan began there.
  void scan_strips() {
    if (num_rows_ == kChunkRows) {
      scan_strips_of<kStrips>(0, kStripRows);
    } else {
      for (int strip = 0; strip < num_strips_; ++strip) {
        scan_strips_of<1>(strip, strip_rows(strip));
      }
    }
    for (int strip = 0; strip < num_strips_; ++strip) {
      const bool is_start = begin_ == 0 && strip == 0;
      rows_before_head_[strip] = is_start ? 0 : rows_before_head_of(strip);
    }
  }

  // Computes the carry into each strip; returns the carry into the next chunk.
  T combine_totals(T carry) {
    for (int strip = 0; strip < num_strips_; ++strip) {
      carry_in_[strip] = carry;
      const bool has_head = rows_before_head_[strip] < strip_rows(strip);
      carry = has_head ? totals_[strip] : Op::combine(carry, totals_[strip]);
    }
    return carry;
  }

  // Downsweep: applies the carry to the rows before the first head of each strip.
  void add_carries() {
    for (int strip = 0; strip < num_strips_; ++strip) {
      const int64_t num_rows = rows_before_head_[strip];
      const T carry = carry_in_[strip];
      const int64_t first = strip * kStripRows;
      T* results = step_ > 0 ? results_ + first : results_ - first - num_rows + 1;
      for (int64_t i = 0; i < num_rows; ++i) results[i] = Op::combine(carry, results[i]);
      // The first row gets the carry itself, because a sum with 0.0 would lose the sign of -0.0.
      if (kExclusive && num_rows > 0) results_[first * step_] = carry;
    }
  }

 private:
  int64_t strip_rows(int strip) const {
    return std::min(kStripRows, num_rows_ - strip * kStripRows);
  }

  int64_t rows_before_head_of(int strip) const {
    if constexpr (!kHasHeads) return strip_rows(strip);
    return rows_before_head(heads_ + strip * kStripRows * step_, strip_rows(strip), step_);
  }

  template <int kCount>
  void scan_strips_of(int strip, int64_t num_rows) {
    const int64_t first = strip * kStripRows;
    typename R::Type totals[kCount];
    for (int s = 0; s < kCount; ++s) {
      const int64_t position = (first + s * kStripRows) * step_;
      totals[s] = R::load(values_[position]);
      results_[position] = kExclusive ? Op::kIdentity : values_[position];
    }
    for (int64_t row = 1; row < num_rows; ++row) {
      for (int s = 0; s < kCount; ++s) {
        const int64_t position = (first + s * kStripRows + row) * step_;
        const typename R::Bits is_head = R::mask(kHasHeads && heads_[position]);
        const typename R::Type before = totals[s];
        totals[s] = Op::step(before, R::load(values_[position]), is_head);
        results_[position] =
            R::value(kExclusive ? R::select(is_head, R::load(Op::kIdentity), before) : totals[s]);
      }
    }
    for (int s = 0; s < kCount; ++s) totals_[strip + s] = R::value(totals[s]);
  }

  const int64_t step_;
  const int64_t begin_;
  const int64_t num_rows_;
  const int num_strips_;
  const T* values_;
  const bool* heads_;
  T* results_;
  int64_t rows_before_head_[kStrips];
  T totals_[kStrips];
  T carry_in_[kStrips];
};

}  // namespace internal

// Scans one row by all threads of `executor`. Padding becomes zero.
template <typename Op, bool kHasHeads, bool kExclusive>
void segmented_scan(Executor& executor, const ScanRow<typename Op::T>& row) {
  using T = typename Op::T;
  const int64_t num_chunks = (row.num_valid + internal::kChunkRows - 1) / internal::kChunkRows;
  const std::unique_ptr<internal::CarryOut<T>[]> carries(new internal::CarryOut<T>[num_chunks]);
  parallel_for(executor, num_chunks, [&](int, int64_t index) {
    internal::ChunkScan<Op, kHasHeads, kExclusive> chunk(row, index);
    chunk.scan_strips();
    const T carry_in = index == 0 ? Op::kIdentity : carries[index - 1].wait();
    carries[index].publish(chunk.combine_totals(carry_in));
    chunk.add_carries();
  });
  std::fill(row.results + row.num_valid, row.results + row.num_rows, T{0});
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SCAN_SEGMENTED_SCAN_H_
