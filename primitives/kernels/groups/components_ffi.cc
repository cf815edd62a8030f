// SPDX-License-Identifier: Apache-2.0
#include "groups/components.h"

#include <cstdint>

#include "base/ffi_arguments.h"

namespace jaxframes {
namespace {

constexpr char kSmallestNodes[] = "jaxframes_smallest_nodes_v1";

ffi::Error smallest_nodes_target(ffi::ThreadPool pool, ffi::AnyBuffer senders,
                                 ffi::AnyBuffer receivers, ffi::Result<ffi::AnyBuffer> smallest) {
  ArgumentChecker checker(kSmallestNodes);
  checker.require_dtype(senders, "senders", ffi::DataType::S32);
  checker.require(senders.dimensions().size() > 0, "senders must have shape [..., num_edges]");
  checker.require(smallest->dimensions().size() > 0, "smallest must have shape [..., num_nodes]");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(senders), num_edges = row_length(senders);
  const int64_t num_nodes = row_length(*smallest);
  checker.require_dtype(receivers, "receivers", ffi::DataType::S32);
  checker.require_rows(receivers, "receivers", batch, num_edges);
  checker.require_dtype(*smallest, "smallest", ffi::DataType::S32);
  checker.require_rows(*smallest, "smallest", batch, num_nodes);
  if (!checker.ok()) return checker.error();
  return run_kernel(kSmallestNodes, [&] {
    XlaExecutor executor(pool);
    for_each_row(executor, batch, num_edges + num_nodes, [&](Executor& row_executor, int64_t row) {
      smallest_nodes(row_executor, words_of<int32_t>(senders) + row * num_edges,
                     words_of<int32_t>(receivers) + row * num_edges, num_edges, num_nodes,
                     words_of<int32_t>(*smallest) + row * num_nodes);
    });
  });
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_TARGET(jaxframes_smallest_nodes_v1, jaxframes::smallest_nodes_target,
                        ffi::Ffi::Bind()
                            .Ctx<ffi::ThreadPool>()
                            .Arg<ffi::AnyBuffer>()
                            .Arg<ffi::AnyBuffer>()
                            .Ret<ffi::AnyBuffer>());
