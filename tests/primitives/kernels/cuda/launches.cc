// SPDX-License-Identifier: Apache-2.0
// In place of the kernels for GPU: functions that read every byte that a kernel may read, and write
// every byte that it may write, so that a sanitizer finds a handler that lets through too small an
// array.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "join/cuda_match_rows.h"
#include "move/cuda_compact.h"
#include "move/cuda_repeat_rows.h"
#include "reduce/cuda_pairwise_sum.h"
#include "reduce/cuda_segment_statistic.h"
#include "reduce/cuda_segment_sum.h"
#include "reduce/cuda_tables.h"
#include "scan/cuda_reduce_by_key.h"
#include "scan/cuda_segmented_scan.h"
#include "sort/cuda_bucket_order.h"
#include "sort/cuda_merge.h"
#include "sort/cuda_radix_sort.h"
#include "sort/cuda_top_k.h"

namespace jaxframes {
namespace {

uint64_t sum_of_bytes = 0;

void read(const void* array, int64_t num_bytes) {
  const auto* bytes = static_cast<const uint8_t*>(array);
  for (int64_t i = 0; i < num_bytes; ++i) sum_of_bytes += bytes[i];
}
void write(void* array, int64_t num_bytes) {
  if (num_bytes > 0) std::memset(array, 0x5A, num_bytes);
}

int bytes_of(ScanNumber number) {
  const bool is_narrow = number == ScanNumber::kU32 || number == ScanNumber::kS32 ||
                         number == ScanNumber::kF32;
  return is_narrow ? 4 : 8;
}

void read_sort(const CudaSort& sort, int moved_bytes, void* scratch) {
  read(sort.words, sort.batch * sort.num_rows * sort.word_bytes);
  read(sort.num_valid, sort.batch * 4);
  write(scratch, sort.batch * cuda_sort_scratch_bytes(sort.num_rows, sort.word_bytes, sort.bits,
                                                      moved_bytes));
}

}  // namespace

cudaError_t cuda_segmented_scan(const CudaSegmentedScan& scan, void* scratch, cudaStream_t) {
  const int64_t size = scan.batch * scan.num_rows, lines = scan.batch / scan.width;
  read(scan.values, size * bytes_of(scan.number));
  if (scan.heads != nullptr) read(scan.heads, lines * scan.num_rows);
  read(scan.num_valid, lines * 4);
  write(scan.results, size * bytes_of(scan.number));
  write(scratch, cuda_segmented_scan_scratch_bytes(size, bytes_of(scan.number)));
  return cudaSuccess;
}

cudaError_t cuda_reduce_by_key(const CudaReduceByKey& call, void* scratch, cudaStream_t) {
  const int64_t size = call.batch * call.num_rows, kept = call.batch * call.capacity;
  const int number_bytes = call.results == nullptr ? 0 : bytes_of(call.number);
  if (call.values != nullptr) read(call.values, size * number_bytes);
  if (call.heads != nullptr) read(call.heads, size);
  read(call.num_valid, call.batch * 4);
  if (call.row_ids != nullptr) read(call.row_ids, size * 4);
  if (call.run_ids != nullptr) write(call.run_ids, size * 4);
  for (int i = 0; i < call.columns.count; ++i) {
    const KeptWords& words = call.columns.words[i];
    read(words.source, size * words.word_bytes);
    if (words.kept != nullptr) write(words.kept, kept * words.word_bytes);
  }
  write(call.results, kept * number_bytes);
  write(call.count, call.batch * 4);
  write(scratch, cuda_reduce_by_key_scratch_bytes(call.num_rows, number_bytes));
  return cudaSuccess;
}

cudaError_t cuda_match_rows(const CudaMatchRows& call, void* scratch, cudaStream_t) {
  const int64_t size = call.batch * call.num_rows(), results = call.batch * call.num_results();
  read(call.words, size * call.word_bytes);
  read(call.row_ids, size * 4);
  read(call.valid_left, call.batch * 4);
  read(call.valid_right, call.batch * 4);
  write(call.begins, results * 4);
  write(call.num_matches, results * 4);
  write(call.right_rows, call.batch * call.num_right * 4);
  write(scratch, cuda_match_rows_scratch_bytes(call.num_rows()));
  return cudaSuccess;
}

cudaError_t cuda_sort_keys(const CudaSort& sort, void* sorted_words, void* scratch, cudaStream_t) {
  read_sort(sort, 4, scratch);
  write(sorted_words, sort.batch * sort.num_rows * sort.word_bytes);
  return cudaSuccess;
}

cudaError_t cuda_argsort(const CudaSort& sort, int32_t* row_ids, void* scratch, cudaStream_t) {
  read_sort(sort, 4, scratch);
  write(row_ids, sort.batch * sort.num_rows * 4);
  return cudaSuccess;
}

cudaError_t cuda_sort_pairs(const CudaSort& sort, const int32_t* row_ids, void* sorted_words,
                            int32_t* sorted_row_ids, bool, void* scratch, cudaStream_t) {
  const int64_t size = sort.batch * sort.num_rows;
  read_sort(sort, 4, scratch);
  if (row_ids != nullptr) read(row_ids, size * 4);
  write(sorted_words, size * sort.word_bytes);
  write(sorted_row_ids, size * 4);
  return cudaSuccess;
}

cudaError_t cuda_sort_rows(const CudaSort& sort, const std::vector<CudaColumn>& columns,
                           void* scratch, cudaStream_t) {
  read_sort(sort, 8, scratch);
  for (const CudaColumn& column : columns) {
    read(column.source, sort.batch * sort.num_rows * column.word_bytes);
    write(column.moved, sort.batch * sort.num_rows * column.word_bytes);
  }
  return cudaSuccess;
}

cudaError_t cuda_bucket_order(const CudaBucketOrder& call, void* scratch, cudaStream_t) {
  const int64_t size = call.batch * call.num_rows;
  read(call.ids, size * 4);
  read(call.num_valid, call.batch * 4);
  write(call.order, size * 4);
  if (call.inverse != nullptr) write(call.inverse, size * 4);
  write(call.offsets, call.batch * call.num_digits() * 4);
  write(scratch, call.batch * cuda_bucket_order_scratch_bytes(call.num_rows, call.num_buckets));
  return cudaSuccess;
}

cudaError_t cuda_top_k(const CudaTopK& call, void* scratch, cudaStream_t) {
  read(call.words, call.batch * call.num_rows * 4);
  read(call.num_valid, call.batch * 4);
  write(call.row_ids, call.batch * call.k * 4);
  write(scratch, call.batch * cuda_top_k_scratch_bytes(call.num_rows, call.k));
  return cudaSuccess;
}

cudaError_t cuda_merge(const CudaMerge& call, cudaStream_t) {
  const int64_t size = call.batch * call.num_rows();
  read(call.a, call.batch * call.num_a * call.word_bytes);
  read(call.b, call.batch * call.num_b * call.word_bytes);
  read(call.valid_a, call.batch * 4);
  read(call.valid_b, call.batch * 4);
  if (call.merged != nullptr) write(call.merged, size * call.word_bytes);
  if (call.positions != nullptr) write(call.positions, size * 4);
  return cudaSuccess;
}

cudaError_t cuda_search(const CudaSearch& call, cudaStream_t) {
  read(call.words, call.batch * call.num_words * call.word_bytes);
  read(call.queries, call.batch * call.num_queries * call.word_bytes);
  read(call.num_valid, call.batch * 4);
  write(call.positions, call.batch * call.num_queries * 4);
  return cudaSuccess;
}

cudaError_t cuda_count_flags(const CudaFlags& flags, const int32_t* num_valid, int32_t* before,
                             int32_t* count, cudaStream_t) {
  read(flags.mask, flags.batch * flags.num_rows);
  read(num_valid, flags.batch * 4);
  write(before, flags.batch * num_flag_chunks(flags.num_rows) * 4);
  write(count, flags.batch * 4);
  return cudaSuccess;
}

cudaError_t cuda_compact(const CudaFlags& flags, const int32_t* before, const int32_t* count,
                         const std::vector<KeptWords>& kept, int64_t capacity, cudaStream_t) {
  read(flags.mask, flags.batch * flags.num_rows);
  read(before, flags.batch * num_flag_chunks(flags.num_rows) * 4);
  read(count, flags.batch * 4);
  for (const KeptWords& words : kept) {
    if (!words.are_ids) read(words.source, flags.batch * flags.num_rows * words.word_bytes);
    write(words.kept, flags.batch * capacity * words.word_bytes);
  }
  return cudaSuccess;
}

cudaError_t cuda_repeat_rows(const CudaRepeatRows& call, void* scratch, cudaStream_t) {
  read(call.repeats, call.batch * call.num_rows * 4);
  read(call.num_valid, call.batch * 4);
  write(call.row_ids, call.batch * call.capacity * 4);
  write(call.copies, call.batch * call.capacity * 4);
  write(call.count, call.batch * 4);
  write(scratch, cuda_repeat_rows_scratch_bytes(call.num_rows, call.capacity));
  return cudaSuccess;
}

cudaError_t cuda_segment_sum(const CudaSegmentSum& call, void* scratch, cudaStream_t) {
  const bool is_narrow = call.id_type == SegmentId::kS32 || call.id_type == SegmentId::kU32;
  const int64_t size = call.batch * call.num_rows;
  read(call.ids, size * (is_narrow ? 4 : 8));
  read(call.first_id, call.batch * (is_narrow ? 4 : 8));
  read(call.num_valid, call.batch * 4);
  read(call.numbers, size * call.number_bytes);
  write(call.sums, call.batch * call.num_segments * call.number_bytes);
  write(scratch, call.batch * cuda_segment_sum_scratch_bytes(call.num_rows, call.num_segments,
                                                             call.number_bytes));
  return cudaSuccess;
}

cudaError_t cuda_pairwise_sum(const CudaPairwiseSum& call, void* scratch, cudaStream_t) {
  read(call.numbers, call.batch * call.num_rows * call.number_bytes);
  read(call.num_valid, call.batch * 4);
  if (call.centers != nullptr) read(call.centers, call.batch * call.sum_bytes);
  write(call.sums, call.batch * call.sum_bytes);
  write(scratch, call.batch * cuda_pairwise_sum_scratch_bytes(call.num_rows, call.sum_bytes));
  return cudaSuccess;
}

cudaError_t cuda_segment_statistic(const CudaSegmentStatistic& call, void* scratch, cudaStream_t) {
  const int64_t size = call.batch * call.num_rows, results = call.batch * call.num_segments;
  read(call.ids, size * 4);
  read(call.numbers, size * call.number_bytes);
  write(call.results, results * call.number_bytes);
  if (has_centers(call.statistic)) write(call.centers, results * call.number_bytes);
  write(scratch, call.batch * cuda_segment_statistic_scratch_bytes(call.num_rows, call.num_segments,
                                                                   call.number_bytes));
  return cudaSuccess;
}

cudaError_t cuda_segment_reduce(const CudaSegmentReduce& call, cudaStream_t) {
  const int row_bytes = call.type == TableRow::kNone  ? 0
                        : call.type == TableRow::kU8  ? 1
                        : call.type <= TableRow::kF32 ? 4
                                                      : 8;
  const int number_bytes = call.form == TableForm::kTruth      ? 4
                           : call.form == TableForm::kFirstRows ? 8
                           : call.type == TableRow::kNone       ? 4
                                                                : row_bytes;
  read(call.ids, call.batch * call.num_rows * 4);
  read(call.rows, call.batch * call.num_rows * row_bytes);
  write(call.results, call.batch * call.num_segments * number_bytes);
  return cudaSuccess;
}

cudaError_t cuda_histogram(const CudaHistogram& call, cudaStream_t) {
  const bool is_narrow = call.type == BinnedNumber::kS32 || call.type == BinnedNumber::kF32;
  read(call.numbers, call.batch * call.num_rows * (is_narrow ? 4 : 8));
  read(call.edges, call.batch * (call.num_bins + 1) * (call.has_wide_edges ? 8 : 4));
  read(call.num_valid, call.batch * 4);
  write(call.counts, call.batch * call.num_bins * 4);
  return cudaSuccess;
}

}  // namespace jaxframes
