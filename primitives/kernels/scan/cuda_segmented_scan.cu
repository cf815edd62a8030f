// SPDX-License-Identifier: Apache-2.0
#include "scan/cuda_segmented_scan.h"

#include <cstdint>
#include <type_traits>

#include "base/cuda_scratch.h"
#include "scan/cuda_scan_operators.cuh"
#include "scan/cuda_scan_tiles.cuh"

namespace jaxframes {
namespace {

// Rows of a batch are one line of positions, each row from its first row in the direction of the
// scan; the first position of a row is a head.
template <typename T, ScanOperator kOp, bool kWithHeads>
struct LineOfRows {
  using Value = T;
  static constexpr bool kHasHeads = kWithHeads;

  const T* values;
  const uint8_t* heads;
  const int32_t* num_valid;
  T* results;
  int64_t size;
  int64_t num_rows;
  int64_t width;
  bool reverse;
  bool exclusive;
  T flip;  // the sign bit, for the order of signed integers

  static __device__ T nothing() { return CudaOperator<T, kOp>::nothing(); }
  static __device__ T combine(T left, T right) { return CudaOperator<T, kOp>::combine(left, right); }
  static __device__ T restarted(T, T right) { return right; }

  struct Place {
    int64_t line;      // the row of the batch
    int64_t given;     // the row of the heads and counts
    int64_t row;       // the row within it
    int64_t position;  // from the start of the scan
  };

  __device__ Place place(int64_t position) const {
    int64_t line = 0, given = 0;
    if constexpr (kWithHeads) {
      if (size != num_rows) {
        // Divisions of 64 bits are several times as long.
        line = size <= 0xFFFFFFFF
                   ? static_cast<uint32_t>(position) / static_cast<uint32_t>(num_rows)
                   : position / num_rows;
        given = width == 1 ? line : line / width;
      }
    }
    const int64_t within = position - line * num_rows;
    return {line, given, reverse ? num_rows - 1 - within : within, within};
  }
  __device__ int64_t valid_rows(const Place& at) const {
    const int64_t valid = num_valid[at.given];
    return valid < 0 ? 0 : valid < num_rows ? valid : num_rows;
  }
  __device__ bool has_head(const Place& at) const {
    return heads != nullptr && heads[at.given * num_rows + at.row] != 0;
  }
  __device__ T flipped(T value) const {
    if constexpr (std::is_integral_v<T>) return value ^ flip;
    return value;
  }

  __device__ T value(int64_t position) const {
    const Place at = place(position);
    return at.row < valid_rows(at) ? flipped(values[at.line * num_rows + at.row]) : nothing();
  }
  __device__ bool is_head(int64_t position) const {
    const Place at = place(position);
    return at.position == 0 || has_head(at);
  }
  __device__ void store(int64_t position, T value) const {
    const Place at = place(position);
    const int64_t valid = valid_rows(at);
    T* const line = results + at.line * num_rows;
    if (!exclusive) {
      line[at.row] = at.row < valid ? flipped(value) : T(0);
      return;
    }
    // A row that starts a scan writes its own result, any other the result of its successor.
    if (is_start(at, valid)) line[at.row] = at.row < valid ? start() : T(0);
    if (at.position + 1 == num_rows) return;
    const Place next = {at.line, at.given, reverse ? at.row - 1 : at.row + 1, at.position + 1};
    if (!is_start(next, valid)) line[next.row] = next.row < valid ? flipped(value) : T(0);
  }
  __device__ bool is_start(const Place& at, int64_t valid) const {
    return at.position == 0 || at.row == (reverse ? valid - 1 : 0) || has_head(at);
  }
  __device__ T start() const { return flipped(CudaOperator<T, kOp>::identity()); }
};

template <typename T, ScanOperator kOp, bool kWithHeads>
cudaError_t run(const CudaSegmentedScan& scan, T flip, void* memory, cudaStream_t stream) {
  LineOfRows<T, kOp, kWithHeads> rows;
  rows.values = static_cast<const T*>(scan.values);
  rows.heads = scan.heads;
  rows.num_valid = scan.num_valid;
  rows.results = static_cast<T*>(scan.results);
  rows.size = scan.batch * scan.num_rows;
  rows.num_rows = scan.num_rows;
  rows.width = scan.width;
  rows.reverse = scan.reverse;
  rows.exclusive = scan.exclusive;
  rows.flip = flip;
  CudaScratch scratch(memory);
  return scan_rows(rows, scratch, stream);
}

template <typename T, ScanOperator kOp>
cudaError_t run_heads(const CudaSegmentedScan& scan, T flip, void* memory, cudaStream_t stream) {
  return scan.heads != nullptr || scan.batch > 1 ? run<T, kOp, true>(scan, flip, memory, stream)
                                                 : run<T, kOp, false>(scan, flip, memory, stream);
}

}  // namespace

cudaError_t cuda_segmented_scan(const CudaSegmentedScan& scan, void* scratch,
                                cudaStream_t stream) {
  return with_scan_number(scan.number, [&](auto number, auto flip) {
    return with_scan_operator(scan.op, flip, [&](auto op, auto sign) {
      return run_heads<decltype(number), decltype(op)::value>(scan, sign, scratch, stream);
    });
  });
}

}  // namespace jaxframes
