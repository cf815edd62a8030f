// SPDX-License-Identifier: Apache-2.0
#include "sort/merge.h"

#include <cstdint>

#include "base/ffi_arguments.h"
#include "sort/merge_arguments.h"

namespace jaxframes {
namespace {

constexpr char kMerge[] = "jaxframes_merge_v1";
constexpr char kMergeKeys[] = "jaxframes_merge_keys_v1";

template <typename Order>
void run(Executor& executor, const MergeBuffers& buffers, const Order& order) {
  using Key = typename Order::Key;
  const int64_t size_a = row_length(buffers.a), size_b = row_length(buffers.b);
  const int64_t num_rows = size_a + size_b;
  const Key* const a = words_of<Key>(buffers.a);
  const Key* const b = words_of<Key>(buffers.b);
  Key* const merged_keys =
      buffers.merged_keys ? words_of<Key>(*buffers.merged_keys) : nullptr;
  int32_t* const source_positions =
      buffers.source_positions ? words_of<int32_t>(*buffers.source_positions) : nullptr;
  for_each_row(executor, batch_size(buffers.a), num_rows,
               [&](Executor& row_executor, int64_t row) {
                 merge(row_executor,
                       MergeRow<Order>{
                           a + row * size_a, b + row * size_b, size_a, size_b,
                           count_at(buffers.num_valid_a, row, size_a),
                           count_at(buffers.num_valid_b, row, size_b), order,
                           merged_keys ? merged_keys + row * num_rows : nullptr,
                           source_positions ? source_positions + row * num_rows : nullptr});
               });
}

ffi::Error call(const char* target, ffi::ThreadPool pool, const MergeBuffers& buffers,
                WordBits flip) {
  ArgumentChecker checker(target);
  check_merge(checker, buffers, flip);
  if (!checker.ok()) return checker.error();
  return run_kernel(target, [&] {
    XlaExecutor executor(pool);
    with_order(buffers.a, flip, [&](const auto& order) { run(executor, buffers, order); });
  });
}

ffi::Error merge_positions(ffi::ThreadPool pool, ffi::AnyBuffer a, ffi::AnyBuffer b,
                           ffi::AnyBuffer num_valid_a, ffi::AnyBuffer num_valid_b,
                           ffi::Result<ffi::AnyBuffer> source_positions, WordBits flip) {
  return call(kMerge, pool, {a, b, num_valid_a, num_valid_b, nullptr, &*source_positions},
              flip);
}

// Reads keys once and writes them to their final positions: a gather by position from uncached
// memory takes several times as long. Without rows `source_positions` is not needed.
ffi::Error merge_keys(ffi::ThreadPool pool, ffi::AnyBuffer a, ffi::AnyBuffer b,
                      ffi::AnyBuffer num_valid_a, ffi::AnyBuffer num_valid_b,
                      ffi::Result<ffi::AnyBuffer> merged_keys,
                      ffi::Result<ffi::AnyBuffer> source_positions, WordBits flip) {
  const ffi::AnyBuffer* const positions =
      source_positions->element_count() != 0 ? &*source_positions : nullptr;
  return call(kMergeKeys, pool, {a, b, num_valid_a, num_valid_b, &*merged_keys, positions},
              flip);
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_merge_v1, jaxframes::merge_positions,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<jaxframes::WordBits>("flip"));

JAXFRAMES_DEFINE_TARGET(jaxframes_merge_keys_v1, jaxframes::merge_keys,
                              ffi::Ffi::Bind()
                                  .Ctx<ffi::ThreadPool>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Arg<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Ret<ffi::AnyBuffer>()
                                  .Attr<jaxframes::WordBits>("flip"));
