// SPDX-License-Identifier: Apache-2.0
#include "sort/radix_sort.h"

#include <cstdint>
#include <string>
#include <vector>

#include "base/ffi_arguments.h"
#include "base/huge_pages.h"
#include "sort/radix_sort_rows.h"
#include "sort/sort_arguments.h"

namespace jaxframes {
namespace {

constexpr char kSortKeys[] = "jaxframes_radix_sort_keys_v1";
constexpr char kArgsort[] = "jaxframes_radix_argsort_v1";
constexpr char kSortPairs[] = "jaxframes_radix_sort_pairs_v1";
constexpr char kSortRows[] = "jaxframes_radix_sort_rows_v1";

int64_t rows_scratch_bytes(int64_t batch, int64_t num_rows, int word_bytes) {
  return batch * radix_sort_rows_row_scratch_bytes(num_rows, word_bytes);
}

int64_t scratch_bytes(int64_t batch, int64_t num_rows, int word_bytes, SortVariant variant) {
  return batch * radix_sort_row_scratch_bytes(num_rows, word_bytes, variant);
}

template <typename Order>
SortArguments<Order> arguments_of(const SortBuffers& buffers, const Order& order, int32_t bits) {
  using Key = typename Order::Key;
  const auto ids_of = [](const ffi::AnyBuffer* buffer) {
    const bool has_ids = buffer != nullptr && buffer->element_count() != 0;
    return has_ids ? static_cast<int32_t*>(buffer->untyped_data()) : nullptr;
  };
  return {
      batch_size(*buffers.keys),
      row_length(*buffers.keys),
      words_of<Key>(*buffers.keys),
      ids_of(buffers.row_ids),
      words_of<int32_t>(*buffers.num_valid),
      buffers.sorted_keys != nullptr ? words_of<Key>(*buffers.sorted_keys) : nullptr,
      ids_of(buffers.sorted_row_ids),
      order,
      bits};
}

template <SortVariant kVariant>
ffi::Error call(const char* target, ffi::ThreadPool pool, const SortBuffers& buffers,
                WordBits flip, int32_t bits) {
  ArgumentChecker checker(target);
  check_sort(checker, buffers, flip, bits);
  if (!checker.ok()) return checker.error();
  const int word_bytes = ArgumentChecker::word_bytes(*buffers.keys);
  checker.require_scratch(*buffers.scratch,
                  scratch_bytes(batch_size(*buffers.keys), row_length(*buffers.keys), word_bytes,
                                kVariant));
  if (!checker.ok()) return checker.error();
  return run_kernel(target, [&] {
    XlaExecutor executor(pool);
    with_order(*buffers.keys, flip, [&](const auto& order) {
      radix_sort<kVariant>(executor, arguments_of(buffers, order, bits),
                           buffers.scratch->untyped_data());
    });
  });
}

ffi::Error sort_keys(ffi::ThreadPool pool, ffi::AnyBuffer keys, ffi::AnyBuffer num_valid,
                     ffi::Result<ffi::AnyBuffer> sorted_keys,
                     ffi::Result<ffi::AnyBuffer> scratch, WordBits flip, int32_t bits) {
  const SortBuffers buffers = {&keys, nullptr, &num_valid, &*sorted_keys, nullptr, &*scratch};
  return call<SortVariant::kKeys>(kSortKeys, pool, buffers, flip, bits);
}

ffi::Error argsort(ffi::ThreadPool pool, ffi::AnyBuffer keys, ffi::AnyBuffer num_valid,
                   ffi::Result<ffi::AnyBuffer> row_ids, ffi::Result<ffi::AnyBuffer> scratch,
                   WordBits flip, int32_t bits) {
  const SortBuffers buffers = {&keys, nullptr, &num_valid, nullptr, &*row_ids, &*scratch};
  return call<SortVariant::kArgsort>(kArgsort, pool, buffers, flip, bits);
}

ffi::Error sort_pairs(ffi::ThreadPool pool, ffi::AnyBuffer keys, ffi::AnyBuffer row_ids,
                      ffi::AnyBuffer num_valid, ffi::Result<ffi::AnyBuffer> sorted_keys,
                      ffi::Result<ffi::AnyBuffer> sorted_row_ids,
                      ffi::Result<ffi::AnyBuffer> scratch, WordBits flip, int32_t bits) {
  const SortBuffers buffers = {&keys,         &row_ids,         &num_valid,
                           &*sorted_keys, &*sorted_row_ids, &*scratch};
  return call<SortVariant::kPairs>(kSortPairs, pool, buffers, flip, bits);
}

ffi::Error sort_rows(ffi::ThreadPool pool, ffi::AnyBuffer keys, ffi::AnyBuffer num_valid,
                     ffi::RemainingArgs columns_in, ffi::Result<ffi::AnyBuffer> scratch,
                     ffi::RemainingRets columns_out, WordBits flip, int32_t bits) {
  const SortBuffers buffers = {&keys, nullptr, &num_valid, nullptr, nullptr, &*scratch};
  ArgumentChecker checker(kSortRows);
  check_sort(checker, buffers, flip, bits);
  if (!checker.ok()) return checker.error();
  checker.require_scratch(*scratch,
                  rows_scratch_bytes(batch_size(keys), row_length(keys),
                                     ArgumentChecker::word_bytes(keys)));
  std::vector<MovedColumn> columns;
  for (const MovedBuffers& column : moved_buffers(checker, keys, columns_in, columns_out)) {
    advise_huge_pages(column.moved.untyped_data(),
                      static_cast<int64_t>(column.moved.size_bytes()));
    columns.push_back({column.source.untyped_data(), column.moved.untyped_data(),
                       static_cast<int>(ffi::ByteWidth(column.source.element_type()))});
  }
  if (!checker.ok()) return checker.error();
  return run_kernel(kSortRows, [&] {
    XlaExecutor executor(pool);
    with_order(keys, flip, [&](const auto& order) {
      radix_sort_rows(executor, arguments_of(buffers, order, bits), columns,
                      scratch->untyped_data());
    });
  });
}

}  // namespace

// For other kernels that sort words.
template void radix_sort<SortVariant::kPairs>(
    Executor&, const SortArguments<IntegerOrder<uint32_t>>&, void*);
template void radix_sort<SortVariant::kPairs>(
    Executor&, const SortArguments<IntegerOrder<uint64_t>>&, void*);

}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_radix_sort_keys_v1, jaxframes::sort_keys,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<jaxframes::WordBits>("flip")
                                  .Attr<int32_t>("bits"));

JAXFRAMES_DEFINE_TARGET(jaxframes_radix_argsort_v1, jaxframes::argsort,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<jaxframes::WordBits>("flip")
                                  .Attr<int32_t>("bits"));

JAXFRAMES_DEFINE_TARGET(jaxframes_radix_sort_pairs_v1, jaxframes::sort_pairs,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<jaxframes::WordBits>("flip")
                                  .Attr<int32_t>("bits"));

JAXFRAMES_DEFINE_TARGET(jaxframes_radix_sort_rows_v1, jaxframes::sort_rows,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .RemainingArgs()
                                  .Ret<ffi::AnyBuffer>()
                                  .RemainingRets()
                                  .Attr<jaxframes::WordBits>("flip")
                                  .Attr<int32_t>("bits"));

// Version of the targets' signatures, for the loader to check.
extern "C" JAXFRAMES_EXPORT int32_t jaxframes_kernels_abi_version() { return 1; }

// Bytes of the `scratch` result of a sort of [batch, num_rows] keys of
// `word_bytes` each; `variant` is 0 for keys, 1 for argsort, 2 for pairs.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_radix_sort_scratch_bytes(
    int64_t batch, int64_t num_rows, int32_t word_bytes, int32_t variant) {
  return jaxframes::scratch_bytes(batch, num_rows, word_bytes,
                                  static_cast<jaxframes::SortVariant>(variant));
}

// The same for a sort of rows.
extern "C" JAXFRAMES_EXPORT int64_t jaxframes_radix_sort_rows_scratch_bytes(
    int64_t batch, int64_t num_rows, int32_t word_bytes) {
  return jaxframes::rows_scratch_bytes(batch, num_rows, word_bytes);
}
