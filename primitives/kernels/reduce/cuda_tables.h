// SPDX-License-Identifier: Apache-2.0
// Histograms, and exact reductions of few segments, on a GPU. Atomics on the table of results
// take turns where rows share a segment; here each block has a table of its own in shared memory.
#ifndef JAXFRAMES_KERNELS_REDUCE_CUDA_TABLES_H_
#define JAXFRAMES_KERNELS_REDUCE_CUDA_TABLES_H_

#include <cuda_runtime_api.h>

#include <cstdint>

namespace jaxframes {

inline constexpr int64_t kMostTableBytes = 32768;
inline constexpr int64_t kMostBins = 2048;

// The numbers are those of `_tables_cuda.py`.
enum class TableOperator : int32_t { kAdd, kMin, kMax };
// What is combined: numbers, those of floating point as words in their order; one for each row that
// is not zero; or the word of each row above its position, to find the first of the best rows.
enum class TableForm : int32_t { kNumbers, kTruth, kFirstRows };
// kNone combines the positions of rows, or counts rows.
enum class TableRow { kNone, kU8, kS32, kU32, kF32, kS64, kU64, kF64 };

// An empty segment has the identity of the operator. Floating point has no sums here; the other
// forms have no sums at all.
struct CudaSegmentReduce {
  TableForm form;
  TableRow type;
  TableOperator op;
  const int32_t* ids;
  const void* rows;
  void* results;
  int64_t batch;
  int64_t num_rows;
  int64_t num_segments;
};

enum class BinnedNumber { kS32, kS64, kF32, kF64 };

struct CudaHistogram {
  BinnedNumber type;
  bool has_wide_edges;
  bool is_uniform;
  const void* numbers;
  const void* edges;
  const int32_t* num_valid;
  int32_t* counts;
  int64_t batch;
  int64_t num_rows;
  int64_t num_bins;
};

cudaError_t cuda_segment_reduce(const CudaSegmentReduce& call, cudaStream_t stream);
cudaError_t cuda_histogram(const CudaHistogram& call, cudaStream_t stream);

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_CUDA_TABLES_H_
