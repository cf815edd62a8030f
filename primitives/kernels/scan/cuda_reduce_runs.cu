// SPDX-License-Identifier: Apache-2.0
#include "scan/cuda_reduce_runs.h"

#include <cstdint>
#include <type_traits>

#include "base/cuda_rows.cuh"
#include "base/cuda_scratch.h"
#include "scan/cuda_scan_operators.cuh"
#include "scan/cuda_scan_tiles.cuh"

namespace jaxframes {
namespace {

// The last row of each run holds the combined rows of the run and its number.
template <typename T, ScanOperator kOp>
struct RowsOfRuns {
  using Value = RunState<T>;
  static constexpr bool kHasHeads = true;

  const T* values;
  const uint8_t* heads;
  const int32_t* num_valid;
  T* results;
  int64_t size;
  int64_t num_segments;
  T flip;  // the sign bit, for the order of signed integers

  static __device__ Value nothing() { return {CudaOperator<T, kOp>::nothing(), 0}; }
  static __device__ Value combine(Value left, Value right) {
    return {CudaOperator<T, kOp>::combine(left.value, right.value), left.run + right.run};
  }
  static __device__ Value restarted(Value left, Value right) {
    return {right.value, left.run + right.run};
  }

  __device__ int64_t valid_rows() const { return count_on_gpu(num_valid, 0, size); }
  __device__ T flipped(T value) const {
    if constexpr (std::is_integral_v<T>) return value ^ flip;
    return value;
  }

  __device__ bool is_head(int64_t position) const {
    return position < valid_rows() && heads[position] != 0;
  }
  __device__ Value value(int64_t position) const {
    if (position >= valid_rows()) return nothing();
    return {flipped(values[position]), heads[position] != 0 ? 1u : 0u};
  }
  __device__ void store(int64_t position, Value value) const {
    const int64_t valid = valid_rows(), segment = int64_t{value.run} - 1;
    // Rows before the first head are in no run.
    if (position >= valid || segment < 0 || segment >= num_segments) return;
    if (position + 1 == valid || heads[position + 1] != 0) results[segment] = flipped(value.value);
  }
};

template <typename T, ScanOperator kOp>
cudaError_t run(const CudaRunReduction& call, T flip, void* memory, cudaStream_t stream) {
  for (int64_t line = 0; line < call.batch; ++line) {
    RowsOfRuns<T, kOp> rows;
    rows.values = static_cast<const T*>(call.values) + line * call.num_rows;
    rows.heads = call.heads + line * call.num_rows;
    rows.num_valid = call.num_valid + line;
    rows.results = static_cast<T*>(call.results) + line * call.num_segments;
    rows.size = call.num_rows;
    rows.num_segments = call.num_segments;
    rows.flip = flip;
    CudaScratch scratch(memory);
    JAXFRAMES_RETURN_IF_FAILED(scan_rows(rows, scratch, stream));
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t cuda_reduce_runs(const CudaRunReduction& call, void* scratch, cudaStream_t stream) {
  return with_scan_number(call.number, [&](auto number, auto flip) {
    return with_scan_operator(call.op, flip, [&](auto op, auto sign) {
      return run<decltype(number), decltype(op)::value>(call, sign, scratch, stream);
    });
  });
}

}  // namespace jaxframes
