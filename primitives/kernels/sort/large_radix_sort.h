// SPDX-License-Identifier: Apache-2.0
// Sorts more rows than the cache holds: partitions by the highest digit until the pieces fit, then
// sorts each piece on one thread.
#ifndef JAXFRAMES_KERNELS_SORT_LARGE_RADIX_SORT_H_
#define JAXFRAMES_KERNELS_SORT_LARGE_RADIX_SORT_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "sort/cached_radix_sort.h"
#include "sort/cached_wide_sort.h"
#include "sort/digit_partition.h"
#include "sort/rows.h"
#include "sort/split_digit.h"
#include "base/thread_pool.h"

namespace jaxframes {

// Number of rows that one thread sorts in cache.
constexpr int64_t kCachedRows = 1 << PlacedRows::kPlaceBits;
// Target size of the pieces of a partition, in rows.
constexpr int64_t kPieceRows = 1 << 13;

// A piece of the rows, with equal bits above the `num_bits` lowest ones.
struct Piece {
  int64_t begin;
  int64_t end;
  int side;  // the buffer that holds it
  int num_bits;

  int64_t size() const { return end - begin; }
};

template <typename Order, typename Word, SortVariant kVariant>
class LargeRadixSort {
 public:
  static constexpr bool kHasIds = kVariant != SortVariant::kKeys;
  using Input = InputRows<Order, Word, kHasIds>;
  using Side0 = ScratchRows<Word, kHasIds>;
  using Side1 = WorkRows<Word, kHasIds>;
  using Output = OutputRows<Order, Word, kVariant>;
  using Workspace = SortWorkspace<Word, kHasIds>;

  // The sides are two buffers for all rows. Where side 1 overlaps `output`, row by
  // row, `side_1_is_output` says so.
  // `positions`, if it is not null, receives where the first partition put each row; the ids
  // of the result are then such positions, which lie close to each other where ids do not.
  LargeRadixSort(Executor& executor, const Side0& side_0, const Side1& side_1,
                 const Output& output, bool side_1_is_output, int32_t* positions = nullptr)
      : executor_(executor),
        side_0_(side_0),
        side_1_(side_1),
        output_(output),
        side_1_is_output_(side_1_is_output),
        positions_(positions) {}

  void sort(const Input& input, int64_t size, Word varying) {
    partition(input, {0, size, 1, bit_width(varying)}, varying, true, side_0_);
    while (!large_.empty()) {
      const Piece piece = large_.back();
      large_.pop_back();
      if (piece.side == 0) {
        partition_again(side_0_ + piece.begin, piece, true, side_1_);
      } else {
        partition_again(side_1_ + piece.begin, piece, !side_1_is_output_, side_0_);
      }
    }
    sort_cached_pieces();
  }

 private:
  // The digit for `size` rows: enough bins for small pieces.
  static Digit highest_digit(int64_t size, Word varying) {
    const int high = bit_width(varying);
    const int num_varying = high - trailing_zeros(varying);
    if (num_varying <= kMaxBits) return {high - num_varying, num_varying};
    int num_bits = std::min(bit_width(static_cast<uint64_t>(size / kPieceRows)), kMaxBits);
    // If each piece needs one more pass, both passes should be equally wide.
    const int half = (num_varying + 1) / 2;
    if (half <= kMaxBits && size >> half <= kCachedRows / 2) num_bits = half;
    return {high - num_bits, num_bits};
  }

  // Partitions the rows of `piece`, which `source` holds, to `other_side`, or to the
  // output if then they are sorted.
  template <typename Source, typename OtherSide>
  void partition(const Source& source, const Piece& piece, Word varying,
                 bool may_write_output, const OtherSide& other_side) {
    const Digit digit = highest_digit(piece.size(), varying);
    const OtherSide sink = other_side + piece.begin;
    if (digit.shift <= trailing_zeros(varying)) {
      count_digits(executor_, source, piece.size(), digit, counts_, bin_offsets_);
      if (may_write_output) {
        move(source, piece.size(), digit, output_ + piece.begin);
        return;
      }
      move(source, piece.size(), digit, sink);
      return add_pieces(piece, digit.num_bins(), [](int64_t) { return 0; });
    }
    // Keys alone move so fast that splitting a digit does not pay.
    if (!kHasIds || !seems_uneven(source, piece.size(), digit)) {
      count_digits(executor_, source, piece.size(), digit, counts_, bin_offsets_);
      if (!kHasIds || !is_uneven(piece.size())) {
        move(source, piece.size(), digit, sink);
        return add_pieces(piece, digit.num_bins(), [&](int64_t) { return digit.shift; });
      }
    }
    // A second count costs less than moving most rows again.
    const int64_t target_rows = std::max(kPieceRows, piece.size() / kSplitPieces);
    const SplitDigit<Word> split(digit, bin_offsets_, target_rows);
    count_digits(executor_, source, piece.size(), split, counts_, bin_offsets_);
    move(source, piece.size(), split, sink);
    add_pieces(piece, split.num_bins(), [&](int64_t bin) { return split.shift(bin); });
  }

  template <typename Source, typename AnyDigit, typename Sink>
  void move(const Source& source, int64_t size, const AnyDigit& digit, const Sink& sink) {
    if constexpr (kVariant == SortVariant::kArgsort && std::is_same_v<Source, Input>) {
      if (positions_ != nullptr) {
        return move_to_bins(executor_, source, size, digit, counts_,
                            PlacingRows<Sink>{sink, positions_});
      }
    }
    move_to_bins(executor_, source, size, digit, counts_, sink);
  }

  // Predicts `is_uneven` from a sample of the rows, which saves the counts.
  template <typename Source>
  bool seems_uneven(const Source& source, int64_t size, const Digit& digit) {
    constexpr int64_t kSampleRows = 1 << 12;
    if (size < 16 * kSampleRows) return false;
    std::vector<int64_t> sampled(digit.num_bins(), 0);
    for (int64_t i = 0; i < kSampleRows; ++i) {
      ++sampled[digit.of(source.word(size * i / kSampleRows))];
    }
    bin_offsets_.assign(1, 0);
    int64_t end = 0;
    for (const int64_t rows : sampled) {
      end += rows;
      bin_offsets_.push_back(static_cast<uint32_t>(size * end / kSampleRows));
    }
    return is_uneven(size);
  }

  // Whether more than an eighth of the rows would have to move again with these counts.
  bool is_uneven(int64_t size) const {
    int64_t rows_in_large_bins = 0;
    for (size_t bin = 0; bin + 1 < bin_offsets_.size(); ++bin) {
      const int64_t rows = int64_t{bin_offsets_[bin + 1]} - bin_offsets_[bin];
      if (rows > kCachedRows) rows_in_large_bins += rows;
    }
    return rows_in_large_bins > size / 8;
  }

  // The bins of the rows of `piece`. num_bits_of(bin) is the number of low bits in which rows of a
  // bin may differ.
  template <typename NumBitsOf>
  void add_pieces(const Piece& piece, int64_t num_bins, const NumBitsOf& num_bits_of) {
    for (int64_t bin = 0; bin < num_bins; ++bin) {
      const Piece next = {piece.begin + bin_offsets_[bin],
                          piece.begin + bin_offsets_[bin + 1], 1 - piece.side,
                          num_bits_of(bin)};
      if (next.size() > kCachedRows) {
        large_.push_back(next);
      } else if (next.size() > 0) {
        cached_.push_back(next);
      }
    }
  }

  // The same for a piece of an earlier partition.
  template <typename Rows, typename OtherSide>
  void partition_again(const Rows& rows, const Piece& piece, bool may_write_output,
                       const OtherSide& other_side) {
    const Word compared = low_bits<Word>(piece.num_bits);
    const Chunks chunks(piece.size(), 1 << 16, executor_.num_threads());
    std::vector<Word> chunk_varying(chunks.count);
    parallel_for(executor_, chunks.count, [&](int, int64_t chunk) {
      chunk_varying[chunk] = varying_bits(rows, chunks.begin(chunk), chunks.end(chunk));
    });
    Word varying = 0;
    for (const Word bits : chunk_varying) varying |= bits & compared;
    if (varying != 0) return partition(rows, piece, varying, may_write_output, other_side);
    const Output output = output_ + piece.begin;
    parallel_for(executor_, chunks.count, [&](int, int64_t chunk) {
      const int64_t begin = chunks.begin(chunk);
      copy_rows(rows + begin, chunks.end(chunk) - begin, output + begin);
    });
  }

  void sort_cached_pieces() {
    if (cached_.empty()) return;
    // Pieces are processed in groups, so that tiny ones have little overhead.
    std::vector<size_t> group_begins;
    int64_t max_rows = 0, rows_in_group = kPieceRows;
    for (size_t i = 0; i < cached_.size(); ++i) {
      max_rows = std::max(max_rows, cached_[i].size());
      if (rows_in_group >= kPieceRows) {
        group_begins.push_back(i);
        rows_in_group = 0;
      }
      rows_in_group += cached_[i].size();
    }
    const int64_t num_groups = static_cast<int64_t>(group_begins.size());
    group_begins.push_back(cached_.size());

    std::vector<std::unique_ptr<Workspace>> workspaces;
    for (int worker = 0; worker < executor_.num_threads(); ++worker) {
      workspaces.push_back(std::make_unique<Workspace>(max_rows));
    }
    parallel_for(executor_, num_groups, [&](int worker, int64_t group) {
      const Workspace& workspace = *workspaces[worker];
      for (size_t i = group_begins[group]; i < group_begins[group + 1]; ++i) {
        const Piece& piece = cached_[i];
        if (piece.side == 0) {
          sort_cached_piece(side_0_ + piece.begin, piece, false, workspace);
        } else {
          sort_cached_piece(side_1_ + piece.begin, piece, side_1_is_output_, workspace);
        }
      }
    });
  }

  template <typename Rows>
  void sort_cached_piece(const Rows& rows, const Piece& piece, bool in_place,
                         const Workspace& workspace) const {
    if constexpr (kHasIds && sizeof(Word) == 8) {
      if (!in_place) {
        return cached_wide_sort(rows, piece.size(), low_bits<Word>(piece.num_bits), workspace,
                                output_ + piece.begin);
      }
    }
    cached_radix_sort(rows, piece.size(), low_bits<Word>(piece.num_bits),
                      workspace.buffer(0), workspace.buffer(1), workspace.counts(),
                      output_ + piece.begin, in_place);
  }

  // With more bins the write positions no longer fit the first cache and its TLB. 10M rows, one
  // column: 9 bits 16 ms, 10 bits 17, 11 bits 29; two columns: 8 bits 17 ms, 9 bits 21, 10 bits 42.
  static constexpr int kMaxBits = Side0::kNumColumns == 1 ? 10 : 8;
  // A split adds at most twice as many bins, and the capacity is 2048.
  static constexpr int64_t kSplitPieces = Side0::kNumColumns == 1 ? 512 : 256;

  Executor& executor_;
  const Side0 side_0_;
  const Side1 side_1_;
  const Output output_;
  const bool side_1_is_output_;
  int32_t* const positions_;
  std::vector<Piece> large_;
  std::vector<Piece> cached_;
  ChunkCounts counts_;
  std::vector<uint32_t> bin_offsets_;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_LARGE_RADIX_SORT_H_
