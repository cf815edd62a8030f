// SPDX-License-Identifier: Apache-2.0
#include "reduce/cuda_tables.h"

#include <cstdint>
#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "base/cuda_rows.cuh"
#include "reduce/cuda_table_numbers.cuh"
#include "reduce/bins.h"

namespace jaxframes {
namespace {

constexpr int kThreads = 256;
constexpr int kAhead = 8;
// Enough for several blocks on each multiprocessor of any card; each adds its table once.
constexpr int64_t kMostBlocks = 1056;
constexpr unsigned kAllLanes = 0xFFFFFFFFu;

// CUDA has atomics on its own names of integers.
template <typename Number>
struct Atomic;
template <>
struct Atomic<int32_t> { using Type = int; };
template <>
struct Atomic<uint32_t> { using Type = unsigned; };
template <>
struct Atomic<int64_t> { using Type = long long; };
template <>
struct Atomic<uint64_t> { using Type = unsigned long long; };

template <typename Number, TableOperator kOp>
struct Table {
  using Type = typename Atomic<Number>::Type;

  static __device__ Number nothing() {
    using Limits = cuda::std::numeric_limits<Number>;
    constexpr Number least = Limits::lowest(), greatest = Limits::max();
    return kOp == TableOperator::kAdd ? Number{0} : kOp == TableOperator::kMin ? greatest : least;
  }
  static __device__ void combine(Number* place, Number number) {
    if constexpr (kOp == TableOperator::kAdd) {
      // Sums wrap around, whatever the sign.
      using Unsigned = std::conditional_t<sizeof(Number) == 4, unsigned, unsigned long long>;
      atomicAdd(reinterpret_cast<Unsigned*>(place), static_cast<Unsigned>(number));
    } else if constexpr (kOp == TableOperator::kMin) {
      atomicMin(reinterpret_cast<Type*>(place), static_cast<Type>(number));
    } else {
      atomicMax(reinterpret_cast<Type*>(place), static_cast<Type>(number));
    }
  }
};

template <typename Rows, TableOperator kOp>
__global__ void __launch_bounds__(kThreads)
    reduce_in_tables(const int32_t* ids, const Rows rows, int64_t num_rows, int num_segments,
                     typename Rows::Number* results) {
  using Number = typename Rows::Number;
  using Of = Table<Number, kOp>;
  extern __shared__ __align__(16) unsigned char shared[];
  Number* const table = reinterpret_cast<Number*>(shared);
  for (int i = threadIdx.x; i < num_segments; i += kThreads) table[i] = Of::nothing();
  __syncthreads();
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads * kAhead;
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads * kAhead; first < num_rows;
       first += step) {
    int32_t segment[kAhead];
    Number number[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int64_t row = first + i * kThreads + threadIdx.x;
      segment[i] = row < num_rows ? ids[row] : -1;
      number[i] = row < num_rows ? rows.template of<kOp>(row) : Number{0};
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const bool is_inside = segment[i] >= 0 && segment[i] < num_segments;
      if constexpr (kOp == TableOperator::kAdd && sizeof(Number) == 4) {
        // All lanes in one segment, as in sorted rows, add up their numbers first.
        int is_same = 0;
        __match_all_sync(kAllLanes, segment[i], &is_same);
        if (is_same) {
          const unsigned sum = __reduce_add_sync(kAllLanes, static_cast<unsigned>(number[i]));
          if (is_inside && threadIdx.x % 32 == 0) {
            Of::combine(table + segment[i], static_cast<Number>(sum));
          }
          continue;
        }
      }
      if (is_inside) Of::combine(table + segment[i], number[i]);
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < num_segments; i += kThreads) {
    if (table[i] != Of::nothing()) Of::combine(results + i, table[i]);
  }
}

template <TableOperator kOp, typename Rows>
cudaError_t reduce_lines(const CudaSegmentReduce& call, const Rows& rows, cudaStream_t stream) {
  using Number = typename Rows::Number;
  using Of = Table<Number, kOp>;
  Number* const results = static_cast<Number*>(call.results);
  JAXFRAMES_RETURN_IF_FAILED(for_each_row_on_gpu(
      call.batch * call.num_segments,
      [=] __device__(int64_t at) { results[at] = Of::nothing(); }, stream));
  if (call.num_rows == 0) return cudaSuccess;
  const int64_t of_block = int64_t{kThreads} * kAhead;
  const int64_t wanted = (call.num_rows + of_block - 1) / of_block;
  const auto num_blocks = static_cast<unsigned>(wanted < kMostBlocks ? wanted : kMostBlocks);
  for (int64_t line = 0; line < call.batch; ++line) {
    reduce_in_tables<Rows, kOp>
        <<<num_blocks, kThreads, call.num_segments * sizeof(Number), stream>>>(
            call.ids + line * call.num_rows, rows.from(line * call.num_rows), call.num_rows,
            static_cast<int>(call.num_segments), results + line * call.num_segments);
    JAXFRAMES_RETURN_IF_FAILED(cudaGetLastError());
  }
  return cudaSuccess;
}

template <bool kHasSums, typename Rows>
cudaError_t reduce_rows(const CudaSegmentReduce& call, const Rows& rows, cudaStream_t stream) {
  if constexpr (kHasSums) {
    if (call.op == TableOperator::kAdd) {
      return reduce_lines<TableOperator::kAdd>(call, rows, stream);
    }
  }
  return call.op == TableOperator::kMin
             ? reduce_lines<TableOperator::kMin>(call, rows, stream)
             : reduce_lines<TableOperator::kMax>(call, rows, stream);
}

template <template <typename> typename Form, bool kHasSums, typename Row>
cudaError_t reduce_as(const CudaSegmentReduce& call, cudaStream_t stream) {
  return reduce_rows<kHasSums>(call, Form<Row>{static_cast<const Row*>(call.rows)}, stream);
}

cudaError_t reduce_numbers(const CudaSegmentReduce& call, cudaStream_t stream) {
  switch (call.type) {
    case TableRow::kS32: return reduce_as<RowNumbers, true, int32_t>(call, stream);
    case TableRow::kU32: return reduce_as<RowNumbers, true, uint32_t>(call, stream);
    case TableRow::kS64: return reduce_as<RowNumbers, true, int64_t>(call, stream);
    case TableRow::kU64: return reduce_as<RowNumbers, true, uint64_t>(call, stream);
    case TableRow::kF32: return reduce_as<RowNumbers, false, float>(call, stream);
    case TableRow::kF64: return reduce_as<RowNumbers, false, double>(call, stream);
    default: return reduce_rows<true>(call, RowPositions{}, stream);
  }
}

cudaError_t reduce_truth(const CudaSegmentReduce& call, cudaStream_t stream) {
  switch (call.type) {
    case TableRow::kU8: return reduce_as<RowTruth, false, uint8_t>(call, stream);
    case TableRow::kF32: return reduce_as<RowTruth, false, float>(call, stream);
    case TableRow::kF64: return reduce_as<RowTruth, false, double>(call, stream);
    case TableRow::kS64:
    case TableRow::kU64: return reduce_as<RowTruth, false, uint64_t>(call, stream);
    default: return reduce_as<RowTruth, false, uint32_t>(call, stream);
  }
}

cudaError_t find_first_rows(const CudaSegmentReduce& call, cudaStream_t stream) {
  switch (call.type) {
    case TableRow::kS32: return reduce_as<FirstRows, false, int32_t>(call, stream);
    case TableRow::kU32: return reduce_as<FirstRows, false, uint32_t>(call, stream);
    default: return reduce_as<FirstRows, false, float>(call, stream);
  }
}

template <typename Number, typename Edge>
__global__ void __launch_bounds__(kThreads)
    count_in_bins(const Number* numbers, const Edge* given_edges, const int32_t* num_valid,
                  int64_t num_rows, int num_bins, bool is_uniform, int32_t* counts) {
  extern __shared__ __align__(16) unsigned char shared[];
  Edge* const edges = reinterpret_cast<Edge*>(shared);
  int* const table = reinterpret_cast<int*>(edges + num_bins + 1);
  for (int i = threadIdx.x; i <= num_bins; i += kThreads) edges[i] = given_edges[i];
  for (int i = threadIdx.x; i < num_bins; i += kThreads) table[i] = 0;
  __syncthreads();
  const Edge first_edge = edges[0], last_edge = edges[num_bins];
  const Edge bins_per_unit = static_cast<Edge>(num_bins) / (last_edge - first_edge);
  // Outer edges that are nearly equal, infinitely far apart or NaN are searched.
  const bool can_compute = is_uniform && cuda::std::isfinite(bins_per_unit) && bins_per_unit > 0;
  const internal::UniformBins<Edge> uniform{edges, num_bins, first_edge, bins_per_unit};
  const internal::SearchedBins<Edge> searched{edges, num_bins};
  const int64_t valid = count_on_gpu(num_valid, 0, num_rows);
  const int64_t step = static_cast<int64_t>(gridDim.x) * kThreads * kAhead;
  for (int64_t first = static_cast<int64_t>(blockIdx.x) * kThreads * kAhead; first < valid;
       first += step) {
    Number number[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const int64_t row = first + i * kThreads + threadIdx.x;
      number[i] = row < valid ? numbers[row] : Number{};
    }
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      const Edge at = static_cast<Edge>(number[i]);
      if (first + i * kThreads + threadIdx.x < valid && at >= first_edge && at <= last_edge) {
        atomicAdd(table + (can_compute ? uniform.of(at) : searched.of(at)), 1);
      }
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < num_bins; i += kThreads) {
    if (table[i] != 0) atomicAdd(counts + i, table[i]);
  }
}

template <typename Number, typename Edge>
cudaError_t count_lines(const CudaHistogram& call, cudaStream_t stream) {
  const int64_t of_block = int64_t{kThreads} * kAhead;
  const int64_t wanted = (call.num_rows + of_block - 1) / of_block;
  const auto num_blocks = static_cast<unsigned>(wanted < kMostBlocks ? wanted : kMostBlocks);
  const size_t bytes = (call.num_bins + 1) * sizeof(Edge) + call.num_bins * sizeof(int32_t);
  for (int64_t line = 0; line < call.batch; ++line) {
    count_in_bins<Number, Edge><<<num_blocks, kThreads, bytes, stream>>>(
        static_cast<const Number*>(call.numbers) + line * call.num_rows,
        static_cast<const Edge*>(call.edges) + line * (call.num_bins + 1), call.num_valid + line,
        call.num_rows, static_cast<int>(call.num_bins), call.is_uniform,
        call.counts + line * call.num_bins);
    JAXFRAMES_RETURN_IF_FAILED(cudaGetLastError());
  }
  return cudaSuccess;
}

template <typename Edge>
cudaError_t count_of_edges(const CudaHistogram& call, cudaStream_t stream) {
  switch (call.type) {
    case BinnedNumber::kS32: return count_lines<int32_t, Edge>(call, stream);
    case BinnedNumber::kS64: return count_lines<int64_t, Edge>(call, stream);
    case BinnedNumber::kF32: return count_lines<float, Edge>(call, stream);
    default: return count_lines<double, Edge>(call, stream);
  }
}

}  // namespace

cudaError_t cuda_segment_reduce(const CudaSegmentReduce& call, cudaStream_t stream) {
  if (call.batch * call.num_segments == 0) return cudaSuccess;
  switch (call.form) {
    case TableForm::kNumbers: return reduce_numbers(call, stream);
    case TableForm::kTruth: return reduce_truth(call, stream);
    default: return find_first_rows(call, stream);
  }
}

cudaError_t cuda_histogram(const CudaHistogram& call, cudaStream_t stream) {
  const size_t bytes = call.batch * call.num_bins * sizeof(int32_t);
  if (bytes == 0) return cudaSuccess;
  JAXFRAMES_RETURN_IF_FAILED(cudaMemsetAsync(call.counts, 0, bytes, stream));
  if (call.num_rows == 0) return cudaSuccess;
  return call.has_wide_edges ? count_of_edges<double>(call, stream)
                             : count_of_edges<float>(call, stream);
}

}  // namespace jaxframes
