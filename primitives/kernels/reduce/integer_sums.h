// SPDX-License-Identifier: Apache-2.0
// Sums of integers by segment. They wrap around, so rows may be added in any order: each thread
// adds some of the rows to a table of its own, with the sums of a segment side by side.
#ifndef JAXFRAMES_KERNELS_REDUCE_INTEGER_SUMS_H_
#define JAXFRAMES_KERNELS_REDUCE_INTEGER_SUMS_H_

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/thread_pool.h"
#include "base/work_array.h"
#include "reduce/segment_sum.h"
#include "sort/ordered_word.h"

namespace jaxframes {

// Integers wrap around: C++ leaves that undefined for signed ones, and for narrow unsigned ones,
// whose product is an int.
template <typename Number>
Number wrapping_product(Number left, Number right) {
  if constexpr (std::is_integral_v<Number>) {
    return static_cast<Number>(static_cast<uint64_t>(left) * static_cast<uint64_t>(right));
  } else {
    return left * right;
  }
}

// One result of integers.
struct IntegerSum {
  // The word of each listed row: in the column itself, or written to `space`.
  std::function<const uint64_t*(const ListedRows& rows, uint64_t* space)> words;
  // Writes the sums of the segments from `begin` to `end`: every `stride`-th word from `sums` on.
  std::function<void(int64_t begin, int64_t end, const uint64_t* sums, int64_t stride)> store;
  // Whether the words of the first `num_rows` rows add up to the result; without it they do.
  std::function<bool(Executor& executor, int64_t num_rows)> are_exact;
};

namespace internal {

// A result that is a double is the rounded sum of words, which is no more than 2^63.
template <typename Sum>
auto store_to(Sum* sums) {
  using Word = std::conditional_t<std::is_floating_point_v<Sum>, int64_t, uint64_t>;
  return [=](int64_t begin, int64_t end, const uint64_t* words, int64_t stride) {
    for (int64_t i = begin; i < end; ++i) {
      sums[i] = static_cast<Sum>(static_cast<Word>(words[(i - begin) * stride]));
    }
  };
}

// A bound of the magnitudes of integers, as a number of bits.
template <typename Number>
int magnitude_bits(Executor& executor, const Number* numbers, int64_t size) {
  if constexpr (sizeof(Number) < sizeof(uint64_t)) return 8 * sizeof(Number);
  const Chunks chunks(size, 1 << 15, executor.num_threads());
  std::vector<uint64_t> of_chunks(chunks.count, 0);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    uint64_t bits = 0;
    for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) {
      const uint64_t word = static_cast<uint64_t>(numbers[i]);
      // Of -n these are the bits of n - 1.
      bits |= std::is_signed_v<Number> ? word ^ (0 - (word >> 63)) : word;
    }
    of_chunks[chunk] = bits;
  });
  uint64_t bits = 0;
  for (const uint64_t word : of_chunks) bits |= word;
  return bit_width(bits);
}

// Whether integers are doubles, and add up in 64 bits. Then the rounded sum of words is what a
// compensated sum of doubles gives: no addition loses more than its rest holds.
template <typename Number>
bool add_up_as_doubles(Executor& executor, const Number* numbers, int64_t size) {
  constexpr int kDoubleBits = 53, kSumBits = 63;
  const int bits = magnitude_bits(executor, numbers, size);
  return bits <= kDoubleBits && bits + bit_width(static_cast<uint64_t>(size)) <= kSumBits;
}

// Whether the listed rows are consecutive.
inline bool are_consecutive(const ListedRows& rows) {
  return rows.positions[rows.count - 1] - rows.positions[0] == rows.count - 1;
}

// Calls word(row) for the listed rows, which are not empty.
template <typename Word>
const uint64_t* write_words(const ListedRows& rows, uint64_t* space, const Word& word) {
  if (are_consecutive(rows)) {
    const int64_t first = rows.first_row + rows.positions[0];
    for (int64_t i = 0; i < rows.count; ++i) space[i] = word(first + i);
  } else {
    for (int64_t i = 0; i < rows.count; ++i) space[i] = word(rows.first_row + rows.positions[i]);
  }
  return space;
}

// Most sums whose words lie side by side, in one line of the cache.
constexpr int kMostWords = 8;
// Rows whose words are held at a time: they stay in the first cache.
constexpr int64_t kSpaceRows = 256;

inline int64_t stride_of(int64_t num_words) {
  int64_t stride = 1;
  while (stride < num_words) stride *= 2;
  return stride;
}

// Adds the words of the listed rows to a table.
template <int kWords>
void add_words(const ListedRows& rows, const uint64_t* const* words, uint64_t* table) {
  const int64_t stride = stride_of(kWords);
  const uint64_t* own[kWords];
  std::copy(words, words + kWords, own);
  for (int64_t i = 0; i < rows.count; ++i) {
    uint64_t* const sums = table + rows.segments[i] * stride;
    for (int word = 0; word < kWords; ++word) sums[word] += own[word][i];
  }
}

inline void add_words(int64_t num_words, const ListedRows& rows, const uint64_t* const* words,
                      uint64_t* table) {
  switch (num_words) {
    case 1: return add_words<1>(rows, words, table);
    case 2: return add_words<2>(rows, words, table);
    case 3: return add_words<3>(rows, words, table);
    case 4: return add_words<4>(rows, words, table);
    case 5: return add_words<5>(rows, words, table);
    case 6: return add_words<6>(rows, words, table);
    case 7: return add_words<7>(rows, words, table);
    default: return add_words<8>(rows, words, table);
  }
}

}  // namespace internal

// Adds the rows of all integers in tasks; `finish`, after all of them, writes the results.
template <typename Id>
class IntegerSums {
 public:
  // Whether a table of so many sums for each thread fits the cache and is small beside the rows.
  static bool fits(const SegmentIds<Id>& rows, int64_t num_sums) {
    return kMinRows * rows.num_segments <= rows.num_valid &&
           rows.num_segments * num_sums * int64_t{sizeof(uint64_t)} <= kMostTableBytes;
  }

  IntegerSums(Executor& executor, const SegmentIds<Id>& rows, std::vector<IntegerSum> sums)
      : rows_(rows),
        sums_(std::move(sums)),
        chunks_(rows.num_valid, std::max<int64_t>(1 << 15, kMinRows * rows.num_segments),
                executor.num_threads()),
        tables_(executor.num_threads()) {}

  int64_t num_tasks() const { return sums_.empty() ? 0 : chunks_.count; }

  // Calls with different workers may run at the same time.
  void run_task(int64_t worker, int64_t chunk) {
    std::unique_ptr<WorkArray<uint64_t>>& table = tables_[worker];
    if (!table) table = cleared_table();
    uint64_t space[internal::kMostWords * internal::kSpaceRows];
    internal::for_listed_rows(
        rows_, chunks_.begin(chunk), chunks_.end(chunk), 0, rows_.num_segments,
        [&](const ListedRows& listed) {
          for (int64_t begin = 0; begin < listed.count; begin += internal::kSpaceRows) {
            const int64_t count = std::min(listed.count - begin, internal::kSpaceRows);
            add(ListedRows{listed.first_row, count, listed.positions + begin,
                           listed.segments + begin},
                space, table->data());
          }
        });
  }

  void finish(Executor& executor) {
    if (sums_.empty()) return;
    std::vector<uint64_t*> tables;
    for (const auto& table : tables_) {
      if (table) tables.push_back(table->data());
    }
    const Chunks segments(rows_.num_segments, 1 << 12, executor.num_threads());
    parallel_for(executor, segments.count, [&](int, int64_t chunk) {
      for_each_group([&](int64_t first, int64_t num_words, int64_t offset, int64_t stride) {
        const int64_t begin = segments.begin(chunk), end = segments.end(chunk);
        for (size_t other = 1; other < tables.size(); ++other) {
          for (int64_t i = offset + begin * stride; i < offset + end * stride; ++i) {
            tables[0][i] += tables[other][i];
          }
        }
        for (int64_t word = 0; word < num_words; ++word) {
          sums_[first + word].store(begin, end, tables[0] + offset + begin * stride + word,
                                    stride);
        }
      });
    });
  }

 private:
  static constexpr int64_t kMostTableBytes = 1 << 22;
  // For each segment.
  static constexpr int64_t kMinRows = 8;

  // Calls each_group(first sum, number of sums, offset in the table, stride).
  template <typename EachGroup>
  void for_each_group(const EachGroup& each_group) const {
    const int64_t num_sums = static_cast<int64_t>(sums_.size());
    int64_t offset = 0;
    for (int64_t first = 0; first < num_sums; first += internal::kMostWords) {
      const int64_t num_words = std::min<int64_t>(internal::kMostWords, num_sums - first);
      const int64_t stride = internal::stride_of(num_words);
      each_group(first, num_words, offset, stride);
      offset += stride * rows_.num_segments;
    }
  }

  std::unique_ptr<WorkArray<uint64_t>> cleared_table() const {
    int64_t size = 0;
    for_each_group([&](int64_t, int64_t, int64_t offset, int64_t stride) {
      size = offset + stride * rows_.num_segments;
    });
    auto table = std::make_unique<WorkArray<uint64_t>>(size);
    std::fill(table->data(), table->data() + size, 0);
    return table;
  }

  void add(const ListedRows& listed, uint64_t* space, uint64_t* table) const {
    for_each_group([&](int64_t first, int64_t num_words, int64_t offset, int64_t) {
      const uint64_t* words[internal::kMostWords];
      for (int64_t word = 0; word < num_words; ++word) {
        words[word] = sums_[first + word].words(listed, space + word * internal::kSpaceRows);
      }
      internal::add_words(num_words, listed, words, table + offset);
    });
  }

  const SegmentIds<Id> rows_;
  const std::vector<IntegerSum> sums_;
  const Chunks chunks_;
  std::vector<std::unique_ptr<WorkArray<uint64_t>>> tables_;  // by worker, made when it has a task
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_INTEGER_SUMS_H_
