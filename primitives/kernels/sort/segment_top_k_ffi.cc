// SPDX-License-Identifier: Apache-2.0
#include "sort/segment_top_k.h"

#include <cstdint>
#include <string>

#include "base/ffi_arguments.h"

namespace jaxframes {
namespace {

constexpr char kSegmentTopK[] = "jaxframes_segment_top_k_v1";

// `row_ids` has k rows for each segment.
ffi::Error segment_top_k_target(ffi::ThreadPool pool, ffi::AnyBuffer keys,
                                ffi::AnyBuffer segment_ids, ffi::Result<ffi::AnyBuffer> row_ids,
                                WordBits flip, int64_t k) {
  ArgumentChecker checker(kSegmentTopK);
  checker.require_keys(keys, "keys");
  checker.require_flip(keys, flip);
  checker.require(row_ids->dimensions().size() > 0,
                  "row_ids must have shape [..., num_segments * k]");
  checker.require(k > 0, "k must be positive, got " + std::to_string(k));
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(keys), num_rows = row_length(keys);
  const int64_t num_results = row_length(*row_ids);
  checker.require_dtype(segment_ids, "segment_ids", ffi::DataType::S32);
  checker.require_rows(segment_ids, "segment_ids", batch, num_rows);
  checker.require_dtype(*row_ids, "row_ids", ffi::DataType::S32);
  checker.require_rows(*row_ids, "row_ids", batch, num_results);
  checker.require(num_results % k == 0, "row_ids must have k rows for each segment");
  if (!checker.ok()) return checker.error();
  return run_kernel(kSegmentTopK, [&] {
    XlaExecutor executor(pool);
    with_order(keys, flip, [&](const auto& order) {
      using Order = std::decay_t<decltype(order)>;
      for_each_row(executor, batch, num_rows, [&](Executor& row_executor, int64_t row) {
        const SegmentIds<int32_t> segments(words_of<int32_t>(segment_ids) + row * num_rows, 0,
                                           num_rows, num_results / k);
        segment_top_k(row_executor,
                      SegmentTopKRow<Order>{words_of<typename Order::Key>(keys) + row * num_rows,
                                            segments, order, k,
                                            words_of<int32_t>(*row_ids) + row * num_results});
      });
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_segment_top_k_v1, jaxframes::segment_top_k_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>()
                            .Attr<jaxframes::WordBits>("flip")
                            .Attr<int64_t>("k"));
