// SPDX-License-Identifier: Apache-2.0
#include "compact.h"

#include <cstdint>
#include <limits>
#include <string>

#include "ffi_arguments.h"
#include "huge_pages.h"

namespace jaxframes {
namespace {

constexpr char kCountFlags[] = "jaxframes_count_flags_v1";
constexpr char kFlaggedIds[] = "jaxframes_flagged_ids_v1";
constexpr char kFlaggedWords[] = "jaxframes_flagged_words_v1";

// Checks a mask and the counts of its flags.
void check_flags(ArgumentChecker& checker, const ffi::AnyBuffer& mask,
                 const ffi::AnyBuffer& before, const ffi::AnyBuffer& count) {
  checker.require_dtype(mask, "mask", ffi::DataType::PRED);
  checker.require(mask.dimensions().size() > 0,
                  "mask must have shape [..., num_rows], got " + ArgumentChecker::shape_of(mask));
  if (!checker.ok()) return;
  const int64_t batch = batch_size(mask), num_rows = row_length(mask);
  checker.require(num_rows <= std::numeric_limits<int32_t>::max(),
                  "mask must have fewer than 2^31 rows, got " + std::to_string(num_rows));
  checker.require_dtype(before, "before", ffi::DataType::S32);
  checker.require_rows(before, "before", batch, flag_chunks(num_rows).count);
  checker.require_dtype(count, "count", ffi::DataType::S32);
  checker.require_scalars(count, "count", batch);
}

// Checks a result that has the capacity's length.
void check_kept(ArgumentChecker& checker, const ffi::AnyBuffer& mask, const ffi::AnyBuffer& kept) {
  checker.require(kept.dimensions().size() > 0, "the result must have shape [..., capacity]");
  if (checker.ok()) checker.require_rows(kept, "the result", batch_size(mask), row_length(kept));
}

// Compacts each row of a batch; source_of(row) is what is kept of its rows.
template <typename Word, typename SourceOf>
void run(Executor& executor, const ffi::AnyBuffer& mask, const ffi::AnyBuffer& before,
         const ffi::AnyBuffer& count, const SourceOf& source_of, const ffi::AnyBuffer& kept) {
  const int64_t num_rows = row_length(mask), capacity = row_length(kept);
  advise_huge_pages(kept.untyped_data(), static_cast<int64_t>(kept.size_bytes()));
  const auto run_row = [&](Executor& row_executor, int64_t row) {
    using Source = decltype(source_of(row));
    const Flags flags{words_of<uint8_t>(mask) + row * num_rows, num_rows,
                      words_of<int32_t>(before) + row * row_length(before),
                      words_of<int32_t>(count)[row]};
    compact(row_executor, CompactRow<Word, Source>{flags, capacity, source_of(row),
                                                   words_of<Word>(kept) + row * capacity});
  };
  for_each_row(executor, batch_size(mask), num_rows, run_row);
}

ffi::Error count_flags_target(ffi::ThreadPool pool, ffi::AnyBuffer mask, ffi::AnyBuffer num_valid,
                              ffi::Result<ffi::AnyBuffer> before,
                              ffi::Result<ffi::AnyBuffer> count) {
  ArgumentChecker checker(kCountFlags);
  check_flags(checker, mask, *before, *count);
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(mask), num_rows = row_length(mask);
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  if (!checker.ok()) return checker.error();
  return run_kernel(kCountFlags, [&] {
    XlaExecutor executor(pool);
    for_each_row(executor, batch, num_rows, [&](Executor& row_executor, int64_t row) {
      words_of<int32_t>(*count)[row] =
          count_flags(row_executor, words_of<uint8_t>(mask) + row * num_rows, num_rows,
                      count_at(num_valid, row, num_rows),
                      words_of<int32_t>(*before) + row * row_length(*before));
    });
  });
}

ffi::Error flagged_ids_target(ffi::ThreadPool pool, ffi::AnyBuffer mask, ffi::AnyBuffer before,
                              ffi::AnyBuffer count, ffi::Result<ffi::AnyBuffer> row_ids) {
  ArgumentChecker checker(kFlaggedIds);
  check_flags(checker, mask, before, count);
  checker.require_dtype(*row_ids, "row_ids", ffi::DataType::S32);
  if (checker.ok()) check_kept(checker, mask, *row_ids);
  if (!checker.ok()) return checker.error();
  return run_kernel(kFlaggedIds, [&] {
    XlaExecutor executor(pool);
    run<int32_t>(executor, mask, before, count, [](int64_t) { return RowIds{}; }, *row_ids);
  });
}

template <typename Word>
void run_words(Executor& executor, const ffi::AnyBuffer& mask, const ffi::AnyBuffer& before,
               const ffi::AnyBuffer& count, const ffi::AnyBuffer& words,
               const ffi::AnyBuffer& kept) {
  const int64_t num_rows = row_length(mask);
  const auto source_of = [&](int64_t row) -> const Word* {
    return words_of<Word>(words) + row * num_rows;
  };
  run<Word>(executor, mask, before, count, source_of, kept);
}

ffi::Error flagged_words_target(ffi::ThreadPool pool, ffi::AnyBuffer mask, ffi::AnyBuffer before,
                                ffi::AnyBuffer count, ffi::AnyBuffer words,
                                ffi::Result<ffi::AnyBuffer> kept) {
  ArgumentChecker checker(kFlaggedWords);
  check_flags(checker, mask, before, count);
  if (checker.ok()) check_kept(checker, mask, *kept);
  if (!checker.ok()) return checker.error();
  checker.require_rows(words, "words", batch_size(mask), row_length(mask));
  checker.require_dtype(*kept, "the result", words.element_type());
  const size_t word_bytes = ffi::ByteWidth(words.element_type());
  checker.require(word_bytes == 1 || word_bytes == 2 || word_bytes == 4 || word_bytes == 8,
                  "words must have 1, 2, 4 or 8 bytes, got " + std::to_string(word_bytes));
  if (!checker.ok()) return checker.error();
  return run_kernel(kFlaggedWords, [&] {
    XlaExecutor executor(pool);
    switch (word_bytes) {
      case 1: return run_words<uint8_t>(executor, mask, before, count, words, *kept);
      case 2: return run_words<uint16_t>(executor, mask, before, count, words, *kept);
      case 4: return run_words<uint32_t>(executor, mask, before, count, words, *kept);
      default: return run_words<uint64_t>(executor, mask, before, count, words, *kept);
    }
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_count_flags_v1, jaxframes::count_flags_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());

JAXFRAMES_DEFINE_TARGET(jaxframes_flagged_ids_v1, jaxframes::flagged_ids_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());

JAXFRAMES_DEFINE_TARGET(jaxframes_flagged_words_v1, jaxframes::flagged_words_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());
