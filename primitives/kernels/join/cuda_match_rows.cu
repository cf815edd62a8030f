// SPDX-License-Identifier: Apache-2.0
#include "join/cuda_match_rows.h"

#include <cstdint>

#include "base/cuda_rows.cuh"
#include "base/cuda_scratch.h"
#include "scan/cuda_scan_tiles.cuh"

namespace jaxframes {
namespace {

// A scan of the number of right rows. Each row writes what it knows of its matches once: a left row
// comes after all right rows of its word.
template <typename Word>
struct MatchedRows {
  using Value = RightRows;
  static constexpr bool kHasHeads = true;

  int64_t size;
  int64_t num_left;
  int64_t num_right;
  bool is_outer;
  const Word* words;
  const int32_t* row_ids;
  const int32_t* valid_left;
  const int32_t* valid_right;
  int32_t* begins;
  int32_t* num_matches;
  int32_t* right_rows;

  static __device__ Value nothing() { return {0, 0}; }
  static __device__ Value combine(Value left, Value right) {
    return {left.of_word + right.of_word, left.all + right.all};
  }
  static __device__ Value restarted(Value left, Value right) {
    return {right.of_word, left.all + right.all};
  }

  __device__ int64_t left_count() const { return count_on_gpu(valid_left, 0, num_left); }
  __device__ int64_t right_count() const { return count_on_gpu(valid_right, 0, num_right); }
  __device__ int64_t valid_rows() const { return left_count() + right_count(); }

  __device__ bool is_head(int64_t position) const {
    return position == 0 || words[position] != words[position - 1];
  }
  __device__ bool is_right(int64_t position) const { return row_ids[position] < right_count(); }
  __device__ Value value(int64_t position) const {
    const uint32_t is_one = position < valid_rows() && is_right(position) ? 1 : 0;
    return {is_one, is_one};
  }

  __device__ void store(int64_t position, Value value) const {
    const int64_t valid = valid_rows();
    if (position >= valid) return store_padding(position, position - valid);
    const auto matches = static_cast<int32_t>(value.of_word);
    if (is_right(position)) {
      const int64_t to = int64_t{value.all} - 1;
      if (to < num_right) right_rows[to] = row_ids[position];
      if (is_outer) {
        const bool is_last = position + 1 == valid || is_head(position + 1);
        begins[position] = -1;
        num_matches[position] = is_last ? matches : 0;
      }
      return;
    }
    const int64_t left_row = row_ids[position] - right_count();
    const auto begin = static_cast<int32_t>(value.all - value.of_word);
    // A first left row after right rows of another word has no matches.
    const bool is_first = position > 0 && is_right(position - 1);
    const int64_t to = is_outer ? position : left_row;
    if (to >= (is_outer ? size : num_left)) return;
    begins[to] = is_outer ? static_cast<int32_t>(left_row) : is_first ? ~begin : begin;
    num_matches[to] = matches;
  }

  // Of the padding, `index` counts the right rows first.
  __device__ void store_padding(int64_t position, int64_t index) const {
    const int64_t right_padding = num_right - right_count();
    if (index < right_padding) right_rows[right_count() + index] = 0;
    const int64_t to = is_outer ? position : left_count() + index - right_padding;
    if (!is_outer && index < right_padding) return;
    begins[to] = is_outer ? -2 : 0;
    num_matches[to] = 0;
  }
};

template <typename Word>
cudaError_t match(const CudaMatchRows& call, void* memory, cudaStream_t stream) {
  const int64_t size = call.num_rows();
  for (int64_t line = 0; line < call.batch; ++line) {
    const MatchedRows<Word> rows{size,
                                 call.num_left,
                                 call.num_right,
                                 call.is_outer,
                                 static_cast<const Word*>(call.words) + line * size,
                                 call.row_ids + line * size,
                                 call.valid_left + line,
                                 call.valid_right + line,
                                 call.begins + line * call.num_results(),
                                 call.num_matches + line * call.num_results(),
                                 call.right_rows + line * call.num_right};
    CudaScratch scratch(memory);
    JAXFRAMES_RETURN_IF_FAILED(scan_rows(rows, scratch, stream));
  }
  return cudaSuccess;
}

}  // namespace

cudaError_t cuda_match_rows(const CudaMatchRows& call, void* scratch, cudaStream_t stream) {
  return call.word_bytes == 4 ? match<uint32_t>(call, scratch, stream)
                              : match<uint64_t>(call, scratch, stream);
}

}  // namespace jaxframes
