// SPDX-License-Identifier: Apache-2.0
// Calls each FFI target with what the bytes of an input say: sizes, dtypes, bit ranges, counts and
// words, mostly consistent and sometimes not. A target computes or refuses, and never reads or
// writes outside its arrays.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iterator>
#include <vector>

#include "fuzz/handler_call.h"
#include "join/direct_match.h"
#include "move/compact.h"

extern "C" {
int64_t jaxframes_radix_sort_scratch_bytes(int64_t, int64_t, int32_t, int32_t);
int64_t jaxframes_radix_sort_rows_scratch_bytes(int64_t, int64_t, int32_t);
int64_t jaxframes_factorize_scratch_bytes(int64_t, int32_t);
int64_t jaxframes_group_sums_scratch_bytes(int64_t, int32_t);
int64_t jaxframes_join_scratch_bytes(int64_t, int32_t);
}

namespace jaxframes_fuzz {
namespace {

XLA_FFI_DataType integer_type(Bytes& bytes) { return one_of(bytes, {kU32, kS32, kU64, kS64}); }
XLA_FFI_DataType word_type(Bytes& bytes) {
  return one_of(bytes, {kPred, kU8, XLA_FFI_DataType_S16, XLA_FFI_DataType_BF16, kS32, kF32, kS64,
                        kF64});
}

// The sizes that the arrays of one call share.
struct Sizes {
  explicit Sizes(Bytes& bytes) : batch(1), rows(bytes.length()) {
    if (bytes.one_in(4)) batch = bytes.byte() % 40;
    if (batch > 4) rows = std::min<int64_t>(rows, 300);
  }
  int64_t batch;
  int64_t rows;
};

uint64_t flip_of(Bytes& bytes, XLA_FFI_DataType keys) {
  const uint8_t kind = bytes.byte();
  if (kind < 16 || !(kind % 2 || is_floating(keys))) return bytes.word();
  return kind % 4 < 2 ? 0 : ~uint64_t{0};
}

int32_t bits_of(Bytes& bytes, XLA_FFI_DataType keys) {
  const int32_t most = 8 * static_cast<int32_t>(byte_width(keys));
  const uint8_t kind = bytes.byte();
  if (kind < 8) return static_cast<int32_t>(bytes.word(4));
  return is_floating(keys) || kind % 2 ? most : kind % (most + 1);
}

// Scratch memory: enough, or, seldom, one byte less.
int64_t scratch(Bytes& bytes, int64_t needed) {
  return bytes.one_in(64) ? std::max<int64_t>(needed - 1, 0) : needed;
}

void counts(Call& call, int64_t batch, int64_t most) {
  call.argument(kS32, {batch}, Words::kCounts, most);
}

void sort(Bytes& bytes, Call& call, int variant) {
  const Sizes n(bytes);
  const XLA_FFI_DataType keys = key_type(bytes);
  call.argument(keys, {n.batch, n.rows});
  if (variant == 2) {
    const bool is_implicit = bytes.one_in(2);
    call.argument(kS32, {n.batch, is_implicit ? 0 : n.rows}, Words::kCounts, n.rows);
  }
  counts(call, n.batch, n.rows);
  if (variant != 1) call.result(keys, {n.batch, n.rows});
  if (variant != 0) call.result(kS32, {n.batch, n.rows});
  const int32_t width = static_cast<int32_t>(byte_width(keys));
  call.result(kU8, {scratch(bytes, jaxframes_radix_sort_scratch_bytes(n.batch, n.rows, width,
                                                                      variant))});
  call.attribute("bits", kS32, static_cast<uint32_t>(bits_of(bytes, keys)));
  call.attribute("flip", kS64, flip_of(bytes, keys));
}
void sort_keys(Bytes& bytes, Call& call) { sort(bytes, call, 0); }
void argsort(Bytes& bytes, Call& call) { sort(bytes, call, 1); }
void sort_pairs(Bytes& bytes, Call& call) { sort(bytes, call, 2); }

void sort_rows(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType keys = key_type(bytes);
  call.argument(keys, {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  const int32_t width = static_cast<int32_t>(byte_width(keys));
  call.result(kU8, {scratch(bytes, jaxframes_radix_sort_rows_scratch_bytes(n.batch, n.rows,
                                                                           width))});
  for (int i = bytes.byte() % 4; i > 0; --i) {
    const XLA_FFI_DataType column = word_type(bytes);
    call.argument(column, {n.batch, n.rows});
    call.result(column, {n.batch, n.rows});
  }
  call.attribute("bits", kS32, static_cast<uint32_t>(bits_of(bytes, keys)));
  call.attribute("flip", kS64, flip_of(bytes, keys));
}

void merge_of(Bytes& bytes, Call& call, bool has_keys) {
  const Sizes n(bytes);
  const int64_t other = bytes.length();
  const XLA_FFI_DataType keys = key_type(bytes);
  call.argument(keys, {n.batch, n.rows});
  call.argument(keys, {n.batch, other});
  counts(call, n.batch, n.rows);
  counts(call, n.batch, other);
  if (has_keys) call.result(keys, {n.batch, n.rows + other});
  const bool has_positions = !has_keys || bytes.one_in(2);
  call.result(kS32, {n.batch, has_positions ? n.rows + other : 0});
  call.attribute("flip", kS64, flip_of(bytes, keys));
}
void merge(Bytes& bytes, Call& call) { merge_of(bytes, call, false); }
void merge_keys(Bytes& bytes, Call& call) { merge_of(bytes, call, true); }

void top_k(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType keys = key_type(bytes);
  call.argument(keys, {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  const int64_t k = static_cast<int64_t>(bytes.word(2)) % (n.rows + 2);
  call.result(kS32, {n.batch, k});
  call.attribute("flip", kS64, flip_of(bytes, keys));
}

void segment_top_k(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType keys = key_type(bytes);
  const int64_t k = bytes.byte() % 20, num_segments = bytes.length() % 5000;
  call.argument(keys, {n.batch, n.rows});
  call.argument(kS32, {n.batch, n.rows}, Words::kCounts, num_segments);
  call.result(kS32, {n.batch, num_segments * k});
  call.attribute("flip", kS64, flip_of(bytes, keys));
  call.attribute("k", kS64, bytes.one_in(16) ? bytes.word() : k);
}

void count_flags(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  call.argument(kPred, {n.batch, n.rows}, Words::kFlags);
  counts(call, n.batch, n.rows);
  call.result(kS32, {n.batch, jaxframes::flag_chunks(n.rows).count});
  call.result(kS32, {n.batch});
}

void flagged_rows(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t capacity = bytes.one_in(4) ? n.rows : bytes.length();
  call.argument(kPred, {n.batch, n.rows}, Words::kFlags);
  call.argument(kS32, {n.batch, jaxframes::flag_chunks(n.rows).count}, Words::kCounts, n.rows);
  counts(call, n.batch, n.rows);
  if (bytes.one_in(2)) call.result(kS32, {n.batch, capacity});
  for (int i = bytes.byte() % 4; i > 0; --i) {
    const XLA_FFI_DataType column = word_type(bytes);
    call.argument(column, {n.batch, n.rows});
    call.result(column, {n.batch, capacity});
  }
}

void gather_rows(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t num_ids = bytes.length();
  const int num_columns = bytes.byte() % 3 + 1;
  std::vector<XLA_FFI_DataType> columns;
  call.argument(kS32, {n.batch, num_ids}, Words::kCounts, n.rows);
  for (int i = 0; i < num_columns; ++i) {
    columns.push_back(bytes.one_in(8) ? XLA_FFI_DataType_C128 : word_type(bytes));
    call.argument(columns.back(), {n.batch, n.rows});
    call.result(columns.back(), {n.batch, num_ids});
  }
  for (XLA_FFI_DataType column : columns) call.argument(column, {n.batch});
}

void segmented_scan(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType values = key_type(bytes);
  const int64_t width = bytes.byte() % 3 + 1;
  call.argument(values, {n.batch * width, n.rows});
  call.argument(kPred, {n.batch, bytes.one_in(2) ? 0 : n.rows}, Words::kFlags);
  counts(call, n.batch, n.rows);
  call.result(values, {n.batch * width, n.rows});
  call.attribute("exclusive", kPred, bytes.one_in(2));
  const uint8_t op = bytes.byte();
  call.attribute("op", kS32, op < 8 ? static_cast<uint32_t>(bytes.word(4)) : op % 4u);
  call.attribute("reverse", kPred, bytes.one_in(2));
}

void merge_scan(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType values = one_of(bytes, {kF32, kF64, kF64, kS32});
  const int64_t width = bytes.byte() % 3 + 1;
  const int32_t merge = bytes.byte() % 4;
  // The columns that a merge takes, or, seldom, another number.
  const int taken[] = {2, 3 + bytes.byte() % 3, 6, 1};
  const int num_columns = bytes.one_in(32) ? bytes.byte() % 8 : taken[merge];
  call.argument(kPred, {n.batch, bytes.one_in(2) ? 0 : n.rows}, Words::kFlags);
  for (int i = 0; i < num_columns; ++i) call.argument(values, {n.batch * width, n.rows});
  for (int i = merge == 0 ? 1 : num_columns; i > 0; --i) {
    call.result(values, {n.batch * width, n.rows});
  }
  call.attribute("merge", kS32, static_cast<uint32_t>(merge));
  call.attribute("reverse", kPred, bytes.one_in(2));
}

void window_moments(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType values = one_of(bytes, {kF32, kF64, kF64, kS32});
  const int64_t width = bytes.byte() % 3 + 1;
  const int num_columns = 1 + bytes.byte() % 2;
  call.argument(kPred, {n.batch, n.rows}, Words::kFlags);
  // Any words, and rows.
  const Words words = bytes.one_in(2) ? Words::kAny : Words::kCounts;
  call.argument(kS32, {n.batch, n.rows}, words, n.rows);
  call.argument(kPred, {n.batch, n.rows}, Words::kFlags);
  call.argument(kPred, {n.batch, n.rows}, Words::kFlags);
  call.argument(kPred, {n.batch, bytes.one_in(2) ? 0 : n.rows}, Words::kFlags);
  for (int i = 0; i < num_columns; ++i) call.argument(values, {n.batch * width, n.rows});
  const int num_results = num_columns == 2 ? 4 : 2 + bytes.byte() % 3;
  for (int i = bytes.one_in(32) ? bytes.byte() % 6 : num_results; i > 0; --i) {
    call.result(values, {n.batch * width, n.rows});
  }
}

void histogram(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t num_edges = bytes.length() % 3000;
  call.argument(one_of(bytes, {kS32, kS64, kF32, kF64}), {n.batch, n.rows});
  call.argument(one_of(bytes, {kF32, kF64}), {n.batch, num_edges});
  counts(call, n.batch, n.rows);
  call.result(kS32, {n.batch, std::max<int64_t>(num_edges - 1, 0)});
  call.attribute("is_uniform", kS64, bytes.one_in(2));
}

void factorize(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType keys = key_type(bytes);
  const int64_t capacity = bytes.one_in(2) ? n.rows : bytes.length();
  call.argument(keys, {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  call.result(kS32, {n.batch, n.rows});
  call.result(kS32, {n.batch, capacity});
  call.result(kS32, {n.batch});
  const int64_t needed =
      n.batch * jaxframes_factorize_scratch_bytes(n.rows, static_cast<int>(byte_width(keys)));
  call.result(kU8, {scratch(bytes, needed)});
  call.attribute("flip", kS64, flip_of(bytes, keys));
  call.attribute("in_key_order", kPred, bytes.one_in(2));
}

void group_sums(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType keys = key_type(bytes), numbers = key_type(bytes);
  const int64_t capacity = bytes.one_in(2) ? n.rows : bytes.length();
  call.argument(keys, {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  call.argument(numbers, {n.batch, n.rows});
  call.result(kS32, {n.batch, capacity});
  call.result(kS32, {n.batch});
  call.result(numbers, {n.batch, capacity});
  const int64_t needed =
      n.batch * jaxframes_group_sums_scratch_bytes(n.rows, static_cast<int>(byte_width(keys)));
  call.result(kU8, {scratch(bytes, needed)});
  call.attribute("flip", kS64, flip_of(bytes, keys));
}

void key_table(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType keys = integer_type(bytes);
  call.argument(keys, {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  call.argument(keys, {n.batch});
  call.result(kS32, {n.batch, bytes.length()});
  call.result(kS32, {n.batch});
  call.attribute("num_sampled", kS64, bytes.one_in(8) ? bytes.word() : bytes.word(2));
}

void look_up(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType keys = integer_type(bytes);
  const int64_t num_slots = bytes.length(), num_right = bytes.length();
  call.argument(keys, {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  call.argument(keys, {n.batch});
  call.argument(kS32, {n.batch, num_slots}, Words::kCounts, num_right);
  counts(call, n.batch, num_right);
  call.result(kS32, {n.batch, n.rows});
  call.result(kS32, {n.batch, jaxframes::match_chunks(n.rows).count});
  call.result(kS32, {n.batch, 2});
  call.result(kU8, {n.batch, num_right});
}

void matched_rows(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t capacity = bytes.length();
  call.argument(kS32, {n.batch, n.rows}, Words::kCounts, n.rows);
  call.argument(kS32, {n.batch, jaxframes::match_chunks(n.rows).count}, Words::kCounts, n.rows);
  counts(call, n.batch, n.rows);
  call.result(kS32, {n.batch, capacity});
  call.result(kS32, {n.batch, capacity});
}

void match(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType keys = key_type(bytes);
  const int64_t right = bytes.length(), length = n.rows + right;
  call.argument(keys, {n.batch, n.rows});
  call.argument(keys, {n.batch, right});
  counts(call, n.batch, n.rows);
  counts(call, n.batch, right);
  call.result(kS32, {n.batch, length});
  call.result(kS32, {n.batch, length + 2});
  call.result(kS32, {n.batch, right});
  call.result(kU32, {n.batch, 5});
  call.result(kU8, {n.batch, scratch(bytes, jaxframes_join_scratch_bytes(
                                                length, static_cast<int>(byte_width(keys))))});
  call.attribute("flip", kS64, flip_of(bytes, keys));
  call.attribute("how", kS32, bytes.byte() % 6);
}

void pairs(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t num_right = bytes.word(2) % (n.rows + 1);
  const int64_t num_groups = bytes.word(2) % (n.rows + 1), capacity = bytes.length();
  call.argument(kS32, {n.batch, n.rows}, Words::kCounts, num_groups);
  call.argument(kS32, {n.batch, n.rows + 2}, Words::kCounts, num_right);
  call.argument(kS32, {n.batch, num_right}, Words::kCounts, num_right);
  counts(call, n.batch, n.rows - num_right);
  counts(call, n.batch, num_groups);
  call.result(kS32, {n.batch, capacity});
  call.result(kS32, {n.batch, capacity});
  call.attribute("how", kS32, bytes.byte() % 6);
}

void membership(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType keys = key_type(bytes);
  const int64_t num_members = bytes.length();
  int64_t num_slots = 1;
  while (num_slots / 2 < num_members) num_slots *= 2;
  call.argument(keys, {n.batch, n.rows});
  call.argument(keys, {n.batch, num_members});
  counts(call, n.batch, n.rows);
  counts(call, n.batch, num_members);
  call.result(kPred, {n.batch, n.rows});
  call.result(byte_width(keys) == 4 ? kU32 : kU64,
              {n.batch, bytes.one_in(32) ? num_slots / 2 : num_slots});
  call.attribute("flip", kS64, flip_of(bytes, keys));
}

// Ids, the first id and the number of valid rows of the segment sums.
int64_t segments(Bytes& bytes, Call& call, const Sizes& n) {
  const XLA_FFI_DataType ids = integer_type(bytes);
  const int64_t num_segments = bytes.length();
  call.argument(ids, {n.batch, n.rows}, Words::kCounts, num_segments);
  call.argument(ids, {n.batch}, Words::kCounts, 0);
  counts(call, n.batch, n.rows);
  return num_segments;
}

void segment_sum(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t num_segments = segments(bytes, call, n);
  const XLA_FFI_DataType numbers = key_type(bytes);
  call.argument(numbers, {n.batch, n.rows});
  call.result(numbers, {n.batch, num_segments});
}

void smallest_nodes(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t num_nodes = bytes.length();
  call.argument(kS32, {n.batch, n.rows}, Words::kCounts, num_nodes);
  call.argument(kS32, {n.batch, n.rows}, Words::kCounts, num_nodes);
  call.result(kS32, {n.batch, num_nodes});
}

void segment_count(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  call.result(kS32, {n.batch, segments(bytes, call, n)});
}

void segment_sums(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t num_segments = segments(bytes, call, n);
  call.result(kS32, {n.batch, num_segments});
  const int num_results = bytes.byte() % 12, num_products = bytes.byte() % (num_results + 1);
  for (int i = 0; i < num_results; ++i) {
    const XLA_FFI_DataType column = one_of(bytes, {kPred, kS32, kU32, kS64, kU64, kF32, kF64});
    const Words words = column == kPred ? Words::kFlags : Words::kAny;
    call.argument(column, {n.batch, n.rows}, words);
    if (i < num_products) call.argument(column, {n.batch, n.rows}, words);
    call.result(is_floating(column) ? kF64 : one_of(bytes, {kS64, kU64, kF64}),
                {n.batch, num_segments});
  }
  call.attribute("num_products", kS64, bytes.one_in(32) ? bytes.word() : num_products);
}

void run_nunique(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const int64_t num_segments = bytes.length();
  call.argument(kS32, {n.batch, n.rows}, Words::kCounts, num_segments);
  call.argument(integer_type(bytes), {n.batch, n.rows});
  call.result(kS32, {n.batch, num_segments});
  call.result(kS32, {n.batch});
}

void integer_range(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType integers = integer_type(bytes);
  call.argument(integers, {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  call.result(integers, {n.batch});
  call.result(integers, {n.batch});
}

void pairwise_sum(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  call.argument(one_of(bytes, {kF32, kF64}), {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  call.result(one_of(bytes, {kF64, kF32}), {n.batch});
}

void squared_distances(Bytes& bytes, Call& call) {
  const Sizes n(bytes);
  const XLA_FFI_DataType sums = one_of(bytes, {kF64, kF32});
  call.argument(one_of(bytes, {kF32, kF64}), {n.batch, n.rows});
  counts(call, n.batch, n.rows);
  call.argument(sums, {n.batch});
  call.result(sums, {n.batch});
  call.attribute("skips_nan", kPred, bytes.one_in(2));
}

}  // namespace
}  // namespace jaxframes_fuzz

// The name of each target, and what describes a call of it.
#define JAXFRAMES_TARGETS(X)                      \
  X(jaxframes_radix_sort_keys_v1, sort_keys)      \
  X(jaxframes_radix_argsort_v1, argsort)          \
  X(jaxframes_radix_sort_pairs_v1, sort_pairs)    \
  X(jaxframes_radix_sort_rows_v1, sort_rows)      \
  X(jaxframes_merge_v1, merge)                    \
  X(jaxframes_merge_keys_v1, merge_keys)          \
  X(jaxframes_top_k_v1, top_k)                    \
  X(jaxframes_segment_top_k_v1, segment_top_k)    \
  X(jaxframes_count_flags_v1, count_flags)        \
  X(jaxframes_flagged_rows_v1, flagged_rows)      \
  X(jaxframes_gather_rows_v1, gather_rows)        \
  X(jaxframes_segmented_scan_v1, segmented_scan)  \
  X(jaxframes_histogram_v1, histogram)            \
  X(jaxframes_smallest_nodes_v1, smallest_nodes)  \
  X(jaxframes_factorize_v1, factorize)            \
  X(jaxframes_group_sums_v1, group_sums)          \
  X(jaxframes_key_table_v1, key_table)            \
  X(jaxframes_look_up_v1, look_up)                \
  X(jaxframes_matched_rows_v1, matched_rows)      \
  X(jaxframes_match_v2, match)                    \
  X(jaxframes_pairs_v1, pairs)                    \
  X(jaxframes_membership_v1, membership)          \
  X(jaxframes_segment_sum_v1, segment_sum)        \
  X(jaxframes_segment_count_v1, segment_count)    \
  X(jaxframes_segment_sums_v2, segment_sums)      \
  X(jaxframes_run_nunique_v1, run_nunique)        \
  X(jaxframes_integer_range_v1, integer_range)    \
  X(jaxframes_pairwise_sum_v1, pairwise_sum)      \
  X(jaxframes_sum_of_squared_distances_v1, squared_distances) \
  X(jaxframes_merge_scan_v1, merge_scan)          \
  X(jaxframes_window_moments_v1, window_moments)

#define JAXFRAMES_DECLARE(name, describe) extern "C" XLA_FFI_Error* name(XLA_FFI_CallFrame*);
JAXFRAMES_TARGETS(JAXFRAMES_DECLARE)

namespace {

struct Target {
  const char* name;
  XLA_FFI_Handler* handler;
  void (*describe)(jaxframes_fuzz::Bytes&, jaxframes_fuzz::Call&);
  int64_t num_accepted = 0;
  int64_t num_refused = 0;
};

#define JAXFRAMES_ROW(name, describe) {#name, name, jaxframes_fuzz::describe},
Target targets[] = {JAXFRAMES_TARGETS(JAXFRAMES_ROW)};

// At the end: what the executions came to, so that a harness that calls nothing is seen.
void report() {
  int64_t accepted = 0, refused = 0;
  for (const Target& target : targets) {
    std::fprintf(stderr, "%-42s %9lld computed %9lld refused\n", target.name,
                 static_cast<long long>(target.num_accepted),
                 static_cast<long long>(target.num_refused));
    accepted += target.num_accepted;
    refused += target.num_refused;
  }
  std::fprintf(stderr, "%-42s %9lld computed %9lld refused\n", "in all",
               static_cast<long long>(accepted), static_cast<long long>(refused));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const bool is_registered = (std::atexit(report), true);
  (void)is_registered;
  jaxframes_fuzz::Bytes bytes(data, size);
  Target& target = targets[bytes.byte() % std::size(targets)];
  // Mostly few: more threads than cores take longer and find the same.
  const uint8_t threads = bytes.byte();
  const int num_threads = threads < 32 ? threads % 16 + 1 : threads % 2 + 1;
  jaxframes_fuzz::Call call(bytes);
  target.describe(bytes, call);
  ++(call.run(target.name, target.handler, num_threads) ? target.num_accepted : target.num_refused);
  return 0;
}
