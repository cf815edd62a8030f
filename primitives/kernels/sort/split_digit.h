// SPDX-License-Identifier: Apache-2.0
// A digit with more bits for bins with more rows.
#ifndef JAXFRAMES_KERNELS_SORT_SPLIT_DIGIT_H_
#define JAXFRAMES_KERNELS_SORT_SPLIT_DIGIT_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sort/digit.h"
#include "sort/ordered_word.h"

namespace jaxframes {

// The bins of a digit, with large bins split by the bits below it. Floating point keys need this:
// half of the uniform numbers in [0, 1) share one exponent, and with it all of the highest bits.
template <typename Word>
class SplitDigit {
 public:
  // Splits the bins of `digit`, bin b of which holds rows [bin_offsets[b],
  // bin_offsets[b + 1]), to about `target_rows` each: at most
  // 2 * rows / target_rows bins more.
  SplitDigit(Digit digit, const std::vector<uint32_t>& bin_offsets, int64_t target_rows)
      : digit_(digit), rest_(low_bits<Word>(digit.shift)), cells_(digit.num_bins()) {
    for (int64_t cell = 0; cell < digit.num_bins(); ++cell) {
      const int64_t rows = int64_t{bin_offsets[cell + 1]} - bin_offsets[cell];
      const int more_bits =
          std::min(bit_width(static_cast<uint64_t>(rows / target_rows)), digit.shift);
      cells_[cell] = {static_cast<uint32_t>(shifts_.size()),
                      static_cast<uint32_t>(digit.shift - more_bits)};
      shifts_.insert(shifts_.end(), size_t{1} << more_bits, digit.shift - more_bits);
    }
  }

  uint32_t of(Word word) const {
    const Cell cell = cells_[digit_.of(word)];
    return cell.first_bin + static_cast<uint32_t>((word & rest_) >> cell.shift);
  }
  int64_t num_bins() const { return static_cast<int64_t>(shifts_.size()); }

  // The number of low bits in which the rows of `bin` may differ.
  int shift(int64_t bin) const { return shifts_[bin]; }

 private:
  struct Cell {
    uint32_t first_bin;
    uint32_t shift;
  };

  Digit digit_;
  Word rest_;
  std::vector<Cell> cells_;
  std::vector<int> shifts_;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_SPLIT_DIGIT_H_
