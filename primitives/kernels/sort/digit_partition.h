// SPDX-License-Identifier: Apache-2.0
// One radix pass by all threads: rows go to the bin of their digit, in row order.
#ifndef JAXFRAMES_KERNELS_SORT_DIGIT_PARTITION_H_
#define JAXFRAMES_KERNELS_SORT_DIGIT_PARTITION_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sort/digit.h"
#include "base/thread_pool.h"

namespace jaxframes {

// Digit counts of the chunks of one pass, later the write offsets of each chunk. They are per
// chunk, not shared: two chunks may contain the same digit.
class ChunkCounts {
 public:
  void reset(int64_t num_chunks, int64_t num_bins) {
    num_chunks_ = num_chunks;
    num_bins_ = num_bins;
    counts_.assign(num_chunks * num_bins, 0);
  }

  uint32_t* chunk(int64_t chunk) { return counts_.data() + chunk * num_bins_; }

  // Bins in order, and chunks in order within a bin, make the pass stable. bin_offsets[b] is the
  // start of bin b; one more entry is the end of the last bin.
  void exclusive_scan(std::vector<uint32_t>& bin_offsets) {
    bin_offsets.resize(num_bins_ + 1);
    uint32_t offset = 0;
    for (int64_t bin = 0; bin < num_bins_; ++bin) {
      bin_offsets[bin] = offset;
      for (int64_t chunk = 0; chunk < num_chunks_; ++chunk) {
        uint32_t& cell = counts_[chunk * num_bins_ + bin];
        const uint32_t count = cell;
        cell = offset;
        offset += count;
      }
    }
    bin_offsets[num_bins_] = offset;
  }

 private:
  std::vector<uint32_t> counts_;
  int64_t num_chunks_ = 0;
  int64_t num_bins_ = 0;
};

// Counts one digit. Consecutive equal digits would each wait for the previous store; adjacent rows
// therefore use different copies of the counts.
template <typename Source, typename AnyDigit>
void upsweep(const Source& source, int64_t begin, int64_t end, const AnyDigit& digit,
             uint32_t* counts) {
  constexpr int kCopies = 4;
  uint32_t copies[kCopies][1 << kMaxDigitBits];
  const int64_t num_bins = digit.num_bins();
  for (auto& copy : copies) std::fill_n(copy, num_bins, 0u);
  int64_t i = begin;
  for (; i + kCopies <= end; i += kCopies) {
    for (int copy = 0; copy < kCopies; ++copy) {
      ++copies[copy][digit.of(source.word(i + copy))];
    }
  }
  for (; i < end; ++i) ++copies[0][digit.of(source.word(i))];
  for (int64_t bin = 0; bin < num_bins; ++bin) {
    counts[bin] = copies[0][bin] + copies[1][bin] + copies[2][bin] + copies[3][bin];
  }
}

inline Chunks partition_chunks(const Executor& executor, int64_t size) {
  return Chunks(size, 1 << 15, executor.num_threads());
}

// Upsweep and scan: the start of each bin of `size` rows, and of each chunk in it.
template <typename Source, typename AnyDigit>
void count_digits(Executor& executor, const Source& source, int64_t size,
                  const AnyDigit& digit, ChunkCounts& counts,
                  std::vector<uint32_t>& bin_offsets) {
  const Chunks chunks = partition_chunks(executor, size);
  counts.reset(chunks.count, digit.num_bins());
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    upsweep(source, chunks.begin(chunk), chunks.end(chunk), digit, counts.chunk(chunk));
  });
  counts.exclusive_scan(bin_offsets);
}

// Downsweep: moves the rows to `sink`, which must not overlap `source`. `counts` are those of the
// same rows and digit, and are consumed. With `kPrefetch` the written rows are not in the cache.
template <bool kPrefetch = true, typename Source, typename AnyDigit, typename Sink>
void move_to_bins(Executor& executor, const Source& source, int64_t size,
                  const AnyDigit& digit, ChunkCounts& counts, const Sink& sink) {
  const Chunks chunks = partition_chunks(executor, size);
  parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
    downsweep<kPrefetch>(source, chunks.begin(chunk), chunks.end(chunk), digit,
                         counts.chunk(chunk), sink);
  });
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_DIGIT_PARTITION_H_
