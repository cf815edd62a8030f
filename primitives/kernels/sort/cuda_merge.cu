// SPDX-License-Identifier: Apache-2.0
// A block merges one tile of the result: it searches for the rows of both sides that the tile has,
// reads them into shared memory, and each thread merges a few of them there.
#include "sort/cuda_merge.h"

#include <cstdint>

#include "base/cuda_rows.cuh"
#include "base/key_order.h"
#include "sort/merge_path.h"

namespace jaxframes {
namespace {

constexpr int kThreads = 256;
constexpr int kItems = 8;
constexpr int kTile = kThreads * kItems;

// Whether row i of a precedes row j of b.
template <typename Order>
struct TakesA {
  using Word = typename Order::Key;

  const Word* a;
  const Word* b;
  Order order;

  JAXFRAMES_HOST_DEVICE bool operator()(int64_t i, int64_t j) const {
    return order.ordered(a[i]) <= order.ordered(b[j]);
  }
};

template <typename Order>
__global__ void __launch_bounds__(kThreads)
    merge_tiles(const CudaMerge call, int64_t first_line, const Order order) {
  using Word = typename Order::Key;
  __shared__ Word words[kTile];          // the rows of a, and then those of b
  __shared__ uint16_t in_order[kTile];   // the places in `words` of merged rows
  __shared__ int64_t rows_of_a[2];       // before the tile, and before its end
  const int thread = static_cast<int>(threadIdx.x);
  const int64_t line = first_line + blockIdx.y, num_rows = call.num_a + call.num_b;
  const Word* const a = static_cast<const Word*>(call.a) + line * call.num_a;
  const Word* const b = static_cast<const Word*>(call.b) + line * call.num_b;
  const int64_t valid_a = count_on_gpu(call.valid_a, line, call.num_a);
  const int64_t valid_b = count_on_gpu(call.valid_b, line, call.num_b);
  const int64_t num_valid = valid_a + valid_b;
  const int64_t first = static_cast<int64_t>(blockIdx.x) * kTile;
  const int64_t begin = min(first, num_valid), end = min(first + kTile, num_valid);
  const int total = static_cast<int>(end - begin);
  if (thread < 2) {
    rows_of_a[thread] = merge_path(valid_a, valid_b, thread == 0 ? begin : end,
                                   TakesA<Order>{a, b, order});
  }
  __syncthreads();
  const int64_t first_a = rows_of_a[0], first_b = begin - first_a;
  const int from_a = static_cast<int>(rows_of_a[1] - first_a), from_b = total - from_a;
  for (int at = thread; at < total; at += kThreads) {
    words[at] = at < from_a ? a[first_a + at] : b[first_b + at - from_a];
  }
  __syncthreads();
  const TakesA<Order> takes_a{words, words + from_a, order};
  const int own = min(thread * kItems, total), own_end = min(own + kItems, total);
  int i = static_cast<int>(merge_path(from_a, from_b, own, takes_a)), j = own - i;
  for (int at = own; at < own_end; ++at) {
    const bool is_of_a = j >= from_b || (i < from_a && takes_a(i, j));
    in_order[at] = static_cast<uint16_t>(is_of_a ? i++ : from_a + j++);
  }
  __syncthreads();
  const int64_t padding_a = call.num_a - valid_a;
  for (int at = thread; at < kTile; at += kThreads) {
    const int64_t row = first + at;
    if (row >= num_rows) break;
    int64_t position;
    Word word;
    if (row < num_valid) {
      const int place = in_order[at];
      position = place < from_a ? first_a + place : call.num_a + first_b + place - from_a;
      word = words[place];
    } else {
      const int64_t padding = row - num_valid;
      position = padding < padding_a ? valid_a + padding
                                     : call.num_a + valid_b + padding - padding_a;
      word = position < call.num_a ? a[position] : b[position - call.num_a];
    }
    if (call.merged != nullptr) static_cast<Word*>(call.merged)[line * num_rows + row] = word;
    if (call.positions != nullptr) {
      call.positions[line * num_rows + row] = static_cast<int32_t>(position);
    }
  }
}

template <typename Order>
cudaError_t merge_lines(const CudaMerge& call, const Order& order, cudaStream_t stream) {
  const int64_t num_tiles = (call.num_rows() + kTile - 1) / kTile;
  for (int64_t first = 0; first < call.batch; first += kMostLines) {
    const int64_t lines = std::min(call.batch - first, kMostLines);
    const dim3 grid(static_cast<unsigned>(num_tiles), static_cast<unsigned>(lines));
    merge_tiles<Order><<<grid, kThreads, 0, stream>>>(call, first, order);
    JAXFRAMES_RETURN_IF_FAILED(cudaGetLastError());
  }
  return cudaSuccess;
}

template <typename Word>
cudaError_t search_words(const CudaSearch& call, cudaStream_t stream) {
  const auto* const words = static_cast<const Word*>(call.words);
  const auto* const queries = static_cast<const Word*>(call.queries);
  const int64_t num_words = call.num_words, num_queries = call.num_queries;
  const int32_t* const num_valid = call.num_valid;
  int32_t* const positions = call.positions;
  const bool counts_equal = call.counts_equal;
  return for_each_row_on_gpu(
      call.batch * num_queries,
      [=] __device__(int64_t at) {
        const int64_t line = at / num_queries;
        const Word query = queries[at];
        const Word* const searched = words + line * num_words;
        int64_t low = 0, high = count_on_gpu(num_valid, line, num_words);
        while (low < high) {
          const int64_t middle = low + (high - low) / 2;
          const Word word = searched[middle];
          if (word < query || (counts_equal && word == query)) {
            low = middle + 1;
          } else {
            high = middle;
          }
        }
        positions[at] = static_cast<int32_t>(low);
      },
      stream);
}

}  // namespace

cudaError_t cuda_merge(const CudaMerge& call, cudaStream_t stream) {
  if (call.batch * call.num_rows() == 0) return cudaSuccess;
  const auto flip = static_cast<uint32_t>(call.flip);
  if (call.is_floating) {
    return call.word_bytes == 4
               ? merge_lines(call, FloatOrder<uint32_t>(flip != 0), stream)
               : merge_lines(call, FloatOrder<uint64_t>(call.flip != 0), stream);
  }
  return call.word_bytes == 4 ? merge_lines(call, IntegerOrder<uint32_t>{flip}, stream)
                              : merge_lines(call, IntegerOrder<uint64_t>{call.flip}, stream);
}

cudaError_t cuda_search(const CudaSearch& call, cudaStream_t stream) {
  return call.word_bytes == 4 ? search_words<uint32_t>(call, stream)
                              : search_words<uint64_t>(call, stream);
}

}  // namespace jaxframes
