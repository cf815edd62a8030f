// SPDX-License-Identifier: Apache-2.0
// Counts of numbers in bins: bin b is [edges[b], edges[b + 1]); the last bin includes its right
// edge. Numbers outside and NaN are in no bin.
#ifndef JAXFRAMES_KERNELS_REDUCE_HISTOGRAM_H_
#define JAXFRAMES_KERNELS_REDUCE_HISTOGRAM_H_

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "base/thread_pool.h"
#include "reduce/bins.h"

namespace jaxframes {

// One row of a batch. The edges ascend.
template <typename NumberType, typename EdgeType>
struct HistogramRow {
  using Number = NumberType;
  using Edge = EdgeType;

  const Number* numbers;
  int64_t num_valid;
  const Edge* edges;
  int64_t num_bins;
  // The edges are equidistant up to rounding.
  bool is_uniform;
  int32_t* counts;
};

namespace internal {

template <typename Row, typename Bins>
void count_rows(const Row& row, const Bins& bins, int64_t begin, int64_t end,
                int32_t* even_counts, int32_t* odd_counts) {
  using Edge = typename Row::Edge;
  const Edge first = row.edges[0], last = row.edges[row.num_bins];
  // Rows alternate between two tables, because adding to a count just written stalls. Numbers
  // outside all bins are counted after them, which avoids a branch.
  const auto position = [&](int64_t i) {
    const Edge number = static_cast<Edge>(row.numbers[i]);
    const bool is_inside = number >= first && number <= last;
    const int64_t bin = bins.of(is_inside ? number : first);
    return is_inside ? bin : row.num_bins;
  };
  int64_t i = begin;
  for (; i + 2 <= end; i += 2) {
    const int64_t even = position(i), odd = position(i + 1);
    ++even_counts[even];
    ++odd_counts[odd];
  }
  if (i < end) ++even_counts[position(i)];
}

}  // namespace internal

template <typename Row>
void histogram(Executor& executor, const Row& row) {
  using Edge = typename Row::Edge;
  const int64_t table_size = row.num_bins + 1;
  const Chunks chunks(row.num_valid, std::max<int64_t>(1 << 15, 4 * table_size),
                      executor.num_threads());
  const int64_t num_workers = std::min<int64_t>(executor.num_threads(), chunks.count);
  std::vector<int32_t> tables(2 * num_workers * table_size, 0);
  const Edge first = row.edges[0];
  const Edge bins_per_unit =
      static_cast<Edge>(row.num_bins) / (row.edges[row.num_bins] - first);
  // Outer edges that are nearly equal, infinitely far apart or NaN.
  const bool can_compute = std::isfinite(bins_per_unit) && bins_per_unit > 0;
  parallel_for(executor, chunks.count, [&](int worker, int64_t chunk) {
    int32_t* even = tables.data() + 2 * worker * table_size;
    const int64_t begin = chunks.begin(chunk), end = chunks.end(chunk);
    if (row.is_uniform && can_compute) {
      const internal::UniformBins<Edge> bins{row.edges, row.num_bins, first, bins_per_unit};
      internal::count_rows(row, bins, begin, end, even, even + table_size);
    } else {
      const internal::SearchedBins<Edge> bins{row.edges, row.num_bins};
      internal::count_rows(row, bins, begin, end, even, even + table_size);
    }
  });
  for (int64_t bin = 0; bin < row.num_bins; ++bin) {
    int32_t count = 0;
    for (int64_t table = 0; table < 2 * num_workers; ++table) {
      count += tables[table * table_size + bin];
    }
    row.counts[bin] = count;
  }
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_HISTOGRAM_H_
