// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>
#include <vector>

#include "base/cuda_target.h"
#include "sort/cuda_radix_sort.h"
#include "sort/sort_arguments.h"

namespace jaxframes {
namespace {

constexpr char kSortKeys[] = "jaxframes_cuda_radix_sort_keys_v1";
constexpr char kArgsort[] = "jaxframes_cuda_radix_argsort_v1";
constexpr char kSortPairs[] = "jaxframes_cuda_radix_sort_pairs_v2";
constexpr char kSortRows[] = "jaxframes_cuda_radix_sort_rows_v1";

CudaSort sort_of(const SortBuffers& buffers, WordBits flip, int32_t bits) {
  return {buffers.keys->untyped_data(),
          ArgumentChecker::word_bytes(*buffers.keys),
          ArgumentChecker::is_floating(*buffers.keys),
          flip.bits,
          bits,
          words_of<int32_t>(*buffers.num_valid),
          batch_size(*buffers.keys),
          row_length(*buffers.keys)};
}

void check(ArgumentChecker& checker, const SortBuffers& buffers, WordBits flip, int32_t bits,
           int moved_bytes) {
  check_sort(checker, buffers, flip, bits);
  if (!checker.ok()) return;
  const CudaSort sort = sort_of(buffers, flip, bits);
  checker.require_scratch(*buffers.scratch,
                          sort.batch * cuda_sort_scratch_bytes(sort.num_rows, sort.word_bytes,
                                                               bits, moved_bytes));
}

ffi::Error sort_keys(cudaStream_t stream, ffi::AnyBuffer keys, ffi::AnyBuffer num_valid,
                     ffi::Result<ffi::AnyBuffer> sorted_keys,
                     ffi::Result<ffi::AnyBuffer> scratch, WordBits flip, int32_t bits) {
  const SortBuffers buffers = {&keys, nullptr, &num_valid, &*sorted_keys, nullptr, &*scratch};
  ArgumentChecker checker(kSortKeys);
  check(checker, buffers, flip, bits, 4);
  if (!checker.ok()) return checker.error();
  return launched(kSortKeys, cuda_sort_keys(sort_of(buffers, flip, bits),
                                            sorted_keys->untyped_data(), scratch->untyped_data(),
                                            stream));
}

ffi::Error argsort(cudaStream_t stream, ffi::AnyBuffer keys, ffi::AnyBuffer num_valid,
                   ffi::Result<ffi::AnyBuffer> row_ids, ffi::Result<ffi::AnyBuffer> scratch,
                   WordBits flip, int32_t bits) {
  const SortBuffers buffers = {&keys, nullptr, &num_valid, nullptr, &*row_ids, &*scratch};
  ArgumentChecker checker(kArgsort);
  check(checker, buffers, flip, bits, 4);
  if (!checker.ok()) return checker.error();
  return launched(kArgsort,
                  cuda_argsort(sort_of(buffers, flip, bits), words_of<int32_t>(*row_ids),
                               scratch->untyped_data(), stream));
}

ffi::Error sort_pairs(cudaStream_t stream, ffi::AnyBuffer keys, ffi::AnyBuffer row_ids,
                      ffi::AnyBuffer num_valid, ffi::Result<ffi::AnyBuffer> sorted_keys,
                      ffi::Result<ffi::AnyBuffer> sorted_row_ids,
                      ffi::Result<ffi::AnyBuffer> scratch, WordBits flip, int32_t bits,
                      bool in_order) {
  const SortBuffers buffers = {&keys,         &row_ids,         &num_valid,
                               &*sorted_keys, &*sorted_row_ids, &*scratch};
  ArgumentChecker checker(kSortPairs);
  check(checker, buffers, flip, bits, 4);
  if (!checker.ok()) return checker.error();
  const int32_t* const given =
      row_ids.element_count() == 0 ? nullptr : words_of<int32_t>(row_ids);
  return launched(kSortPairs,
                  cuda_sort_pairs(sort_of(buffers, flip, bits), given,
                                  sorted_keys->untyped_data(),
                                  words_of<int32_t>(*sorted_row_ids), in_order,
                                  scratch->untyped_data(), stream));
}

ffi::Error sort_rows(cudaStream_t stream, ffi::AnyBuffer keys, ffi::AnyBuffer num_valid,
                     ffi::RemainingArgs columns_in, ffi::Result<ffi::AnyBuffer> scratch,
                     ffi::RemainingRets columns_out, WordBits flip, int32_t bits) {
  const SortBuffers buffers = {&keys, nullptr, &num_valid, nullptr, nullptr, &*scratch};
  ArgumentChecker checker(kSortRows);
  check(checker, buffers, flip, bits, 8);
  std::vector<CudaColumn> columns;
  for (const MovedBuffers& column : moved_buffers(checker, keys, columns_in, columns_out)) {
    columns.push_back({column.source.untyped_data(), column.moved.untyped_data(),
                       static_cast<int>(ffi::ByteWidth(column.source.element_type()))});
  }
  if (!checker.ok()) return checker.error();
  return launched(kSortRows, cuda_sort_rows(sort_of(buffers, flip, bits), columns,
                                            scratch->untyped_data(), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_radix_sort_keys_v1, jaxframes::sort_keys,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<jaxframes::WordBits>("flip")
                                 .Attr<int32_t>("bits"));

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_radix_argsort_v1, jaxframes::argsort,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<jaxframes::WordBits>("flip")
                                 .Attr<int32_t>("bits"));

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_radix_sort_pairs_v2, jaxframes::sort_pairs,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Attr<jaxframes::WordBits>("flip")
                                 .Attr<int32_t>("bits")
                                 .Attr<bool>("in_order"));

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_radix_sort_rows_v1, jaxframes::sort_rows,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .RemainingArgs()
                                 .Ret<ffi::AnyBuffer>()
                                 .RemainingRets()
                                 .Attr<jaxframes::WordBits>("flip")
                                 .Attr<int32_t>("bits"));

// Bytes of scratch for one row of a batch; `moved_bytes` is 8 for a sort of rows and else 4.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_cuda_radix_sort_scratch_bytes(int64_t num_rows,
                                                                            int32_t word_bytes,
                                                                            int32_t bits,
                                                                            int32_t moved_bytes) {
  return jaxframes::cuda_sort_scratch_bytes(num_rows, word_bytes, bits, moved_bytes);
}
