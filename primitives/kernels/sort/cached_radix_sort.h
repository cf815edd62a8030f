// SPDX-License-Identifier: Apache-2.0
// Sorts rows that fit the cache, on one thread: LSD radix passes over the highest distinguishing
// bits, then a walk that resolves ties.
#ifndef JAXFRAMES_KERNELS_SORT_CACHED_RADIX_SORT_H_
#define JAXFRAMES_KERNELS_SORT_CACHED_RADIX_SORT_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>

#include "sort/digit.h"
#include "sort/ordered_word.h"
#include "sort/rows.h"

namespace jaxframes {

// Up to this many rows insertion sort is fastest.
constexpr int64_t kInsertionRows = 24;
constexpr int kMaxPasses = 4;

// Memory of one thread: two buffers to sort between, and digit counts.
template <typename Word, bool kHasIds>
class SortWorkspace {
 public:
  using Rows = ScratchRows<Word, kHasIds>;

  explicit SortWorkspace(int64_t capacity)
      : capacity_((capacity + 15) / 16 * 16),  // keeps each column aligned
        rows_(new char[2 * capacity_ * kRowBytes]),
        counts_(new uint32_t[kMaxPasses << kMaxDigitBits]) {}

  Rows buffer(int index) const {
    char* begin = rows_.get() + index * capacity_ * kRowBytes;
    if constexpr (std::is_same_v<Rows, FusedRows>) {
      return {reinterpret_cast<uint64_t*>(begin)};
    } else {
      char* ids = begin + capacity_ * sizeof(Word);
      return {reinterpret_cast<Word*>(begin),
              kHasIds ? reinterpret_cast<int32_t*>(ids) : nullptr};
    }
  }
  // The same memory as three buffers of rows whose words are 64 bits wide.
  PlacedRows placed(int index) const {
    static_assert(2 * kRowBytes >= 3 * sizeof(uint64_t), "");
    return {reinterpret_cast<uint64_t*>(rows_.get()) + index * capacity_};
  }
  uint32_t* counts() const { return counts_.get(); }

 private:
  static constexpr int64_t kRowBytes = sizeof(Word) + (kHasIds ? sizeof(int32_t) : 0);

  int64_t capacity_;
  std::unique_ptr<char[]> rows_;
  std::unique_ptr<uint32_t[]> counts_;
};

// Stable insertion sort by the bits of `compared`.
template <typename Rows, typename Word>
void insertion_sort(Rows rows, int64_t size, Word compared) {
  for (int64_t i = 1; i < size; ++i) {
    const Word word = rows.word(i);
    const int32_t id = rows.id(i);
    int64_t j = i;
    for (; j > 0 && (rows.word(j - 1) & compared) > (word & compared); --j) {
      rows.put(j, rows.word(j - 1), rows.id(j - 1));
    }
    rows.put(j, word, id);
  }
}

// The bits that vary in rows [begin, end).
template <typename Source>
auto varying_bits(const Source& source, int64_t begin, int64_t end) {
  const auto reference = source.word(0);
  auto varying = reference;
  varying = 0;
  for (int64_t i = begin; i < end; ++i) varying |= source.word(i) ^ reference;
  return varying;
}

template <typename Source, typename Sink>
void copy_rows(const Source& source, int64_t size, const Sink& sink) {
  for (int64_t i = 0; i < size; ++i) sink.put(i, source.word(i), source.id(i));
}

// The digits of one sort, least significant first, with consecutive counts.
struct Passes {
  Digit digits[kMaxPasses];
  int count = 0;
};

// The number of bits that distinguish nearly all of 2^size_bits rows: with uniform keys one or two
// rows in a hundred stay tied, which costs less than an extra pass over more bits.
inline int telling_bits(int size_bits) { return size_bits + 6; }

// Divides the highest bits of `varying` into few digits that distinguish nearly all of 2^size_bits
// rows: remaining ties are resolved one by one.
template <typename Word>
Passes plan_passes(Word varying, int size_bits) {
  const int high = bit_width(varying);
  const int num_bits = high - trailing_zeros(varying);
  // Bins should not outnumber rows.
  const int max_digit_bits = std::clamp(size_bits - 1, 5, kMaxDigitBits);
  const int needed_bits = std::min(num_bits, telling_bits(size_bits));
  Passes passes;
  passes.count = (needed_bits + max_digit_bits - 1) / max_digit_bits;
  int shift = high - std::min(num_bits, passes.count * max_digit_bits);
  for (int pass = 0; pass < passes.count; ++pass) {
    const int remaining = passes.count - pass;
    const int digit_bits = (high - shift + remaining - 1) / remaining;
    passes.digits[pass] = {shift, digit_bits};
    shift += digit_bits;
  }
  return passes;
}

// Counts the digits of all passes in one read.
template <int kPasses, typename Source>
void upsweep(const Source& source, int64_t size, const Passes& passes, uint32_t* counts) {
  Digit digits[kPasses];
  std::copy(passes.digits, passes.digits + kPasses, digits);
  for (int64_t i = 0; i < size; ++i) {
    const auto word = source.word(i);
    for (int pass = 0; pass < kPasses; ++pass) {
      ++counts[(pass << kMaxDigitBits) + digits[pass].of(word)];
    }
  }
}

template <typename Source>
void upsweep(const Source& source, int64_t size, const Passes& passes, uint32_t* counts) {
  for (int pass = 0; pass < passes.count; ++pass) {
    std::fill_n(counts + (pass << kMaxDigitBits), passes.digits[pass].num_bins(), 0u);
  }
  switch (passes.count) {
    case 1: return upsweep<1>(source, size, passes, counts);
    case 2: return upsweep<2>(source, size, passes, counts);
    case 3: return upsweep<3>(source, size, passes, counts);
    default: return upsweep<4>(source, size, passes, counts);
  }
}

// Sorts `size` rows of `source` by the bits of `compared` (low bits, all of one
// run) into `sink`, through `first` and `second`, which hold `size` rows each.
// `second` may be `source` itself. With `in_place` `sink` may overlap `source` row by row.
template <typename Source, typename Word, typename Rows, typename Sink>
void cached_radix_sort(const Source& source, int64_t size, Word compared, Rows first,
                       Rows second, uint32_t* counts, const Sink& sink, bool in_place) {
  if (size <= kInsertionRows) {
    copy_rows(source, size, first);
    insertion_sort(first, size, compared);
    copy_rows(first, size, sink);
    return;
  }
  const Word varying = varying_bits(source, 0, size) & compared;
  if (varying == 0) return copy_rows(source, size, sink);

  const Passes planned = plan_passes(varying, bit_width(static_cast<uint64_t>(size)));
  const int low = planned.digits[0].shift;
  upsweep(source, size, planned, counts);

  // A digit that is equal in all rows needs no pass.
  int active[kMaxPasses];
  int num_active = 0;
  for (int pass = 0; pass < planned.count; ++pass) {
    uint32_t* digit_counts = counts + (pass << kMaxDigitBits);
    const Digit digit = planned.digits[pass];
    if (digit_counts[digit.of(source.word(0))] == size) continue;
    exclusive_scan(digit_counts, digit.num_bins());
    active[num_active++] = pass;
  }

  const bool has_ties = (varying & low_bits<Word>(low)) != 0;
  Rows from, to = first, other = second;
  bool reads_source = true;
  const auto next_buffer = [&] {
    from = to;
    to = other;
    other = from;
    reads_source = false;
  };
  if (num_active == 1 && !has_ties && in_place) {
    copy_rows(source, size, to);
    next_buffer();
  }
  for (int pass = 0; pass < num_active; ++pass) {
    const Digit digit = planned.digits[active[pass]];
    uint32_t* offsets = counts + (active[pass] << kMaxDigitBits);
    if (pass + 1 == num_active && !has_ties) {
      if (reads_source) return downsweep(source, 0, size, digit, offsets, sink);
      return downsweep(from, 0, size, digit, offsets, sink);
    }
    if (reads_source) {
      downsweep(source, 0, size, digit, offsets, to);
    } else {
      downsweep(from, 0, size, digit, offsets, to);
    }
    next_buffer();
  }

  // Rows are sorted by the bits from `low` up. Runs with equal bits are sorted by the bits below,
  // in `from`, with the same part of `to` as a buffer.
  const Word prefix = static_cast<Word>(compared & ~low_bits<Word>(low));
  const Word rest = static_cast<Word>(compared & low_bits<Word>(low));
  for (int64_t begin = 0; begin < size;) {
    const Word word = from.word(begin);
    int64_t end = begin + 1;
    while (end < size && ((from.word(end) ^ word) & prefix) == 0) ++end;
    if (end - begin == 1) {
      sink.put(begin, word, from.id(begin));
    } else if (end - begin <= kInsertionRows) {
      insertion_sort(from + begin, end - begin, rest);
      copy_rows(from + begin, end - begin, sink + begin);
    } else {
      cached_radix_sort(from + begin, end - begin, rest, to + begin, from + begin,
                        counts, sink + begin, false);
    }
    begin = end;
  }
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_CACHED_RADIX_SORT_H_
