// SPDX-License-Identifier: Apache-2.0
#include "reduce/cuda_pairwise_sum.h"

#include <cstdint>
#include <cuda/std/cmath>
#include <cuda/std/limits>

#include "base/cuda_rounded.cuh"
#include "base/cuda_rows.cuh"

namespace jaxframes {
namespace {

constexpr unsigned kAllLanes = 0xFFFFFFFFu;
constexpr int kLanes = SumTiles::kLanes, kBlocksOfTile = SumTiles::kBlocksOfTile;
constexpr int kTileThreads = kLanes * kBlocksOfTile;
constexpr int kMostThreads = 1024;

// A sum and what its additions round away, as in `contract/_compensated_sum.py`.
template <typename Sum>
struct SumAndRest {
  Sum sum, rest;

  __device__ void add(Sum number) {
    const Sum next = sum + number, added = next - sum;
    rest += (sum - (next - added)) + (number - added);
    sum = next;
  }
  __device__ void add(const SumAndRest& right) {
    rest += right.rest;
    add(right.sum);
  }
  // The rounded sum; zeros and NaNs without a sign.
  __device__ Sum rounded() const {
    const Sum total = sum + rest;
    const Sum found = cuda::std::isfinite(total) && rest != 0 ? total : sum;
    if (found != found) return cuda::std::numeric_limits<Sum>::quiet_NaN();
    return found == 0 ? Sum{0} : found;
  }
};

// The first of 16 lanes gets the sum of all: the second half is added to the first, and so on.
template <typename Sum>
__device__ void halve_lanes(SumAndRest<Sum>& own) {
#pragma unroll
  for (int half = kLanes / 2; half > 0; half /= 2) {
    const SumAndRest<Sum> right{__shfl_down_sync(kAllLanes, own.sum, half, kLanes),
                                __shfl_down_sync(kAllLanes, own.rest, half, kLanes)};
    own.add(right);
  }
}

template <typename Sum>
struct Term {
  // Null for the number itself.
  const Sum* center;
  bool skips_nan;

  template <typename Number>
  __device__ Sum of(Number number, Sum center_of_all) const {
    const Sum own = static_cast<Sum>(number);
    if (center == nullptr) return own;
    if (skips_nan && number != number) return 0;
    const Sum distance = own - center_of_all;
    return rounded_product(distance, distance);
  }
};

// Each 16 lanes add up one block of a tile, row by row.
template <typename Number, typename Sum>
__global__ void __launch_bounds__(kTileThreads)
    add_tiles(const Number* numbers, const int32_t* num_valid, int64_t num_rows,
              const SumTiles tiles, const Term<Sum> term, Sum* sums, Sum* rests) {
  __shared__ SumAndRest<Sum> of_blocks[kBlocksOfTile];
  const int lane = threadIdx.x % kLanes, place = threadIdx.x / kLanes;
  const int64_t valid = count_on_gpu(num_valid, 0, num_rows);
  const Sum center = term.center == nullptr ? Sum{0} : *term.center;
  const int64_t block = static_cast<int64_t>(blockIdx.x) + place * tiles.num_tiles;
  const int64_t first = block * SumTiles::kBlock + lane;
  SumAndRest<Sum> own{0, 0};
  if (first < valid) {
    own.sum = term.of(numbers[first], center);
#pragma unroll 8
    for (int row = 1; row < SumTiles::kRows; ++row) {
      const int64_t at = first + row * kLanes;
      own.add(at < valid ? term.of(numbers[at], center) : Sum{0});
    }
  }
  halve_lanes(own);
  if (lane == 0) of_blocks[place] = own;
  __syncthreads();
  if (threadIdx.x >= 32) return;
  own = of_blocks[lane];
  halve_lanes(own);
  if (threadIdx.x == 0) {
    sums[blockIdx.x] = own.sum;
    rests[blockIdx.x] = own.rest;
  }
}

// A thread halves the sums at its own distance from each other, in the order in which few of them
// wait: the numbers of positions are read with their bits in reverse. The threads then halve theirs.
template <typename Sum>
__global__ void __launch_bounds__(kMostThreads)
    halve_tiles(const Sum* sums, const Sum* rests, int num_tiles, Sum* result) {
  __shared__ SumAndRest<Sum> of_threads[kMostThreads];
  constexpr int kMostWaiting = 32;
  SumAndRest<Sum> waiting[kMostWaiting];
  const int num_threads = blockDim.x, of_thread = num_tiles / num_threads;
  const int bits = __popc(of_thread - 1);
  int num_waiting = 0;
  for (int i = 0; i < of_thread; ++i) {
    const unsigned position = bits == 0 ? 0 : __brev(static_cast<unsigned>(i)) >> (32 - bits);
    const int64_t at = threadIdx.x + static_cast<int64_t>(position) * num_threads;
    SumAndRest<Sum> right{sums[at], rests[at]};
    for (int left = i; (left & 1) != 0; left >>= 1) {
      SumAndRest<Sum> both = waiting[--num_waiting];
      both.add(right);
      right = both;
    }
    waiting[num_waiting++] = right;
  }
  of_threads[threadIdx.x] = waiting[0];
  for (int half = num_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) of_threads[threadIdx.x].add(of_threads[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) *result = of_threads[0].rounded();
}

template <typename Number, typename Sum>
cudaError_t add_lines(const CudaPairwiseSum& call, void* scratch, cudaStream_t stream) {
  const auto tiles = SumTiles::of(call.num_rows);
  const auto num_tiles = static_cast<unsigned>(tiles.num_tiles);
  for (int64_t line = 0; line < call.batch; ++line) {
    CudaScratch of_line(scratch);
    const auto memory = PairwiseSumMemory<Sum>::take(of_line, call.num_rows);
    const auto* const centers = static_cast<const Sum*>(call.centers);
    const Term<Sum> term{centers == nullptr ? nullptr : centers + line, call.skips_nan};
    add_tiles<Number, Sum><<<num_tiles, kTileThreads, 0, stream>>>(
        static_cast<const Number*>(call.numbers) + line * call.num_rows, call.num_valid + line,
        call.num_rows, tiles, term, memory.sums, memory.rests);
    JAXFRAMES_RETURN_IF_FAILED(cudaGetLastError());
    const unsigned num_threads = std::min<unsigned>(num_tiles, kMostThreads);
    halve_tiles<Sum><<<1, num_threads, 0, stream>>>(memory.sums, memory.rests,
                                                    static_cast<int>(num_tiles),
                                                    static_cast<Sum*>(call.sums) + line);
    JAXFRAMES_RETURN_IF_FAILED(cudaGetLastError());
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t cuda_pairwise_sum(const CudaPairwiseSum& call, void* scratch, cudaStream_t stream) {
  if (call.number_bytes == 8) return add_lines<double, double>(call, scratch, stream);
  return call.sum_bytes == 8 ? add_lines<float, double>(call, scratch, stream)
                             : add_lines<float, float>(call, scratch, stream);
}

}  // namespace jaxframes
