// SPDX-License-Identifier: Apache-2.0
#include "reduce/run_nunique.h"

#include <cstdint>

#include "base/ffi_arguments.h"
#include "base/huge_pages.h"
#include "reduce/segment_ids_ffi.h"

namespace jaxframes {
namespace {

constexpr char kRunNunique[] = "jaxframes_run_nunique_v1";

template <typename Word>
void run(Executor& executor, const ffi::AnyBuffer& ids, const ffi::AnyBuffer& words,
         const ffi::AnyBuffer& counts, const ffi::AnyBuffer& are_short) {
  const int64_t num_rows = row_length(ids), num_segments = row_length(counts);
  for_each_row(executor, batch_size(ids), num_rows, [&](Executor& row_executor, int64_t row) {
    const SegmentIds<int32_t> segments(words_of<int32_t>(ids) + row * num_rows, 0, num_rows,
                                       num_segments);
    words_of<int32_t>(are_short)[row] = count_distinct_in_runs(
        row_executor, segments, words_of<Word>(words) + row * num_rows,
        words_of<int32_t>(counts) + row * num_segments);
  });
}

ffi::Error run_nunique_target(ffi::ThreadPool pool, ffi::AnyBuffer ids, ffi::AnyBuffer words,
                              ffi::Result<ffi::AnyBuffer> counts,
                              ffi::Result<ffi::AnyBuffer> are_short) {
  ArgumentChecker checker(kRunNunique);
  checker.require_keys(ids, "ids");
  checker.require_keys(words, "words");
  checker.require(counts->dimensions().size() > 0, "counts must have shape [..., segments]");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(ids);
  checker.require(!ArgumentChecker::is_floating(words), "words must be integers");
  checker.require_dtype(ids, "ids", ffi::DataType::S32);
  checker.require_rows(words, "words", batch, row_length(ids));
  checker.require_dtype(*counts, "counts", ffi::DataType::S32);
  checker.require_rows(*counts, "counts", batch, row_length(*counts));
  checker.require_dtype(*are_short, "are_short", ffi::DataType::S32);
  checker.require_scalars(*are_short, "are_short", batch);
  if (!checker.ok()) return checker.error();
  return run_kernel(kRunNunique, [&] {
    XlaExecutor executor(pool);
    advise_huge_pages(counts->untyped_data(), static_cast<int64_t>(counts->size_bytes()));
    if (ffi::ByteWidth(words.element_type()) == 4) {
      run<uint32_t>(executor, ids, words, *counts, *are_short);
    } else {
      run<uint64_t>(executor, ids, words, *counts, *are_short);
    }
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_run_nunique_v1, jaxframes::run_nunique_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());
