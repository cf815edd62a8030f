// SPDX-License-Identifier: Apache-2.0
// A set of rows with the rank of each member.
#ifndef JAXFRAMES_KERNELS_GROUPS_ROW_FLAGS_H_
#define JAXFRAMES_KERNELS_GROUPS_ROW_FLAGS_H_

#include <cstdint>
#include <cstring>
#include <vector>

#include "base/thread_pool.h"

namespace jaxframes {

// Threads fill one byte per row, so that none waits for another; then it is packed to one bit per
// row, with the number of members before each 64 rows.
class RowFlags {
 public:
  explicit RowFlags(int64_t num_rows) : flags_((num_rows + 63) / 64 * 64) {}

  void add(int32_t row) { flags_[row] = 1; }

  // Ends the filling.
  void count(Executor& executor) {
    const int64_t num_words = static_cast<int64_t>(flags_.size()) / 64;
    bits_.resize(num_words);
    before_.resize(num_words);
    const Chunks chunks(num_words, 1 << 10, executor.num_threads());
    parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
      for (int64_t i = chunks.begin(chunk); i < chunks.end(chunk); ++i) bits_[i] = packed(i);
    });
    int32_t total = 0;
    for (int64_t i = 0; i < num_words; ++i) {
      before_[i] = total;
      total += __builtin_popcountll(bits_[i]);
    }
  }

  int32_t rank(int32_t row) const {
    const uint64_t below = (uint64_t{1} << (row % 64)) - 1;
    return before_[row / 64] + __builtin_popcountll(bits_[row / 64] & below);
  }

 private:
  uint64_t packed(int64_t word) const {
    uint64_t bits = 0;
    for (int byte = 0; byte < 8; ++byte) {
      uint64_t eight_flags;
      std::memcpy(&eight_flags, &flags_[64 * word + 8 * byte], 8);
      // The product moves flag i, bit 8i, to bit 56 + i, without collisions.
      bits |= (eight_flags * 0x0102040810204080ull) >> 56 << (8 * byte);
    }
    return bits;
  }

  std::vector<uint8_t> flags_;
  std::vector<uint64_t> bits_;
  std::vector<int32_t> before_;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_GROUPS_ROW_FLAGS_H_
