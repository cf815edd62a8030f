// SPDX-License-Identifier: Apache-2.0
// The radix sort for other kernels.
#ifndef JAXFRAMES_KERNELS_SORT_SORT_WORDS_H_
#define JAXFRAMES_KERNELS_SORT_SORT_WORDS_H_

#include <cstdint>

#include "sort/radix_sort.h"
#include "base/work_array.h"

namespace jaxframes {

// It compiles slowly, so radix_sort_ffi.cc instantiates it once for all.
extern template void radix_sort<SortVariant::kPairs>(
    Executor&, const SortArguments<IntegerOrder<uint32_t>>&, void*);
extern template void radix_sort<SortVariant::kPairs>(
    Executor&, const SortArguments<IntegerOrder<uint64_t>>&, void*);

// Sorts words, smallest first, and returns their original positions.
struct SortWords {
  template <typename Word>
  void operator()(Executor& executor, const Word* words, int64_t num_words, Word* sorted_words,
                  int32_t* positions) const {
    const int32_t num_valid = static_cast<int32_t>(num_words);
    WorkArray<char> scratch(
        radix_sort_row_scratch_bytes(num_words, sizeof(Word), SortVariant::kPairs) + 64);
    const auto aligned = (reinterpret_cast<uintptr_t>(scratch.data()) + 63) / 64 * 64;
    radix_sort<SortVariant::kPairs>(
        executor,
        SortArguments<IntegerOrder<Word>>{1, num_words, words, nullptr, &num_valid, sorted_words,
                                          positions, IntegerOrder<Word>{}, 8 * sizeof(Word)},
        reinterpret_cast<void*>(aligned));
  }
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_SORT_WORDS_H_
