// SPDX-License-Identifier: Apache-2.0
#include "move/cuda_compact.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/cuda_rows.cuh"
#include "move/kept_words.h"

namespace jaxframes {
namespace {

constexpr int kThreads = 512;
constexpr int kFlagsPerThread = 16;
constexpr int kTile = kThreads * kFlagsPerThread;
constexpr int kTilesPerChunk = static_cast<int>(kFlagChunkRows) / kTile;
// Fewer chunks than this leave multiprocessors idle, so that several blocks share a chunk.
constexpr int64_t kFewChunks = 512;

// Bit i tells whether row `first + i` is flagged and below `end`.
__device__ uint32_t flag_bits(const uint8_t* mask, int64_t first, int64_t end) {
  uint32_t bits = 0;
  if (first + kFlagsPerThread <= end && reinterpret_cast<uintptr_t>(mask + first) % 16 == 0) {
    const uint4 words = *reinterpret_cast<const uint4*>(mask + first);
    const uint32_t quarters[4] = {words.x, words.y, words.z, words.w};
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      // The lowest bit of each byte, and then the four bits side by side.
      bits |= ((quarters[q] & 0x01010101u) * 0x10204080u >> 28) << 4 * q;
    }
    return bits;
  }
  for (int i = 0; i < kFlagsPerThread; ++i) {
    if (first + i < end && (mask[first + i] & 1) != 0) bits |= 1u << i;
  }
  return bits;
}

__global__ void __launch_bounds__(kThreads)
    count_chunks(const CudaFlags flags, const int32_t* num_valid, int32_t* counts) {
  using Reduce = cub::BlockReduce<int32_t, kThreads>;
  __shared__ typename Reduce::TempStorage shared;
  const int64_t line = blockIdx.y, first = static_cast<int64_t>(blockIdx.x) * kFlagChunkRows;
  const int64_t end = min(first + kFlagChunkRows, count_on_gpu(num_valid, line, flags.num_rows));
  const uint8_t* const mask = flags.mask + line * flags.num_rows;
  int32_t count = 0;
#pragma unroll
  for (int tile = 0; tile < kTilesPerChunk; ++tile) {
    count += __popc(flag_bits(mask, first + tile * kTile + threadIdx.x * kFlagsPerThread, end));
  }
  count = Reduce(shared).Sum(count);
  if (threadIdx.x == 0) counts[line * gridDim.x + blockIdx.x] = count;
}

// Turns the counts of the chunks of each row of the batch into those before them.
__global__ void __launch_bounds__(kThreads)
    add_up_chunks(int64_t num_chunks, int32_t* counts, int32_t* totals) {
  using Scan = cub::BlockScan<int32_t, kThreads>;
  __shared__ typename Scan::TempStorage shared;
  int32_t* const line = counts + blockIdx.x * num_chunks;
  int32_t before = 0;
  for (int64_t first = 0; first < num_chunks; first += kThreads) {
    const int64_t chunk = first + threadIdx.x;
    int32_t count = chunk < num_chunks ? line[chunk] : 0, sum, total;
    Scan(shared).ExclusiveSum(count, sum, total);
    if (chunk < num_chunks) line[chunk] = before + sum;
    before += total;
    __syncthreads();
  }
  if (threadIdx.x == 0) totals[blockIdx.x] = before;
}

struct KeptGroup {
  static constexpr int kMost = 16;
  KeptWords words[kMost];
  int count;
};

template <typename Word>
__device__ void keep_word(const KeptWords& kept, int64_t from, int64_t to) {
  static_cast<Word*>(kept.kept)[to] = static_cast<const Word*>(kept.source)[from];
}

// A block moves a part of a chunk. `num_parts` blocks share one.
__global__ void __launch_bounds__(kThreads)
    move_flagged(const CudaFlags flags, const int32_t* before, const int32_t* counts,
                 const KeptGroup group, int64_t capacity, int num_parts) {
  using Scan = cub::BlockScan<int32_t, kThreads>;
  __shared__ typename Scan::TempStorage shared;
  __shared__ uint16_t rows[kTile];
  const int64_t line = blockIdx.y, num_chunks = gridDim.x / num_parts;
  const int64_t chunk = blockIdx.x / num_parts;
  const int part = blockIdx.x % num_parts, tiles_of_part = kTilesPerChunk / num_parts;
  const uint8_t* const mask = flags.mask + line * flags.num_rows;
  const int64_t end = min((chunk + 1) * kFlagChunkRows, flags.num_rows);
  const int64_t count = max(int64_t{0}, min(int64_t{counts[line]}, capacity));
  int64_t position = before[line * num_chunks + chunk];
  for (int tile = 0; tile < (part + 1) * tiles_of_part; ++tile) {
    const int64_t first = chunk * kFlagChunkRows + tile * kTile;
    uint32_t bits = flag_bits(mask, first + threadIdx.x * kFlagsPerThread, end);
    int32_t local, total;
    Scan(shared).ExclusiveSum(__popc(bits), local, total);
    if (tile >= part * tiles_of_part) {
      for (; bits != 0; bits &= bits - 1) {
        rows[local++] =
            static_cast<uint16_t>(threadIdx.x * kFlagsPerThread + __ffs(static_cast<int>(bits)) - 1);
      }
      __syncthreads();
      for (int i = threadIdx.x; i < total; i += kThreads) {
        const int64_t to = position + i, from = first + rows[i];
        if (to < 0 || to >= count) continue;
        for (int column = 0; column < group.count; ++column) {
          const KeptWords& kept = group.words[column];
          const int64_t source = line * flags.num_rows + from, result = line * capacity + to;
          if (kept.are_ids) {
            static_cast<int32_t*>(kept.kept)[result] = static_cast<int32_t>(from);
          } else if (kept.word_bytes == 4) {
            keep_word<uint32_t>(kept, source, result);
          } else if (kept.word_bytes == 8) {
            keep_word<uint64_t>(kept, source, result);
          } else if (kept.word_bytes == 2) {
            keep_word<uint16_t>(kept, source, result);
          } else {
            keep_word<uint8_t>(kept, source, result);
          }
        }
      }
    }
    position += total;
    __syncthreads();
  }
  // Zeros after the last flagged row; each block writes its share of them.
  const int64_t share = (capacity + gridDim.x - 1) / gridDim.x;
  const int64_t from = max(count, blockIdx.x * share), to = min(capacity, (blockIdx.x + 1) * share);
  for (int64_t row = from + threadIdx.x; row < to; row += kThreads) {
    for (int column = 0; column < group.count; ++column) {
      const KeptWords& kept = group.words[column];
      const int64_t result = line * capacity + row;
      switch (kept.word_bytes) {
        case 1: static_cast<uint8_t*>(kept.kept)[result] = 0; break;
        case 2: static_cast<uint16_t*>(kept.kept)[result] = 0; break;
        case 4: static_cast<uint32_t*>(kept.kept)[result] = 0; break;
        default: static_cast<uint64_t*>(kept.kept)[result] = 0;
      }
    }
  }
}

}  // namespace

cudaError_t cuda_count_flags(const CudaFlags& flags, const int32_t* num_valid, int32_t* before,
                             int32_t* count, cudaStream_t stream) {
  if (flags.batch == 0) return cudaSuccess;
  const int64_t num_chunks = num_flag_chunks(flags.num_rows);
  for (int64_t first = 0; first < flags.batch; first += kMostLines) {
    const int64_t lines = std::min(flags.batch - first, kMostLines);
    const CudaFlags part{flags.mask + first * flags.num_rows, lines, flags.num_rows};
    const dim3 grid(static_cast<unsigned>(num_chunks), static_cast<unsigned>(lines));
    count_chunks<<<grid, kThreads, 0, stream>>>(part, num_valid + first,
                                                before + first * num_chunks);
    JAXFRAMES_RETURN_IF_FAILED(cudaGetLastError());
    add_up_chunks<<<static_cast<unsigned>(lines), kThreads, 0, stream>>>(
        num_chunks, before + first * num_chunks, count + first);
    JAXFRAMES_RETURN_IF_FAILED(cudaGetLastError());
  }
  return cudaSuccess;
}

cudaError_t cuda_compact(const CudaFlags& flags, const int32_t* before, const int32_t* count,
                         const std::vector<KeptWords>& kept, int64_t capacity,
                         cudaStream_t stream) {
  const int64_t num_chunks = num_flag_chunks(flags.num_rows);
  const int num_parts = num_chunks * flags.batch < kFewChunks ? kTilesPerChunk : 1;
  for (int64_t first = 0; first < flags.batch; first += kMostLines) {
    const int64_t lines = std::min(flags.batch - first, kMostLines);
    const CudaFlags part{flags.mask + first * flags.num_rows, lines, flags.num_rows};
    const dim3 grid(static_cast<unsigned>(num_chunks * num_parts), static_cast<unsigned>(lines));
    for (size_t at = 0; at < kept.size(); at += KeptGroup::kMost) {
      KeptGroup group;
      group.count = static_cast<int>(std::min<size_t>(kept.size() - at, KeptGroup::kMost));
      for (int i = 0; i < group.count; ++i) {
        KeptWords words = kept[at + i];
        if (words.source != nullptr) {
          words.source = static_cast<const char*>(words.source) +
                         first * flags.num_rows * words.word_bytes;
        }
        words.kept = static_cast<char*>(words.kept) + first * capacity * words.word_bytes;
        group.words[i] = words;
      }
      move_flagged<<<grid, kThreads, 0, stream>>>(part, before + first * num_chunks,
                                                  count + first, group, capacity, num_parts);
      JAXFRAMES_RETURN_IF_FAILED(cudaGetLastError());
    }
  }
  return cudaSuccess;
}

}  // namespace jaxframes
