// SPDX-License-Identifier: Apache-2.0
// Sorts many rows with ids by keys of few bits, in two passes: the first writes rows of 32 bits and
// the second writes the result.
#ifndef JAXFRAMES_KERNELS_SORT_NARROW_RADIX_SORT_H_
#define JAXFRAMES_KERNELS_SORT_NARROW_RADIX_SORT_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "sort/digit.h"
#include "sort/digit_partition.h"
#include "sort/ordered_word.h"
#include "sort/rows.h"
#include "base/thread_pool.h"

namespace jaxframes {

// The two digits of a narrow word. The low one shares 32 bits with the row id.
struct NarrowDigits {
  // With more bins the write positions of a pass no longer fit the first cache.
  static constexpr int kMaxHighBits = 10;
  // Up to this many bits one pass is faster than two.
  static constexpr int kMaxSingleBits = 9;

  int id_bits;
  Digit high;
  Digit low;

  NarrowDigits(int64_t size, int num_bits)
      : id_bits(bit_width(static_cast<uint64_t>(size - 1))) {
    const int num_low = num_bits <= kMaxSingleBits ? 0 : std::min(num_bits / 2, 32 - id_bits);
    low = {0, num_low};
    high = {num_low, num_bits - num_low};
  }

  // Whether two passes suffice, and rows outnumber the counted values.
  bool fit(int64_t size) const {
    return high.num_bits <= kMaxHighBits && size >> high.num_bits >= low.num_bins();
  }
};

// The caller's keys; the id of a row is its position.
template <typename Order>
struct PositionedRows {
  using Key = typename Order::Key;

  const Key* keys;
  OrderedWord<Order, uint32_t> order;

  uint32_t word(int64_t i) const { return order.from_key(keys[i]); }
  int32_t id(int64_t i) const { return static_cast<int32_t>(i); }
};

// The same rows, recording the range of their keys while they are read.
template <typename Order>
struct CheckedRows {
  using Key = typename Order::Key;

  const PositionedRows<Order>& rows;
  Key compared;
  mutable Key offsets = 0;

  uint32_t word(int64_t i) const {
    const Key offset = rows.order.offset(rows.keys[i], compared);
    offsets |= offset;
    return static_cast<uint32_t>(offset >> rows.order.shift);
  }
};

template <typename Order, typename Output>
class NarrowRadixSort {
 public:
  using Key = typename Order::Key;
  using Input = PositionedRows<Order>;

  // `scratch` holds `size` words.
  NarrowRadixSort(Executor& executor, const Input& input, int64_t size,
                  const NarrowDigits& digits, uint32_t* scratch, const Output& output)
      : executor_(executor),
        input_(input),
        size_(size),
        digits_(digits),
        scratch_(scratch),
        output_(output) {}

  // Returns whether all keys, by their bits in `compared`, were in the range of their order;
  // otherwise nothing is written.
  bool sort(Key compared) {
    if (!count_high_digits(compared)) return false;
    if (digits_.low.num_bits == 0) {
      move_to_bins(executor_, input_, size_, digits_.high, counts_, output_);
      return true;
    }
    // Rows of 32 bits fit the memory of their ids in the result.
    move_to_bins(executor_, input_, size_, digits_.high, counts_, compact_rows(output_.ids, 0));
    sort_bins();
    return true;
  }

 private:
  // A bin that is sorted by one thread, with its memory.
  struct Workspace {
    std::vector<uint32_t> rows;
    ChunkCounts counts;
    std::vector<uint32_t> low_offsets;
  };

  bool count_high_digits(Key compared) {
    const Chunks chunks = partition_chunks(executor_, size_);
    counts_.reset(chunks.count, digits_.high.num_bins());
    std::vector<Key> excess(chunks.count);
    parallel_for(executor_, chunks.count, [&](int, int64_t chunk) {
      const CheckedRows<Order> rows{input_, compared};
      upsweep(rows, chunks.begin(chunk), chunks.end(chunk), digits_.high,
              counts_.chunk(chunk));
      excess[chunk] = rows.offsets & input_.order.excess_bits();
    });
    if (std::any_of(excess.begin(), excess.end(), [](Key bits) { return bits != 0; })) {
      return false;
    }
    counts_.exclusive_scan(offsets_);
    return true;
  }

  CompactRows compact_rows(void* rows, int64_t bin) const {
    const uint32_t prefix = static_cast<uint32_t>(bin) << digits_.high.shift;
    return {static_cast<uint32_t*>(rows), digits_.id_bits, prefix};
  }

  int64_t bin_size(int64_t bin) const { return int64_t{offsets_[bin + 1]} - offsets_[bin]; }

  void sort_bins() {
    // All threads together sort a bin that is too large for one thread.
    const int64_t max_serial_rows = std::max(size_ / 16, kCachedRows);
    int64_t max_rows = 0;
    std::vector<int64_t> serial_bins;
    std::vector<uint32_t> low_offsets;
    for (int64_t bin = 0; bin < digits_.high.num_bins(); ++bin) {
      if (bin_size(bin) > max_serial_rows) {
        sort_bin(executor_, bin, scratch_, counts_, low_offsets);
      } else if (bin_size(bin) > 0) {
        max_rows = std::max(max_rows, bin_size(bin));
        serial_bins.push_back(bin);
      }
    }
    std::vector<Workspace> workspaces(executor_.num_threads());
    parallel_for(executor_, serial_bins.size(), [&](int worker, int64_t index) {
      SerialExecutor serial;
      Workspace& workspace = workspaces[worker];
      workspace.rows.resize(max_rows);
      sort_bin(serial, serial_bins[index], workspace.rows.data(), workspace.counts,
               workspace.low_offsets);
    });
  }

  // Sorts a bin in place, just after the copy has brought it into the cache.
  void sort_bin(Executor& executor, int64_t bin, uint32_t* copy, ChunkCounts& counts,
                std::vector<uint32_t>& low_offsets) const {
    const int64_t num_rows = bin_size(bin);
    const int32_t* const ids = output_.ids + offsets_[bin];
    const Chunks chunks = partition_chunks(executor, num_rows);
    parallel_for(executor, chunks.count, [&](int, int64_t chunk) {
      std::copy(ids + chunks.begin(chunk), ids + chunks.end(chunk), copy + chunks.begin(chunk));
    });
    const CompactRows rows = compact_rows(copy, bin);
    count_digits(executor, rows, num_rows, digits_.low, counts, low_offsets);
    move_to_bins<false>(executor, rows, num_rows, digits_.low, counts,
                        output_ + offsets_[bin]);
  }

  Executor& executor_;
  const Input input_;
  const int64_t size_;
  const NarrowDigits digits_;
  uint32_t* const scratch_;
  const Output output_;
  ChunkCounts counts_;
  std::vector<uint32_t> offsets_;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_NARROW_RADIX_SORT_H_
