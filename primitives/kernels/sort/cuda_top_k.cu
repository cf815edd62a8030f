// SPDX-License-Identifier: Apache-2.0
#include "sort/cuda_top_k.h"

#include <cub/device/device_topk.cuh>
#include <cuda/iterator>

#include <cstdint>

#include "base/cuda_rows.cuh"
#include "base/key_order.h"

namespace jaxframes {
namespace {

// The number of a row: its word in key order, and below it the row id. No two rows have the same
// number, so that CUB's selection, which may take any of equal numbers, is the one of a stable
// sort.
struct NumberOfRow {
  const uint32_t* words;
  const int32_t* num_valid;
  int64_t num_rows;
  IntegerOrder<uint32_t> integers;
  FloatOrder<uint32_t> floats;
  bool is_floating;

  __device__ uint64_t operator()(int64_t row) const {
    const uint32_t word = words[row];
    uint32_t ordered = is_floating ? floats.ordered(word) : integers.ordered(word);
    // Padding comes last.
    if (row >= count_on_gpu(num_valid, 0, num_rows)) ordered = 0xFFFFFFFFu;
    return uint64_t{ordered} << 32 | static_cast<uint32_t>(row);
  }
};

}  // namespace

cudaError_t cuda_top_k(const CudaTopK& call, void* scratch, cudaStream_t stream) {
  if (call.k == 0) return cudaSuccess;
  const auto requirements = cuda::execution::require(cuda::execution::determinism::not_guaranteed,
                                                     cuda::execution::output_ordering::unsorted);
  const cuda::stream_ref on_stream(stream);
  const auto environment = cuda::std::execution::env{on_stream, requirements};
  for (int64_t line = 0; line < call.batch; ++line) {
    CudaScratch arrays(scratch);
    const auto memory = CudaTopKMemory::take(arrays, call.num_rows, call.k);
    const NumberOfRow number{call.words + line * call.num_rows,
                             call.num_valid + line,
                             call.num_rows,
                             IntegerOrder<uint32_t>{call.flip},
                             FloatOrder<uint32_t>(call.flip != 0),
                             call.is_floating};
    const auto numbers =
        cuda::make_transform_iterator(cuda::make_counting_iterator(int64_t{0}), number);
    const auto select = [&](void* cub, size_t& bytes) {
      return cub::DeviceTopK::MinKeys(cub, bytes, numbers, memory.selected,
                                      static_cast<uint32_t>(call.num_rows),
                                      static_cast<uint32_t>(call.k), environment);
    };
    size_t needed = 0;
    JAXFRAMES_RETURN_IF_FAILED(select(nullptr, needed));
    if (static_cast<int64_t>(needed) > memory.cub_bytes) return cudaErrorMemoryAllocation;
    JAXFRAMES_RETURN_IF_FAILED(select(memory.cub, needed));
    JAXFRAMES_RETURN_IF_FAILED(
        cuda_sort_numbers(memory.selected, memory.sorted, call.k, memory.sort, stream));
    int32_t* const row_ids = call.row_ids + line * call.k;
    const uint64_t* const sorted = memory.sorted;
    JAXFRAMES_RETURN_IF_FAILED(for_each_row_on_gpu(
        call.k, [=] __device__(int64_t at) { row_ids[at] = static_cast<int32_t>(sorted[at]); },
        stream));
  }
  return cudaSuccess;
}

}  // namespace jaxframes
