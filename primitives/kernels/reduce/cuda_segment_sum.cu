// SPDX-License-Identifier: Apache-2.0
#include "reduce/cuda_segment_sum.h"

#include <algorithm>
#include <cstdint>

#include "base/cuda_rows.cuh"
#include "reduce/cuda_segment_tables.cuh"
#include "scan/cuda_scan_tiles.cuh"

namespace jaxframes {
namespace {

// The rows in the order of their segments, scanned so that the last row of each has its sum.
template <typename Number>
struct SortedSums {
  using Value = Number;
  static constexpr bool kHasHeads = true;

  const uint32_t* segments;
  const Number* numbers;
  Number* sums;
  int64_t size;
  uint32_t num_segments;

  static __device__ Number nothing() { return -0.0; }
  static __device__ Number combine(Number left, Number right) { return left + right; }
  static __device__ Number restarted(Number, Number right) { return right; }
  __device__ Number value(int64_t at) const { return numbers[at]; }
  __device__ bool is_head(int64_t at) const {
    return at == 0 || segments[at] != segments[at - 1];
  }
  __device__ void store(int64_t at, Number sum) const {
    const uint32_t segment = segments[at];
    if (segment < num_segments && (at + 1 == size || segments[at + 1] != segment)) {
      // A sum starts at 0.0, and so none is -0.0.
      sums[segment] = Number{0} + sum;
    }
  }
};

template <typename Id, typename Number>
cudaError_t sum_few(const SegmentsOnGpu<Id>& segments, const Number* numbers, Number* sums,
                    CudaScratch scratch, cudaStream_t stream) {
  const int64_t num_segments = static_cast<int64_t>(segments.num_segments);
  const auto blocks = TableBlocks::of(segments.num_rows, num_segments, sizeof(Number));
  Number* const partial = scratch.take<Number>(blocks.num_blocks * num_segments);
  const auto store = [=] __device__(int64_t segment, Number sum, int32_t) { sums[segment] = sum; };
  return combine_few<Plus, false>(segments, numbers, NumberItself{}, partial, nullptr, store,
                                  stream);
}

template <typename Id, typename Number>
cudaError_t sum_many(const SegmentsOnGpu<Id>& segments, const Number* numbers, Number* sums,
                     CudaScratch scratch, cudaStream_t stream) {
  const auto memory = SortedSegments::take(scratch, segments.num_rows, sizeof(Number));
  const auto tiles = ScanTiles<Number>::take(scratch, segments.num_rows);
  const uint32_t num_segments = static_cast<uint32_t>(segments.num_segments);
  uint32_t* const of_rows = memory.segments;
  // One launch finds the segments of the rows, and clears the sums and the flags of the scan.
  const int64_t num_flags = tiles.num_tiles + 1;
  JAXFRAMES_RETURN_IF_FAILED(for_each_row_on_gpu(
      std::max({segments.num_rows, static_cast<int64_t>(num_segments), num_flags}),
      [=] __device__(int64_t at) {
        if (at < segments.num_rows) {
          const uint32_t segment = segments(at, segments.valid(), segments.first());
          of_rows[at] = min(segment, num_segments);
        }
        if (at < num_segments) sums[at] = 0;
        if (at < num_flags) tiles.flags[at] = 0;
      },
      stream));
  JAXFRAMES_RETURN_IF_FAILED(cuda_sort_numbers(
      memory.segments, memory.sorted_segments, numbers, memory.sorted_numbers, sizeof(Number),
      segments.num_rows, bit_length(num_segments), memory.sort, stream));
  return scan_in_tiles(
      SortedSums<Number>{memory.sorted_segments,
                         reinterpret_cast<const Number*>(memory.sorted_numbers), sums,
                         segments.num_rows, num_segments},
      tiles, stream);
}

template <typename Id, typename Number>
cudaError_t sum_lines(const CudaSegmentSum& call, void* scratch, cudaStream_t stream) {
  for (int64_t line = 0; line < call.batch; ++line) {
    const SegmentsOnGpu<Id> segments{
        static_cast<const Id*>(call.ids) + line * call.num_rows,
        static_cast<const Id*>(call.first_id) + line, call.num_valid + line, call.num_rows,
        static_cast<uint64_t>(call.num_segments)};
    const auto* const numbers = static_cast<const Number*>(call.numbers) + line * call.num_rows;
    auto* const sums = static_cast<Number*>(call.sums) + line * call.num_segments;
    JAXFRAMES_RETURN_IF_FAILED(
        call.num_segments <= kMostTableSegments
            ? sum_few(segments, numbers, sums, CudaScratch(scratch), stream)
            : sum_many(segments, numbers, sums, CudaScratch(scratch), stream));
  }
  return cudaSuccess;
}

template <typename Id>
cudaError_t sum_numbers(const CudaSegmentSum& call, void* scratch, cudaStream_t stream) {
  return call.number_bytes == 4 ? sum_lines<Id, float>(call, scratch, stream)
                                : sum_lines<Id, double>(call, scratch, stream);
}

}  // namespace

cudaError_t cuda_segment_sum(const CudaSegmentSum& call, void* scratch, cudaStream_t stream) {
  if (call.num_segments == 0) return cudaSuccess;
  if (call.num_rows == 0) {
    const size_t bytes = call.batch * call.num_segments * call.number_bytes;
    return bytes == 0 ? cudaSuccess : cudaMemsetAsync(call.sums, 0, bytes, stream);
  }
  switch (call.id_type) {
    case SegmentId::kS32: return sum_numbers<int32_t>(call, scratch, stream);
    case SegmentId::kU32: return sum_numbers<uint32_t>(call, scratch, stream);
    case SegmentId::kS64: return sum_numbers<int64_t>(call, scratch, stream);
    default: return sum_numbers<uint64_t>(call, scratch, stream);
  }
}

}  // namespace jaxframes
