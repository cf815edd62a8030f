// SPDX-License-Identifier: Apache-2.0
#include "move/gather.h"

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "base/ffi_arguments.h"
#include "base/huge_pages.h"

namespace jaxframes {
namespace {

constexpr char kGatherRows[] = "jaxframes_gather_rows_v1";

bool is_word(int64_t bytes) {
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

// `arrays` has the sources, then the fill value of each.
ffi::Error gather_rows_target(ffi::ThreadPool pool, ffi::AnyBuffer row_ids,
                              ffi::RemainingArgs arrays, ffi::RemainingRets gathered) {
  ArgumentChecker checker(kGatherRows);
  const std::vector<ffi::AnyBuffer> operands = buffers_of(checker, arrays),
                                    results = buffers_of(checker, gathered);
  checker.require_dtype(row_ids, "row_ids", ffi::DataType::S32);
  checker.require(row_ids.dimensions().size() > 0, "row_ids must have shape [..., num_ids]");
  checker.require(!results.empty() && operands.size() == 2 * results.size(),
                  "a source and a fill value must come for each result");
  if (!checker.ok()) return checker.error();
  checker.require(operands[0].dimensions().size() > 0, "a source must have shape [..., num_rows]");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(row_ids), num_ids = row_length(row_ids);
  const int64_t num_rows = row_length(operands[0]);
  checker.require(num_rows <= std::numeric_limits<int32_t>::max(),
                  "a source must have fewer than 2^31 rows, got " + std::to_string(num_rows));
  std::vector<GatheredWords> words;
  for (size_t i = 0; i < results.size() && checker.ok(); ++i) {
    const ffi::AnyBuffer &source = operands[i], &fill = operands[results.size() + i];
    const int64_t word_bytes = static_cast<int64_t>(ffi::ByteWidth(source.element_type()));
    checker.require(is_word(word_bytes), "a source must have words of 1, 2, 4, 8 or 16 bytes, got " +
                                             std::to_string(word_bytes));
    checker.require_rows(source, "a source", batch, num_rows);
    checker.require_dtype(fill, "a fill value", source.element_type());
    checker.require_scalars(fill, "a fill value", batch);
    checker.require_dtype(results[i], "a result", source.element_type());
    checker.require_rows(results[i], "a result", batch, num_ids);
    words.push_back(
        {source.untyped_data(), results[i].untyped_data(), fill.untyped_data(), word_bytes});
  }
  if (!checker.ok()) return checker.error();
  return run_kernel(kGatherRows, [&] {
    XlaExecutor executor(pool);
    // For all of them before the first write, because two may share a huge page.
    for (const ffi::AnyBuffer& result : results) {
      advise_huge_pages(result.untyped_data(), static_cast<int64_t>(result.size_bytes()));
    }
    for_each_row(executor, batch, num_ids, [&](Executor& row_executor, int64_t row) {
      gather_rows(row_executor, words_of<int32_t>(row_ids) + row * num_ids, num_ids, num_rows, row,
                  words);
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_gather_rows_v1, jaxframes::gather_rows_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .RemainingArgs()
                            .RemainingRets());
