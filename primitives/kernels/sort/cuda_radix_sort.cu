// SPDX-License-Identifier: Apache-2.0
#include "sort/cuda_radix_sort.h"

#include <cub/device/device_radix_sort.cuh>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "base/cuda_scratch.h"
#include "base/key_order.h"
#include "sort/cuda_sort_words.cuh"

namespace jaxframes {
namespace {

// CUB's two calls: how much memory it needs, and the sort.
template <typename Sort>
cudaError_t with_cub_memory(const CudaSortMemory& memory, const Sort& sort) {
  size_t needed = 0;
  JAXFRAMES_RETURN_IF_FAILED(sort(nullptr, needed));
  if (static_cast<int64_t>(needed) > memory.cub_bytes) return cudaErrorMemoryAllocation;
  return sort(memory.cub, needed);
}

// Sorts one row of the batch, or all rows at once.
template <typename Number, typename Order>
class Sorter {
 public:
  using Word = typename Order::Key;

  Sorter(const CudaSort& sort, const SortedRows& rows, const Order& order,
         const CudaSortMemory& memory, cudaStream_t stream)
      : rows_(rows),
        order_(order),
        memory_(memory),
        stream_(stream),
        ids_(reinterpret_cast<int32_t*>(memory.source)),
        order_ids_(reinterpret_cast<int32_t*>(memory.moved)),
        offset_(rows.first_line * rows.num_rows),
        words_(static_cast<const Word*>(sort.words) + offset_),
        holds_word_(Order::kIsExact && sort.bits == 8 * static_cast<int>(sizeof(Word)) &&
                    sizeof(Number) >= sizeof(Word)) {}

  cudaError_t keys(void* results) const {
    Word* const sorted_words = static_cast<Word*>(results) + offset_;
    if constexpr (sizeof(Number) >= 4) {
      if (holds_word_) {
        Number* const sorted = sorted_numbers(sorted_words);
        JAXFRAMES_RETURN_IF_FAILED(write(nullptr));
        JAXFRAMES_RETURN_IF_FAILED(with_cub_memory(memory_, [&](void* cub, size_t& bytes) {
          return cub::DeviceRadixSort::SortKeys(cub, bytes, ordered(), sorted, num_rows(), 0,
                                                rows_.end_bit(), stream_);
        }));
        return restore(sorted, sorted_words);
      }
    }
    JAXFRAMES_RETURN_IF_FAILED(order(order_ids_));
    return gather(order_ids_, {column(words_, sorted_words)});
  }

  // Row ids within each row of the batch.
  cudaError_t row_ids(int32_t* results) const {
    int32_t* const ids = results + offset_;
    JAXFRAMES_RETURN_IF_FAILED(order(ids));
    if (rows_.num_lines == 1) return cudaSuccess;
    return number_within_lines(rows_, ids, ids, stream_);
  }

  cudaError_t pairs(const int32_t* given, void* results, int32_t* moved_ids,
                    bool in_order) const {
    Word* const sorted_words = static_cast<Word*>(results) + offset_;
    int32_t* const moved = moved_ids + offset_;
    const int32_t* const ids = given == nullptr ? nullptr : given + offset_;
    if constexpr (sizeof(Number) >= 4) {
      if (holds_word_ && (ids != nullptr || rows_.num_lines == 1)) {
        Number* const sorted = sorted_numbers(sorted_words);
        JAXFRAMES_RETURN_IF_FAILED(write(ids == nullptr ? ids_ : nullptr));
        JAXFRAMES_RETURN_IF_FAILED(sort(sorted, ids == nullptr ? ids_ : ids, moved));
        if (!in_order) return restore(sorted, sorted_words);
        return sizeof(Number) == sizeof(Word) ? cudaSuccess : narrow(sorted, sorted_words);
      }
    }
    if (ids == nullptr) {
      JAXFRAMES_RETURN_IF_FAILED(order(order_ids_));
      JAXFRAMES_RETURN_IF_FAILED(gather(order_ids_, {column(words_, sorted_words)}));
      return number_within_lines(rows_, order_ids_, moved, stream_);
    }
    JAXFRAMES_RETURN_IF_FAILED(order(order_ids_));
    return gather(order_ids_, {column(words_, sorted_words), column(ids, moved)});
  }

  cudaError_t columns(const std::vector<CudaColumn>& given, const void* all_words) const {
    std::vector<CudaColumn> keys, others;
    for (CudaColumn one : given) {
      const bool is_key = one.source == all_words && one.word_bytes == sizeof(Word);
      one.source = static_cast<const char*>(one.source) + offset_ * one.word_bytes;
      one.moved = static_cast<char*>(one.moved) + offset_ * one.word_bytes;
      (is_key ? keys : others).push_back(one);
    }
    if constexpr (sizeof(Number) >= 4) {
      // Columns of 8 bytes together ride in the sort. The words are known after it, or are columns.
      std::vector<CudaColumn> riding = others;
      if (!holds_word_) riding.insert(riding.end(), keys.begin(), keys.end());
      int bytes = 0;
      for (const CudaColumn& one : riding) bytes += one.word_bytes;
      if (0 < bytes && bytes <= 8) {
        Word* const sorted_words =
            holds_word_ && !keys.empty() ? static_cast<Word*>(keys[0].moved) : nullptr;
        Number* const sorted = sorted_numbers(sorted_words);
        JAXFRAMES_RETURN_IF_FAILED(write(nullptr));
        JAXFRAMES_RETURN_IF_FAILED(bytes <= 4 ? ride<uint32_t>(sorted, riding)
                                              : ride<uint64_t>(sorted, riding));
        return sorted_words == nullptr ? cudaSuccess : restore_all(sorted, keys);
      }
    }
    JAXFRAMES_RETURN_IF_FAILED(order(order_ids_));
    others.insert(others.end(), keys.begin(), keys.end());
    return gather(order_ids_, others);
  }

 private:
  unsigned num_rows() const { return static_cast<unsigned>(rows_.size()); }
  Number* ordered() const { return reinterpret_cast<Number*>(memory_.ordered); }
  // The sort writes words where its numbers have their width.
  Number* sorted_numbers(Word* sorted_words) const {
    if constexpr (sizeof(Number) == sizeof(Word)) {
      if (sorted_words != nullptr) return sorted_words;
    }
    return reinterpret_cast<Number*>(memory_.sorted);
  }
  template <typename T>
  static CudaColumn column(const T* source, T* moved) {
    return {source, moved, static_cast<int>(sizeof(T))};
  }

  cudaError_t write(int32_t* ids) const {
    return write_numbers<Number, Order>(rows_, words_, order_, ordered(), ids, stream_);
  }
  cudaError_t restore(const Number* sorted, Word* sorted_words) const {
    if constexpr (Order::kIsExact) {
      return restore_words<Number, Word>(rows_, words_, order_.flip, sorted, sorted_words,
                                         stream_);
    }
    return cudaErrorNotSupported;
  }
  // The numbers as words, without the number of the row of the batch above them.
  cudaError_t narrow(const Number* sorted, Word* sorted_words) const {
    return restore_words<Number, Word>(rows_, words_, 0, sorted, sorted_words, stream_);
  }
  template <typename Moved>
  cudaError_t sort(Number* sorted, const Moved* source, Moved* moved) const {
    return with_cub_memory(memory_, [&](void* cub, size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(cub, bytes, ordered(), sorted,
                                             reinterpret_cast<const Unsigned<Moved>*>(source),
                                             reinterpret_cast<Unsigned<Moved>*>(moved),
                                             num_rows(), 0, rows_.end_bit(), stream_);
    });
  }
  // One column of this width rides as it is; others are packed, and unpacked after the sort.
  template <typename Packed>
  cudaError_t ride(Number* sorted, const std::vector<CudaColumn>& columns) const {
    if (columns.size() == 1 && columns[0].word_bytes == sizeof(Packed)) {
      return sort(sorted, static_cast<const Packed*>(columns[0].source),
                  static_cast<Packed*>(columns[0].moved));
    }
    Packed* const source = reinterpret_cast<Packed*>(memory_.source);
    Packed* const moved = reinterpret_cast<Packed*>(memory_.moved);
    JAXFRAMES_RETURN_IF_FAILED(pack_columns(rows_.size(), columns, source, stream_));
    JAXFRAMES_RETURN_IF_FAILED(sort(sorted, source, moved));
    return unpack_columns(rows_.size(), moved, columns, stream_);
  }
  // The words of sorted numbers, in each column that is the key.
  cudaError_t restore_all(const Number* sorted, const std::vector<CudaColumn>& keys) const {
    Word* const sorted_words = static_cast<Word*>(keys[0].moved);
    JAXFRAMES_RETURN_IF_FAILED(restore(sorted, sorted_words));
    for (size_t i = 1; i < keys.size(); ++i) {
      JAXFRAMES_RETURN_IF_FAILED(cudaMemcpyAsync(keys[i].moved, sorted_words,
                                                 rows_.size() * sizeof(Word),
                                                 cudaMemcpyDeviceToDevice, stream_));
    }
    return cudaSuccess;
  }
  // Positions among all rows that are sorted at once.
  cudaError_t order(int32_t* positions) const {
    JAXFRAMES_RETURN_IF_FAILED(write(ids_));
    return sort(reinterpret_cast<Number*>(memory_.sorted), ids_, positions);
  }
  cudaError_t gather(const int32_t* positions, const std::vector<CudaColumn>& columns) const {
    return gather_columns(rows_.size(), positions, columns, stream_);
  }

  template <typename Moved>
  using Unsigned = std::conditional_t<sizeof(Moved) == 4, uint32_t, uint64_t>;

  const SortedRows rows_;
  const Order order_;
  const CudaSortMemory memory_;
  const cudaStream_t stream_;
  int32_t* const ids_;        // 0, 1, ...
  int32_t* const order_ids_;  // the same, sorted
  const int64_t offset_;
  const Word* const words_;
  const bool holds_word_;
};

// Calls use(sorter) for each row of the batch, or once for all.
template <typename Number, typename Order, typename Use>
cudaError_t with_numbers(const CudaSort& sort, const Order& order, int moved_bytes, void* scratch,
                         cudaStream_t stream, bool at_once, const Use& use) {
  const int64_t num_calls = at_once ? 1 : sort.batch;
  for (int64_t call = 0; call < num_calls; ++call) {
    const SortedRows rows{call, at_once ? sort.batch : 1, sort.num_rows, sort.num_valid,
                          sort.bits};
    CudaScratch arrays(scratch);
    const auto memory =
        CudaSortMemory::take(arrays, rows.size(), static_cast<int>(sizeof(Number)), moved_bytes);
    JAXFRAMES_RETURN_IF_FAILED(
        use(Sorter<Number, Order>(sort, rows, order, memory, stream)));
  }
  return cudaSuccess;
}

template <typename Order, typename Use>
cudaError_t with_order(const CudaSort& sort, const Order& order, int moved_bytes, void* scratch,
                       cudaStream_t stream, const Use& use) {
  using Word = typename Order::Key;
  if constexpr (sizeof(Word) == 4) {
    const int64_t size = sort.batch * sort.num_rows;
    const bool has_few = sort.num_rows <= kMostRowsAtOnce || size <= kMostBatchAtOnce;
    if (sort.batch > 1 && has_few && size < (int64_t{1} << 31)) {
      return with_numbers<uint64_t>(sort, order, moved_bytes, scratch, stream, true, use);
    }
  }
  if constexpr (Order::kIsExact) {
    if (sort.bits <= 8) {
      return with_numbers<uint8_t>(sort, order, moved_bytes, scratch, stream, false, use);
    }
    if (sort.bits <= 16) {
      return with_numbers<uint16_t>(sort, order, moved_bytes, scratch, stream, false, use);
    }
    if (sort.bits <= 32) {
      return with_numbers<uint32_t>(sort, order, moved_bytes, scratch, stream, false, use);
    }
  }
  return with_numbers<Word>(sort, order, moved_bytes, scratch, stream, false, use);
}

template <typename Use>
cudaError_t with_sorter(const CudaSort& sort, int moved_bytes, void* scratch, cudaStream_t stream,
                        const Use& use) {
  if (sort.batch * sort.num_rows == 0) return cudaSuccess;
  const uint32_t flip = static_cast<uint32_t>(sort.flip);
  if (sort.is_floating) {
    return sort.word_bytes == 4
               ? with_order(sort, FloatOrder<uint32_t>(flip != 0), moved_bytes, scratch, stream, use)
               : with_order(sort, FloatOrder<uint64_t>(sort.flip != 0), moved_bytes, scratch,
                            stream, use);
  }
  return sort.word_bytes == 4
             ? with_order(sort, IntegerOrder<uint32_t>{flip}, moved_bytes, scratch, stream, use)
             : with_order(sort, IntegerOrder<uint64_t>{sort.flip}, moved_bytes, scratch, stream,
                          use);
}

}  // namespace

cudaError_t cuda_sort_keys(const CudaSort& sort, void* sorted_words, void* scratch,
                           cudaStream_t stream) {
  return with_sorter(sort, 4, scratch, stream,
                     [&](const auto& sorter) { return sorter.keys(sorted_words); });
}

cudaError_t cuda_argsort(const CudaSort& sort, int32_t* row_ids, void* scratch,
                         cudaStream_t stream) {
  return with_sorter(sort, 4, scratch, stream,
                     [&](const auto& sorter) { return sorter.row_ids(row_ids); });
}

cudaError_t cuda_sort_pairs(const CudaSort& sort, const int32_t* row_ids, void* sorted_words,
                            int32_t* sorted_row_ids, bool in_order, void* scratch,
                            cudaStream_t stream) {
  return with_sorter(sort, 4, scratch, stream, [&](const auto& sorter) {
    return sorter.pairs(row_ids, sorted_words, sorted_row_ids, in_order);
  });
}

cudaError_t cuda_sort_rows(const CudaSort& sort, const std::vector<CudaColumn>& columns,
                           void* scratch, cudaStream_t stream) {
  return with_sorter(sort, 8, scratch, stream,
                     [&](const auto& sorter) { return sorter.columns(columns, sort.words); });
}

cudaError_t cuda_sort_numbers(const uint32_t* numbers, uint32_t* sorted, const void* words,
                              void* moved, int word_bytes, int64_t num_rows, int bits,
                              const CudaSortMemory& memory, cudaStream_t stream) {
  const auto sort = [&](auto word) {
    using Word = decltype(word);
    return with_cub_memory(memory, [&](void* cub, size_t& bytes) {
      return cub::DeviceRadixSort::SortPairs(
          cub, bytes, numbers, sorted, static_cast<const Word*>(words), static_cast<Word*>(moved),
          static_cast<unsigned>(num_rows), 0, bits, stream);
    });
  };
  return word_bytes == 4 ? sort(uint32_t{}) : sort(uint64_t{});
}

cudaError_t cuda_sort_numbers(const uint64_t* numbers, uint64_t* sorted, int64_t num_rows,
                              const CudaSortMemory& memory, cudaStream_t stream) {
  return with_cub_memory(memory, [&](void* cub, size_t& bytes) {
    return cub::DeviceRadixSort::SortKeys(cub, bytes, numbers, sorted,
                                          static_cast<unsigned>(num_rows), 0, 64, stream);
  });
}

}  // namespace jaxframes
