// SPDX-License-Identifier: Apache-2.0
// The k smallest keys of a row, in stable order, in one pass over the keys.
#ifndef JAXFRAMES_KERNELS_SORT_TOP_K_H_
#define JAXFRAMES_KERNELS_SORT_TOP_K_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sort/radix_sort.h"
#include "base/thread_pool.h"

namespace jaxframes {

// One row of a batch.
template <typename Order>
struct TopKRow {
  using Key = typename Order::Key;

  const Key* keys;
  int64_t num_rows;
  int64_t num_valid;
  int64_t k;
  Order order;
  int32_t* row_ids;
};

// A candidate for the k smallest with its ordered key; ties are broken by row id.
template <typename Key>
struct Candidate {
  Key key;
  int32_t row_id;

  bool operator<(const Candidate& other) const {
    return key < other.key || (key == other.key && row_id < other.row_id);
  }
};

// The k smallest rows of one thread so far. Holds up to about 2k rows, then drops all but k: O(1)
// per row for any input order.
template <typename Order>
class Candidates {
 public:
  using Key = typename Order::Key;

  explicit Candidates(int64_t k) : k_(k), capacity_(2 * k + kBlockRows) {
    rows_.reserve(capacity_);
  }

  // Reads rows [begin, end), which follow the rows read before.
  void read(const TopKRow<Order>& row, int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; block += kBlockRows) {
      const int64_t block_end = std::min(block + kBlockRows, end);
      if (is_full_ && !any_below_threshold(row, block, block_end)) continue;
      for (int64_t i = block; i < block_end; ++i) {
        const Key key = row.order.ordered(row.keys[i]);
        // A row equal to the threshold comes after k others.
        if (!is_full_ || key < threshold_) rows_.push_back({key, static_cast<int32_t>(i)});
      }
      if (static_cast<int64_t>(rows_.size()) > capacity_ - kBlockRows) prune();
    }
  }

  void prune() {
    if (static_cast<int64_t>(rows_.size()) < k_) return;
    std::nth_element(rows_.begin(), rows_.begin() + (k_ - 1), rows_.end());
    rows_.resize(k_);
    threshold_ = rows_[k_ - 1].key;
    is_full_ = true;
  }

  void absorb(const Candidates& other) {
    rows_.insert(rows_.end(), other.rows_.begin(), other.rows_.end());
  }

  std::vector<Candidate<Key>>& sorted() {
    prune();
    std::sort(rows_.begin(), rows_.end());
    return rows_;
  }

 private:
  static constexpr int64_t kBlockRows = 256;

  // Most blocks of a long row have none, so this loop is their only cost.
  bool any_below_threshold(const TopKRow<Order>& row, int64_t begin, int64_t end) const {
    bool any = false;
    for (int64_t i = begin; i < end; ++i) {
      any |= row.order.ordered(row.keys[i]) < threshold_;
    }
    return any;
  }

  const int64_t k_;
  const int64_t capacity_;
  std::vector<Candidate<Key>> rows_;
  Key threshold_ = 0;
  bool is_full_ = false;
};

namespace internal {

// Sorts all rows and writes the first k, which is faster for k near num_rows.
template <typename Order>
void top_k_by_argsort(Executor& executor, const TopKRow<Order>& row) {
  constexpr int kKeyBytes = sizeof(typename Order::Key);
  const int64_t scratch_bytes =
      radix_sort_row_scratch_bytes(row.num_rows, kKeyBytes, SortVariant::kArgsort);
  const std::unique_ptr<char[]> scratch(new char[scratch_bytes + 64]);
  const std::unique_ptr<int32_t[]> row_ids(new int32_t[row.num_rows]);
  const int32_t num_valid = static_cast<int32_t>(row.num_valid);
  const SortArguments<Order> arguments = {
      1,       row.num_rows,  row.keys, nullptr, &num_valid,
      nullptr, row_ids.get(), row.order, 8 * kKeyBytes};
  char* aligned = scratch.get() + (64 - reinterpret_cast<uintptr_t>(scratch.get()) % 64);
  radix_sort<SortVariant::kArgsort>(executor, arguments, aligned);
  std::copy(row_ids.get(), row_ids.get() + row.k, row.row_ids);
}

}  // namespace internal

// Selects from one row by all threads of `executor`. Padding comes after all valid
// rows, in row order.
template <typename Order>
void top_k(Executor& executor, const TopKRow<Order>& row) {
  if (row.k == 0) return;
  if (row.k > row.num_rows / 32 && row.num_rows > 256) {
    return internal::top_k_by_argsort(executor, row);
  }
  const int64_t k = std::min(row.k, row.num_valid);
  if (k > 0) {
    const Chunks chunks(row.num_valid, std::max<int64_t>(1 << 15, 4 * k),
                        executor.num_threads());
    std::vector<Candidates<Order>> candidates;
    candidates.reserve(chunks.count);
    for (int64_t chunk = 0; chunk < chunks.count; ++chunk) candidates.emplace_back(k);
    parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
      candidates[chunk].read(row, chunks.begin(chunk), chunks.end(chunk));
      candidates[chunk].prune();
    });
    for (int64_t chunk = 1; chunk < chunks.count; ++chunk) {
      candidates[0].absorb(candidates[chunk]);
    }
    const auto& sorted = candidates[0].sorted();
    for (int64_t i = 0; i < k; ++i) row.row_ids[i] = sorted[i].row_id;
  }
  for (int64_t i = k; i < row.k; ++i) row.row_ids[i] = static_cast<int32_t>(i);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_TOP_K_H_
