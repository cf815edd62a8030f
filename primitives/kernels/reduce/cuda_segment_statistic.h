// SPDX-License-Identifier: Apache-2.0
// Products and statistics of the floats of few segments on a GPU: one launch reads the rows, and one
// combines the tables of its blocks. Those about a center, the mean or the maximum, read them twice.
#ifndef JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_STATISTIC_H_
#define JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_STATISTIC_H_

#include <cuda_runtime_api.h>

#include <cstdint>

#include "base/cuda_scratch.h"
#include "reduce/cuda_segment_sum.h"

namespace jaxframes {

// The numbers are those of `_segment_statistic_cuda.py`. kExponentials is the sum of the exponentials
// of the distances from the maximum, and kLogsumexp its logarithm plus the maximum.
enum class SegmentStatistic : int32_t {
  kProduct, kMean, kVariance, kDeviation, kExponentials, kLogsumexp
};

// Whether rows are read twice, the second time with the centers of their segments.
inline bool has_centers(SegmentStatistic statistic) {
  return statistic >= SegmentStatistic::kVariance;
}

// `centers` are means, or maxima with zeros in place of infinities and NaN. A variance divides by
// the number of rows minus `ddof`.
struct CudaSegmentStatistic {
  SegmentStatistic statistic;
  const int32_t* ids;
  const void* numbers;
  void* results;
  void* centers;
  int number_bytes;
  int64_t ddof;
  int64_t batch;
  int64_t num_rows;
  int64_t num_segments;
};

// The tables of the blocks, and the number of rows of each segment.
template <typename Number>
struct StatisticMemory {
  Number* partial;
  int32_t* partial_counts;
  int32_t* counts;

  static StatisticMemory take(CudaScratch& scratch, int64_t num_rows, int64_t num_segments) {
    const auto blocks = TableBlocks::of(num_rows, num_segments, sizeof(Number));
    StatisticMemory memory;
    memory.partial = scratch.take<Number>(blocks.num_blocks * num_segments);
    memory.partial_counts = scratch.take<int32_t>(blocks.num_blocks * num_segments);
    memory.counts = scratch.take<int32_t>(num_segments);
    return memory;
  }
};

// Bytes of scratch for one row of a batch.
inline int64_t cuda_segment_statistic_scratch_bytes(int64_t num_rows, int64_t num_segments,
                                                    int number_bytes) {
  CudaScratch scratch;
  if (number_bytes == 8) {
    StatisticMemory<double>::take(scratch, num_rows, num_segments);
  } else {
    StatisticMemory<float>::take(scratch, num_rows, num_segments);
  }
  return scratch.bytes();
}

// There are rows, and at most kMostTableSegments segments.
cudaError_t cuda_segment_statistic(const CudaSegmentStatistic& call, void* scratch,
                                   cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_CUDA_SEGMENT_STATISTIC_H_
