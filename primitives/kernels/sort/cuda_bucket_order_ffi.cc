// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <string>

#include "base/cuda_target.h"
#include "sort/cuda_bucket_order.h"

namespace jaxframes {
namespace {

constexpr char kBucketOrder[] = "jaxframes_cuda_bucket_order_v1";

ffi::Error bucket_order_target(cudaStream_t stream, ffi::AnyBuffer ids, ffi::AnyBuffer num_valid,
                               ffi::Result<ffi::AnyBuffer> order,
                               ffi::Result<ffi::AnyBuffer> inverse,
                               ffi::Result<ffi::AnyBuffer> offsets,
                               ffi::Result<ffi::AnyBuffer> scratch) {
  ArgumentChecker checker(kBucketOrder);
  checker.require(ids.element_type() == ffi::DataType::U32 ||
                      ids.element_type() == ffi::DataType::S32,
                  "ids must have dtype u32 or s32");
  checker.require(ids.dimensions().size() > 0 && offsets->dimensions().size() > 0 &&
                      inverse->dimensions().size() > 0,
                  "ids, inverse and offsets must have shapes [..., length]");
  if (!checker.ok()) return checker.error();
  const int64_t batch = batch_size(ids), num_rows = row_length(ids);
  const int64_t num_buckets = row_length(*offsets) - 1;
  checker.require(num_rows <= std::numeric_limits<int32_t>::max(),
                  "ids must have fewer than 2^31 rows, got " + std::to_string(num_rows));
  checker.require(1 <= num_buckets && num_buckets <= kMostBuckets,
                  "the number of buckets must be in [1, " + std::to_string(kMostBuckets) +
                      "], got " + std::to_string(num_buckets));
  checker.require_dtype(num_valid, "num_valid", ffi::DataType::S32);
  checker.require_scalars(num_valid, "num_valid", batch);
  checker.require_dtype(*order, "order", ffi::DataType::S32);
  checker.require_rows(*order, "order", batch, num_rows);
  const bool has_inverse = row_length(*inverse) != 0;
  checker.require_dtype(*inverse, "inverse", ffi::DataType::S32);
  checker.require_rows(*inverse, "inverse", batch, has_inverse ? num_rows : 0);
  checker.require_dtype(*offsets, "offsets", ffi::DataType::S32);
  checker.require_rows(*offsets, "offsets", batch, num_buckets + 1);
  if (!checker.ok()) return checker.error();
  checker.require_scratch(*scratch, batch * cuda_bucket_order_scratch_bytes(num_rows, num_buckets));
  if (!checker.ok()) return checker.error();
  const CudaBucketOrder call{words_of<uint32_t>(ids),
                             words_of<int32_t>(num_valid),
                             words_of<int32_t>(*order),
                             has_inverse ? words_of<int32_t>(*inverse) : nullptr,
                             words_of<int32_t>(*offsets),
                             batch,
                             num_rows,
                             num_buckets};
  return launched(kBucketOrder, cuda_bucket_order(call, scratch->untyped_data(), stream));
}

}  // namespace
}  // namespace jaxframes

namespace ffi = ::xla::ffi;

JAXFRAMES_DEFINE_CUDA_TARGET(jaxframes_cuda_bucket_order_v1, jaxframes::bucket_order_target,
                             ffi::Ffi::Bind()
                                 .Ctx<jaxframes::CudaStream>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Arg<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>()
                                 .Ret<ffi::AnyBuffer>());

extern "C" JAXFRAMES_EXPORT int64_t jaxframes_cuda_bucket_order_scratch_bytes(
    int64_t num_rows, int64_t num_buckets) {
  return jaxframes::cuda_bucket_order_scratch_bytes(num_rows, num_buckets);
}
