// SPDX-License-Identifier: Apache-2.0
#include "scan/cuda_reduce_by_key.h"

#include <cstdint>
#include <type_traits>

#include "base/cuda_rows.cuh"
#include "base/cuda_scratch.h"
#include "scan/cuda_scan_operators.cuh"
#include "scan/cuda_scan_tiles.cuh"

namespace jaxframes {
namespace {

// The runs of one row of the batch. Each row writes to one position of the kept columns: a head to
// that of its run. Any other row means one run fewer than rows are left, so that it writes zeros
// to the last position that no run can reach any more. No pass over the padding is needed.
struct RunsOfRows {
  const uint8_t* heads;
  const int32_t* num_valid;
  const int32_t* row_ids;
  int32_t* count;
  int32_t* run_ids;
  int64_t size;
  int64_t capacity;
  RunColumns columns;

  __device__ int64_t valid_rows() const { return count_on_gpu(num_valid, 0, size); }

  template <typename Word>
  __device__ bool differs(int64_t position) const {
    const auto* const words = static_cast<const Word*>(columns.words[0].source);
    return words[position] != words[position - 1];
  }
  __device__ bool is_head(int64_t position) const {
    if (position >= valid_rows()) return false;
    if (heads != nullptr) return heads[position] != 0;
    if (position == 0) return true;
    return columns.words[0].word_bytes == 4 ? differs<uint32_t>(position)
                                            : differs<uint64_t>(position);
  }

  // The position of the padding that a row fills, given the number of runs up to it.
  __device__ int64_t padding(int64_t position, int64_t run) const {
    const int64_t valid = valid_rows();
    return position < valid ? run + valid - 1 - position : position;
  }
  template <typename Word>
  __device__ static void keep(const KeptWords& kept, int64_t from, int64_t to, bool is_kept) {
    static_cast<Word*>(kept.kept)[to] = is_kept ? static_cast<const Word*>(kept.source)[from] : 0;
  }
  __device__ void store_run_id(int64_t position, int32_t run_id) const {
    const int64_t to = row_ids == nullptr ? position : row_ids[position];
    if (to >= 0 && to < size) run_ids[to] = run_id;
  }
  // Stores the first row of a run, or zeros, the number of all runs, and the run of the row.
  __device__ void store(int64_t position, int64_t run) const {
    const int64_t valid = valid_rows();
    if (position == (valid == 0 ? 0 : valid - 1)) *count = static_cast<int32_t>(run);
    if (run_ids != nullptr) {
      store_run_id(position, position < valid ? static_cast<int32_t>(run - 1) : -1);
    }
    const bool is_kept = is_head(position);
    const int64_t to = is_kept ? run - 1 : padding(position, run);
    if (to < 0 || to >= capacity) return;
    for (int i = 0; i < columns.count; ++i) {
      const KeptWords& kept = columns.words[i];
      if (kept.kept == nullptr) continue;
      switch (kept.word_bytes) {
        case 1: keep<uint8_t>(kept, position, to, is_kept); break;
        case 2: keep<uint16_t>(kept, position, to, is_kept); break;
        case 4: keep<uint32_t>(kept, position, to, is_kept); break;
        default: keep<uint64_t>(kept, position, to, is_kept);
      }
    }
  }
};

// A scan of the number of heads.
struct HeadsOfRuns {
  using Value = uint32_t;
  static constexpr bool kHasHeads = false;

  RunsOfRows runs;
  int64_t size;

  static __device__ Value nothing() { return 0; }
  static __device__ Value combine(Value left, Value right) { return left + right; }
  static __device__ Value restarted(Value left, Value right) { return left + right; }

  __device__ Value value(int64_t position) const { return runs.is_head(position) ? 1 : 0; }
  __device__ void store(int64_t position, Value value) const { runs.store(position, value); }
};

// A scan of the rows, or of ones, and of the number of heads. The last row of a run stores the
// combined rows.
template <typename T, ScanOperator kOp>
struct ReducedRuns {
  using Value = RunState<T>;
  static constexpr bool kHasHeads = true;

  RunsOfRows runs;
  int64_t size;
  const T* values;  // null for ones
  T* results;
  T flip;  // the sign bit, for the order of signed integers

  static __device__ Value nothing() { return {CudaOperator<T, kOp>::nothing(), 0}; }
  static __device__ Value combine(Value left, Value right) {
    return {CudaOperator<T, kOp>::combine(left.value, right.value), left.run + right.run};
  }
  static __device__ Value restarted(Value left, Value right) {
    return {right.value, left.run + right.run};
  }
  __device__ T flipped(T value) const {
    if constexpr (std::is_integral_v<T>) return value ^ flip;
    return value;
  }

  __device__ bool is_head(int64_t position) const { return runs.is_head(position); }
  __device__ Value value(int64_t position) const {
    if (position >= runs.valid_rows()) return nothing();
    const T row = values == nullptr ? T{1} : flipped(values[position]);
    return {row, runs.is_head(position) ? 1u : 0u};
  }
  __device__ void store(int64_t position, Value value) const {
    runs.store(position, value.run);
    const int64_t valid = runs.valid_rows(), run = int64_t{value.run} - 1;
    // Rows before the first head are in no run.
    if (position < valid && run >= 0 && run < runs.capacity &&
        (position + 1 == valid || runs.is_head(position + 1))) {
      results[run] = flipped(value.value);
    }
    if (!runs.is_head(position)) {
      const int64_t to = runs.padding(position, value.run);
      if (to < runs.capacity) results[to] = 0;
    }
  }
};

// The runs of one row of the batch, in arrays of the whole batch.
RunsOfRows runs_of_line(const CudaReduceByKey& call, int64_t line) {
  RunsOfRows runs{call.heads == nullptr ? nullptr : call.heads + line * call.num_rows,
                  call.num_valid + line,
                  call.row_ids == nullptr ? nullptr : call.row_ids + line * call.num_rows,
                  call.count + line,
                  call.run_ids == nullptr ? nullptr : call.run_ids + line * call.num_rows,
                  call.num_rows,
                  call.capacity,
                  call.columns};
  for (int i = 0; i < runs.columns.count; ++i) {
    KeptWords& kept = runs.columns.words[i];
    kept.source =
        static_cast<const char*>(kept.source) + line * call.num_rows * kept.word_bytes;
    if (kept.kept == nullptr) continue;
    kept.kept = static_cast<char*>(kept.kept) + line * call.capacity * kept.word_bytes;
  }
  return runs;
}

template <typename T>
const T* values_of_line(const CudaReduceByKey& call, int64_t line) {
  if (call.values == nullptr) return nullptr;
  return static_cast<const T*>(call.values) + line * call.num_rows;
}

template <typename T, ScanOperator kOp>
cudaError_t reduce(const CudaReduceByKey& call, T flip, void* memory, cudaStream_t stream) {
  for (int64_t line = 0; line < call.batch; ++line) {
    const ReducedRuns<T, kOp> rows{runs_of_line(call, line), call.num_rows,
                                   values_of_line<T>(call, line),
                                   static_cast<T*>(call.results) + line * call.capacity, flip};
    CudaScratch scratch(memory);
    JAXFRAMES_RETURN_IF_FAILED(scan_rows(rows, scratch, stream));
  }
  return cudaSuccess;
}

cudaError_t keep_first_rows(const CudaReduceByKey& call, void* memory, cudaStream_t stream) {
  for (int64_t line = 0; line < call.batch; ++line) {
    CudaScratch scratch(memory);
    const HeadsOfRuns rows{runs_of_line(call, line), call.num_rows};
    JAXFRAMES_RETURN_IF_FAILED(scan_rows(rows, scratch, stream));
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t cuda_reduce_by_key(const CudaReduceByKey& call, void* scratch, cudaStream_t stream) {
  if (call.num_rows == 0) {
    return cudaMemsetAsync(call.count, 0, call.batch * sizeof(int32_t), stream);
  }
  if (call.results == nullptr) return keep_first_rows(call, scratch, stream);
  return with_scan_number(call.number, [&](auto number, auto flip) {
    return with_scan_operator(call.op, flip, [&](auto op, auto sign) {
      return reduce<decltype(number), decltype(op)::value>(call, sign, scratch, stream);
    });
  });
}

}  // namespace jaxframes
