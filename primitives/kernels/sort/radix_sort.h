// SPDX-License-Identifier: Apache-2.0
// Stable radix sort of a batch of rows of integers or floating point numbers.
//
// A sort reads its keys once for their range, partitions them by the highest
// digit that varies into pieces that fit the cache, and sorts each piece by LSD
// passes. Against a plain LSD sort of all rows (Knuth, TAOCP 3, 5.2.5):
//   1. rows cross the memory bus twice, not once for each digit;
//   2. bits that do not vary are found per piece, and cost nothing;
//   3. 64-bit keys need few more passes than 32-bit ones: bits below the
//      distinguishing ones are read only for ties.
//
// Equal digits do not accumulate work: all threads partition a large piece again, each time by bits
// that vary in it.
#ifndef JAXFRAMES_KERNELS_SORT_RADIX_SORT_H_
#define JAXFRAMES_KERNELS_SORT_RADIX_SORT_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "sort/cached_radix_sort.h"
#include "sort/large_radix_sort.h"
#include "sort/row_sorter.h"
#include "sort/rows.h"
#include "base/thread_pool.h"

namespace jaxframes {

// Calls sort_row(executor, row, workspace) for each row of a batch. Threads divide the batch if it
// has enough rows for all; otherwise they divide each row.
template <typename Workspace, typename SortRow>
void sort_batch(Executor& executor, int64_t batch, int64_t num_rows, const SortRow& sort_row) {
  if (batch == 0 || num_rows == 0) return;
  const int64_t cached_rows = std::min(num_rows, kCachedRows);
  const int num_threads = executor.num_threads();
  if (batch < num_threads && num_rows > kCachedRows) {
    const Workspace workspace(cached_rows);
    for (int64_t row = 0; row < batch; ++row) sort_row(executor, row, workspace);
    return;
  }
  const Chunks tasks(batch, std::max<int64_t>(kPieceRows / num_rows, 1), num_threads);
  std::vector<std::unique_ptr<Workspace>> workspaces;
  for (int worker = 0; worker < std::min<int64_t>(num_threads, tasks.count); ++worker) {
    workspaces.push_back(std::make_unique<Workspace>(cached_rows));
  }
  parallel_for(executor, tasks.count, [&](int worker, int64_t task) {
    SerialExecutor serial;
    for (int64_t row = tasks.begin(task); row < tasks.end(task); ++row) {
      sort_row(serial, row, *workspaces[worker]);
    }
  });
}

// Sorts each row of a batch. `scratch` holds `batch` times
// radix_sort_row_scratch_bytes bytes, aligned to 64. The result does not depend on
// the number of threads.
template <SortVariant kVariant, typename Order>
void radix_sort(Executor& executor, const SortArguments<Order>& arguments, void* scratch) {
  using Key = typename Order::Key;
  using Sorter = internal::RowSorter<Order, kVariant>;
  using Workspace = SortWorkspace<Key, Sorter::kHasIds>;
  const int64_t num_rows = arguments.num_rows;
  const int64_t row_scratch_bytes =
      radix_sort_row_scratch_bytes(num_rows, sizeof(Key), kVariant);
  sort_batch<Workspace>(
      executor, arguments.batch, num_rows,
      [&](Executor& row_executor, int64_t row, const Workspace& workspace) {
        char* const row_scratch = static_cast<char*>(scratch) + row * row_scratch_bytes;
        Sorter(arguments, row, row_scratch).sort(row_executor, workspace);
      });
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_RADIX_SORT_H_
