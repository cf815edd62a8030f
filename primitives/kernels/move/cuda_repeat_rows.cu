// SPDX-License-Identifier: Apache-2.0
#include "move/cuda_repeat_rows.h"

#include <cstdint>

#include "base/cuda_rows.cuh"
#include "scan/cuda_scan_tiles.cuh"

namespace jaxframes {
namespace {

// A sum of the copies, without overflow. Each row with a copy marks its first one.
struct MarkedRows {
  using Value = uint64_t;
  static constexpr bool kHasHeads = false;

  const int32_t* repeats;
  const int32_t* num_valid;
  int32_t* marks;
  int32_t* count;
  int64_t size;
  int64_t capacity;

  static __device__ Value nothing() { return 0; }
  static __device__ Value combine(Value left, Value right) { return left + right; }
  static __device__ Value restarted(Value left, Value right) { return left + right; }

  __device__ Value value(int64_t position) const {
    if (position >= count_on_gpu(num_valid, 0, size)) return 0;
    const int32_t copies = repeats[position];
    return copies < 0 ? 0 : copies;
  }
  __device__ void store(int64_t position, Value end) const {
    const Value copies = value(position), begin = end - copies;
    if (copies != 0 && begin < static_cast<Value>(capacity)) {
      // Zero marks no row.
      marks[begin] = static_cast<int32_t>(position + 1);
    }
    if (position + 1 == size) {
      constexpr Value kMost = 0x7FFFFFFF;
      *count = static_cast<int32_t>(end < kMost ? end : kMost);
    }
  }
};

// The last mark up to each position, and the position of it above.
struct RowsOfMarks {
  using Value = uint64_t;
  static constexpr bool kHasHeads = false;

  const int32_t* marks;
  const int32_t* count;
  int32_t* row_ids;
  int32_t* copies;
  int64_t size;

  static __device__ Value nothing() { return 0; }
  static __device__ Value combine(Value left, Value right) { return left < right ? right : left; }
  static __device__ Value restarted(Value left, Value right) { return combine(left, right); }

  __device__ Value value(int64_t position) const {
    const auto mark = static_cast<uint32_t>(marks[position]);
    return mark == 0 ? 0 : static_cast<Value>(position) << 32 | (mark - 1);
  }
  __device__ void store(int64_t position, Value last) const {
    const bool is_copy = position < *count;
    const auto number = static_cast<int32_t>(position - static_cast<int64_t>(last >> 32));
    row_ids[position] = is_copy ? static_cast<int32_t>(last & 0xFFFFFFFF) : -1;
    copies[position] = is_copy ? number : 0;
  }
};

}  // namespace

cudaError_t cuda_repeat_rows(const CudaRepeatRows& call, void* memory, cudaStream_t stream) {
  CudaScratch scratch(memory);
  const auto arrays = RepeatScratch::take(scratch, call.num_rows, call.capacity);
  for (int64_t line = 0; line < call.batch; ++line) {
    JAXFRAMES_RETURN_IF_FAILED(
        cudaMemsetAsync(arrays.zeros, 0, arrays.num_zero_bytes, stream));
    const MarkedRows rows{call.repeats + line * call.num_rows, call.num_valid + line,
                          arrays.marks, call.count + line, call.num_rows, call.capacity};
    JAXFRAMES_RETURN_IF_FAILED(scan_in_tiles(rows, arrays.of_rows, stream));
    const RowsOfMarks marked{arrays.marks, call.count + line, call.row_ids + line * call.capacity,
                             call.copies + line * call.capacity, call.capacity};
    JAXFRAMES_RETURN_IF_FAILED(scan_in_tiles(marked, arrays.of_marks, stream));
  }
  return cudaSuccess;
}

}  // namespace jaxframes
