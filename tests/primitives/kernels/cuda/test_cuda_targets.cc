// SPDX-License-Identifier: Apache-2.0
// Calls each FFI target for GPU with random sizes, dtypes and attributes, mostly consistent and
// sometimes not, on the host: `launches.cc` stands for the kernels. A target launches or refuses,
// and each must do both.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <vector>

#include "fuzz/handler_call.h"
#include "join/cuda_match_rows.h"
#include "move/cuda_repeat_rows.h"
#include "move/kept_words.h"
#include "reduce/cuda_pairwise_sum.h"
#include "reduce/cuda_segment_statistic.h"
#include "reduce/cuda_segment_sum.h"
#include "scan/cuda_reduce_by_key.h"
#include "scan/cuda_segmented_scan.h"
#include "sort/cuda_bucket_order.h"
#include "sort/cuda_radix_sort.h"
#include "sort/cuda_top_k.h"

namespace jaxframes_fuzz {
namespace {

struct Sizes {
  explicit Sizes(Bytes& bytes) : batch(1 + bytes.byte() % 3), rows(bytes.length() % 5000) {}
  int64_t batch;
  int64_t rows;
};

// Scratch memory: enough, or, seldom, one byte less.
void scratch(Bytes& bytes, Call& call, int64_t needed) {
  call.result(kU8, {bytes.one_in(16) ? std::max<int64_t>(needed - 1, 0) : needed});
}
void counts(Call& call, int64_t batch, int64_t most) {
  call.argument(kS32, {batch}, Words::kCounts, most);
}

void sort(Bytes& bytes, Call& call, int variant) {
  const Sizes n(bytes);
  const XLA_FFI_DataType keys = key_type(bytes);
  const int width = static_cast<int>(byte_width(keys));
  const int bits = is_floating(keys) || bytes.one_in(2) ? 8 * width
                                                        : bytes.byte() % (8 * width + 1);
  call.argument(keys, {n.batch, n.rows});
  if (variant == 2) {
    call.argument(kS32, {n.batch, bytes.one_in(2) ? 0 : n.rows}, Words::kCounts, n.rows);
  }
  counts(call, n.batch, n.rows);
  const int64_t needed = n.batch * jaxframes::cuda_sort_scratch_bytes(n.rows, width, bits,
                                                                      variant == 3 ? 8 : 4);
  if (variant == 3) {
    scratch(bytes, call, needed);
    for (int i = bytes.byte() % 4; i > 0; --i) {
      const XLA_FFI_DataType column = one_of(bytes, {kU8, XLA_FFI_DataType_BF16, kF32, kS64});
      call.argument(column, {n.batch, n.rows});
      call.result(column, {n.batch, n.rows});
    }
  } else {
    if (variant != 1) call.result(keys, {n.batch, n.rows});
    if (variant != 0) call.result(kS32, {n.batch, n.rows});
    scratch(bytes, call, needed);
  }
  call.attribute("bits", kS32, static_cast<uint32_t>(bytes.one_in(64) ? bits + 100 : bits));
  call.attribute("flip", kS64, bytes.one_in(2) ? 0 : ~uint64_t{0});
  if (variant == 2) call.attribute("in_order", kPred, bytes.one_in(2));
}
void sort_keys(Bytes& bytes, Call& call) { sort(bytes, call, 0); }
void argsort(Bytes& bytes, Call& call) { sort(bytes, call, 1); }
void sort_pairs(Bytes& bytes, Call& call) { sort(bytes, call, 2); }
void sort_rows(Bytes& bytes, Call& call) { sort(bytes, call, 3); }

void bucket_order(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t num_buckets = bytes.word(2) % 600;
  call.argument(one_of(bytes, {kS32, kU32}), {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  call.result(kS32, {n.batch, n.rows});
  call.result(kS32, {n.batch, bytes.one_in(2) ? 0 : n.rows});
  call.result(kS32, {n.batch, num_buckets + 1});
  scratch(bytes, call,
          n.batch * jaxframes::cuda_bucket_order_scratch_bytes(n.rows, num_buckets));
}

void top_k(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t k = static_cast<int64_t>(bytes.word(2)) % (n.rows + 2);
  call.argument(one_of(bytes, {kS32, kU32, kF32, kF32, kS64}), {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  call.result(kS32, {n.batch, k});
  scratch(bytes, call, n.batch * jaxframes::cuda_top_k_scratch_bytes(n.rows, k));
  call.attribute("flip", kS64, bytes.one_in(2) ? 0 : ~uint64_t{0});
}

void merge(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t others = bytes.length() % 5000;
  const XLA_FFI_DataType words = key_type(bytes);
  call.argument(words, {n.batch, n.rows});
  call.argument(bytes.one_in(32) ? kU8 : words, {n.batch, others});
  counts(call, n.batch, n.rows);
  counts(call, n.batch, others);
  const int64_t size = n.rows + others + bytes.one_in(32);
  call.result(words, {n.batch, bytes.one_in(3) ? 0 : size});
  call.result(kS32, {n.batch, bytes.one_in(3) ? 0 : size});
  call.attribute("flip", kS64, bytes.one_in(2) ? 0 : ~uint64_t{0});
}

void search(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t queries = bytes.length() % 5000;
  const XLA_FFI_DataType words = one_of(bytes, {kU32, kU32, kU32, kU64, kU64, kS32});
  call.argument(words, {n.batch, n.rows});
  call.argument(words, {n.batch, queries});
  counts(call, n.batch, n.rows);
  call.result(kS32, {n.batch, queries + bytes.one_in(16)});
  call.attribute("counts_equal", kPred, bytes.one_in(2));
}

void count_flags(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  call.argument(kPred, {n.batch, n.rows}, Words::kFlags);
  counts(call, n.batch, n.rows);
  call.result(kS32, {n.batch, jaxframes::num_flag_chunks(n.rows)});
  call.result(kS32, {n.batch});
}

void flagged_rows(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t capacity = bytes.length() % 5000;
  call.argument(kPred, {n.batch, n.rows}, Words::kFlags);
  call.argument(kS32, {n.batch, jaxframes::num_flag_chunks(n.rows)}, Words::kCounts, n.rows);
  counts(call, n.batch, n.rows);
  if (bytes.one_in(2)) call.result(kS32, {n.batch, capacity});
  for (int i = bytes.byte() % 4; i > 0; --i) {
    const XLA_FFI_DataType column = one_of(bytes, {kU8, XLA_FFI_DataType_BF16, kF32, kS64});
    call.argument(column, {n.batch, n.rows});
    call.result(column, {n.batch, capacity});
  }
}

void repeat_rows(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t capacity = bytes.length() % 5000;
  call.argument(bytes.one_in(16) ? kU32 : kS32, {n.batch, n.rows}, Words::kCounts, 5);
  counts(call, n.batch, n.rows);
  for (int i = 0; i < 2; ++i) {
    call.result(kS32, {n.batch, bytes.one_in(32) ? capacity + 1 : capacity});
  }
  call.result(kS32, {n.batch});
  scratch(bytes, call, jaxframes::cuda_repeat_rows_scratch_bytes(n.rows, capacity));
}

void segmented_scan(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType values = key_type(bytes);
  const int64_t width = 1 + bytes.byte() % 2;
  call.argument(values, {n.batch, width, n.rows});
  call.argument(kPred, {n.batch, 1, bytes.one_in(2) ? 0 : n.rows}, Words::kFlags);
  counts(call, n.batch, n.rows);
  call.result(values, {n.batch, width, n.rows});
  scratch(bytes, call, jaxframes::cuda_segmented_scan_scratch_bytes(n.batch * width * n.rows,
                                                                    byte_width(values)));
  call.attribute("exclusive", kPred, bytes.one_in(2));
  call.attribute("op", kS32, bytes.byte() % 5);
  call.attribute("reverse", kPred, bytes.one_in(2));
}

void reduce_by_key(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t capacity = bytes.length() % (n.rows + 2);
  const bool has_values = bytes.one_in(2), is_counted = !has_values && bytes.one_in(2);
  const bool is_reduced = has_values || is_counted;
  const XLA_FFI_DataType values = is_counted && !bytes.one_in(8) ? kS32 : key_type(bytes);
  call.argument(values, {n.batch, has_values ? n.rows : 0});
  const bool has_heads = bytes.one_in(2);
  call.argument(kPred, {n.batch, has_heads ? n.rows : 0}, Words::kFlags);
  counts(call, n.batch, n.rows);
  call.argument(kS32, {n.batch, bytes.one_in(2) ? 0 : n.rows}, Words::kCounts, n.rows);
  call.result(values, {n.batch, is_reduced ? capacity : 0});
  call.result(kS32, {n.batch});
  call.result(kS32, {n.batch, bytes.one_in(2) ? 0 : n.rows});
  scratch(bytes, call, jaxframes::cuda_reduce_by_key_scratch_bytes(
                           n.rows, is_reduced ? byte_width(values) : 0));
  const int num_columns = bytes.byte() % 10;
  for (int i = 0; i < num_columns; ++i) {
    const XLA_FFI_DataType column = one_of(bytes, {kU8, XLA_FFI_DataType_BF16, kF32, kS64});
    call.argument(column, {n.batch, n.rows});
    const bool is_compared = i == 0 && !has_heads && bytes.one_in(2);
    call.result(column, {n.batch, is_compared ? 0 : capacity});
  }
  call.attribute("op", kS32, is_counted && !bytes.one_in(8) ? 0 : bytes.byte() % 5);
}

void match_rows(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t num_right = bytes.length() % (n.rows + 1);
  const bool is_outer = bytes.one_in(2);
  call.argument(key_type(bytes), {n.batch, n.rows});
  call.argument(kS32, {n.batch, n.rows}, Words::kCounts, n.rows);
  counts(call, n.batch, n.rows - num_right);
  counts(call, n.batch, num_right);
  for (int i = 0; i < 2; ++i) {
    call.result(kS32, {n.batch, is_outer ? n.rows : n.rows - num_right});
  }
  call.result(kS32, {n.batch, bytes.one_in(16) ? num_right + 1 : num_right});
  scratch(bytes, call, jaxframes::cuda_match_rows_scratch_bytes(n.rows));
  call.attribute("outer", kPred, is_outer);
}

void segment_sum(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType ids = one_of(bytes, {kS32, kU32, kS64, kU64});
  const XLA_FFI_DataType numbers = one_of(bytes, {kF32, kF64, kF32, kS32});
  const int64_t num_segments = bytes.length() % 4000;
  call.argument(ids, {n.batch, n.rows}, Words::kCounts, num_segments);
  call.argument(ids, {n.batch}, Words::kCounts, 0);
  counts(call, n.batch, n.rows);
  call.argument(numbers, {n.batch, n.rows});
  call.result(numbers, {n.batch, num_segments});
  scratch(bytes, call,
          n.batch * jaxframes::cuda_segment_sum_scratch_bytes(
                        n.rows, num_segments, static_cast<int>(byte_width(numbers))));
}

void pairwise_sum(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType numbers = one_of(bytes, {kF32, kF32, kF64, kS32});
  const XLA_FFI_DataType sums = one_of(bytes, {kF32, kF64});
  call.argument(numbers, {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  call.argument(sums, {n.batch, bytes.one_in(2) ? 1 + bytes.one_in(16) : 0});
  call.result(sums, {n.batch});
  scratch(bytes, call,
          n.batch * jaxframes::cuda_pairwise_sum_scratch_bytes(
                        n.rows, static_cast<int>(byte_width(sums))));
  call.attribute("skips_nan", kPred, bytes.one_in(2));
}

void segment_statistic(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType numbers = one_of(bytes, {kF32, kF64, kF32, kS32});
  const int64_t num_segments = bytes.length() % 2200;
  const int statistic = bytes.byte() % 7;
  const bool has_centers = (statistic > 1) != bytes.one_in(16);
  call.argument(bytes.one_in(16) ? kU32 : kS32, {n.batch, n.rows}, Words::kCounts, num_segments);
  call.argument(numbers, {n.batch, n.rows});
  call.result(numbers, {n.batch, num_segments});
  call.result(numbers, {n.batch, has_centers ? num_segments : 0});
  scratch(bytes, call,
          n.batch * jaxframes::cuda_segment_statistic_scratch_bytes(
                        n.rows, num_segments, static_cast<int>(byte_width(numbers))));
  call.attribute("ddof", kS64, bytes.byte());
  call.attribute("statistic", kS32, statistic);
}

void segment_reduce(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int form = bytes.byte() % 4;
  const XLA_FFI_DataType rows = one_of(bytes, {kS32, kU32, kS64, kU64, kF32, kF64, kPred});
  // Mostly the dtype that belongs to the form and the rows.
  const XLA_FFI_DataType ordered = rows == kF32 ? kU32 : rows == kF64 ? kU64 : rows;
  const XLA_FFI_DataType reduced = form == 1 ? kS32 : form == 2 ? kU32 : ordered;
  const int64_t length = bytes.length() % 10000;
  call.argument(kS32, {n.batch, n.rows}, Words::kCounts, length);
  call.argument(rows, {n.batch, bytes.one_in(4) ? 0 : n.rows});
  call.result(bytes.one_in(8) ? rows : reduced, {n.batch, length});
  call.attribute("form", kS32, form);
  call.attribute("op", kS32, bytes.byte() % 4);
}

void histogram(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t num_bins = bytes.length() % 3000;
  call.argument(one_of(bytes, {kS32, kS64, kF32, kF64, kU32}), {n.batch, n.rows});
  call.argument(one_of(bytes, {kF32, kF64}), {n.batch, num_bins + 1});
  counts(call, n.batch, n.rows);
  call.result(kS32, {n.batch, num_bins});
  call.attribute("is_uniform", kS64, bytes.one_in(2));
}

}  // namespace
}  // namespace jaxframes_fuzz

// The name of each target, and what describes a call of it.
#define JAXFRAMES_CUDA_TARGETS(X)                      \
  X(jaxframes_cuda_radix_sort_keys_v1, sort_keys)      \
  X(jaxframes_cuda_radix_argsort_v1, argsort)          \
  X(jaxframes_cuda_radix_sort_pairs_v2, sort_pairs)    \
  X(jaxframes_cuda_radix_sort_rows_v1, sort_rows)      \
  X(jaxframes_cuda_bucket_order_v1, bucket_order)      \
  X(jaxframes_cuda_top_k_v1, top_k)                    \
  X(jaxframes_cuda_merge_v1, merge)                    \
  X(jaxframes_cuda_search_v1, search)                  \
  X(jaxframes_cuda_count_flags_v1, count_flags)        \
  X(jaxframes_cuda_flagged_rows_v1, flagged_rows)      \
  X(jaxframes_cuda_repeat_rows_v2, repeat_rows)        \
  X(jaxframes_cuda_segmented_scan_v1, segmented_scan)  \
  X(jaxframes_cuda_reduce_by_key_v3, reduce_by_key)    \
  X(jaxframes_cuda_match_rows_v1, match_rows)          \
  X(jaxframes_cuda_segment_sum_v1, segment_sum)        \
  X(jaxframes_cuda_segment_statistic_v1, segment_statistic) \
  X(jaxframes_cuda_segment_reduce_v1, segment_reduce)  \
  X(jaxframes_cuda_histogram_v1, histogram)            \
  X(jaxframes_cuda_pairwise_sum_v1, pairwise_sum)

#define JAXFRAMES_DECLARE(name, describe) extern "C" XLA_FFI_Error* name(XLA_FFI_CallFrame*);
JAXFRAMES_CUDA_TARGETS(JAXFRAMES_DECLARE)
#undef JAXFRAMES_DECLARE

namespace {

struct Target {
  const char* name;
  XLA_FFI_Handler* handler;
  void (*describe)(jaxframes_fuzz::Bytes&, jaxframes_fuzz::Call&);
};

constexpr Target kTargets[] = {
#define JAXFRAMES_LIST(name, describe) {#name, name, jaxframes_fuzz::describe},
    JAXFRAMES_CUDA_TARGETS(JAXFRAMES_LIST)
#undef JAXFRAMES_LIST
};

}  // namespace

int main(int argc, char** argv) {
  const int num_calls = argc > 1 ? std::atoi(argv[1]) : 1000;
  std::mt19937_64 random(40);
  for (const Target& target : kTargets) {
    int launched = 0;
    for (int i = 0; i < num_calls; ++i) {
      std::vector<uint8_t> input(64 + random() % 200);
      for (uint8_t& byte : input) byte = static_cast<uint8_t>(random());
      jaxframes_fuzz::Bytes bytes(input.data(), input.size());
      jaxframes_fuzz::Call call(bytes);
      target.describe(bytes, call);
      launched += call.run(target.name, target.handler, 1);
    }
    std::printf("%s: %d of %d calls launched\n", target.name, launched, num_calls);
    if (launched == 0 || launched == num_calls) return 1;
  }
  return 0;
}
