// SPDX-License-Identifier: Apache-2.0
#include "compact.h"

#include <cstdint>
#include <limits>
#include <string>

#include "ffi_arguments.h"
#include "huge_pages.h"

namespace jaxframes {
namespace {

constexpr char kCompact[] = "jaxframes_compact_v1";
constexpr char kCompactWords[] = "jaxframes_compact_words_v1";

// Checks what both targets take; `kept` is the result that has the capacity's length.
void check(ArgumentChecker& checker, const ffi::AnyBuffer& mask, const ffi::AnyBuffer& num_valid,
           const ffi::AnyBuffer& kept, const ffi::AnyBuffer& count) {
  checker.require_dtype(mask, "mask", ffi::DataType::PRED);
  checker.require(mask.dimensions().size() > 0,
                  "mask must have shape [..., num_rows], got " + ArgumentChecker::shape_of(mask));
  checker.require(kept.dimensions().size() > 0, "the result must have shape [..., capacity]");
  if (!checker.ok()) return;
  const int64_t batch = batch_size(mask), num_rows = row_length(mask);
  checker.require(num_rows <= std::numeric_limits<int32_t>::max(),
                  "mask must have fewer than 2^31 rows, got " + std::to_string(num_rows));
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_rows(kept, "the result", batch, row_length(kept));
  checker.require_dtype(count, "count", ffi::DataType::S32);
  checker.require_scalars(count, "count", batch);
}

// Compacts each row of a batch; source_of(row) is what is kept of its rows.
template <typename Word, typename SourceOf>
void run(Executor& executor, const ffi::AnyBuffer& mask, const ffi::AnyBuffer& num_valid,
         const SourceOf& source_of, const ffi::AnyBuffer& kept, const ffi::AnyBuffer& count) {
  const int64_t num_rows = row_length(mask), capacity = row_length(kept);
  advise_huge_pages(kept.untyped_data(), static_cast<int64_t>(kept.size_bytes()));
  for_each_row(executor, batch_size(mask), num_rows, [&](Executor& row_executor, int64_t row) {
    using Source = decltype(source_of(row));
    compact(row_executor, CompactRow<Word, Source>{
                              words_of<uint8_t>(mask) + row * num_rows,
                              count_at(num_valid, row, num_rows), capacity, source_of(row),
                              words_of<Word>(kept) + row * capacity,
                              words_of<int32_t>(count) + row});
  });
}

ffi::Error compact_target(ffi::ThreadPool pool, ffi::AnyBuffer mask, ffi::AnyBuffer num_valid,
                          ffi::Result<ffi::AnyBuffer> row_ids,
                          ffi::Result<ffi::AnyBuffer> count) {
  ArgumentChecker checker(kCompact);
  check(checker, mask, num_valid, *row_ids, *count);
  checker.require_dtype(*row_ids, "row_ids", ffi::DataType::S32);
  if (!checker.ok()) return checker.error();
  return run_kernel(kCompact, [&] {
    XlaExecutor executor(pool);
    run<int32_t>(executor, mask, num_valid, [](int64_t) { return RowIds{}; }, *row_ids, *count);
  });
}

template <typename Word>
void run_words(Executor& executor, const ffi::AnyBuffer& mask, const ffi::AnyBuffer& num_valid,
               const ffi::AnyBuffer& words, const ffi::AnyBuffer& kept,
               const ffi::AnyBuffer& count) {
  const int64_t num_rows = row_length(mask);
  const auto source_of = [&](int64_t row) -> const Word* {
    return words_of<Word>(words) + row * num_rows;
  };
  run<Word>(executor, mask, num_valid, source_of, kept, count);
}

ffi::Error compact_words_target(ffi::ThreadPool pool, ffi::AnyBuffer mask,
                                ffi::AnyBuffer num_valid, ffi::AnyBuffer words,
                                ffi::Result<ffi::AnyBuffer> kept,
                                ffi::Result<ffi::AnyBuffer> count) {
  ArgumentChecker checker(kCompactWords);
  check(checker, mask, num_valid, *kept, *count);
  if (!checker.ok()) return checker.error();
  checker.require_rows(words, "words", batch_size(mask), row_length(mask));
  checker.require_dtype(*kept, "the result", words.element_type());
  const size_t word_bytes = ffi::ByteWidth(words.element_type());
  checker.require(word_bytes == 1 || word_bytes == 2 || word_bytes == 4 || word_bytes == 8,
                  "words must have 1, 2, 4 or 8 bytes, got " + std::to_string(word_bytes));
  if (!checker.ok()) return checker.error();
  return run_kernel(kCompactWords, [&] {
    XlaExecutor executor(pool);
    switch (word_bytes) {
      case 1: return run_words<uint8_t>(executor, mask, num_valid, words, *kept, *count);
      case 2: return run_words<uint16_t>(executor, mask, num_valid, words, *kept, *count);
      case 4: return run_words<uint32_t>(executor, mask, num_valid, words, *kept, *count);
      default: return run_words<uint64_t>(executor, mask, num_valid, words, *kept, *count);
    }
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_compact_v1, jaxframes::compact_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());

JAXFRAMES_DEFINE_TARGET(jaxframes_compact_words_v1, jaxframes::compact_words_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());
