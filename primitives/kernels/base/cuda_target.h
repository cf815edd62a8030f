// SPDX-License-Identifier: Apache-2.0
// Shared parts of the FFI handlers for GPU: the stream, scratch memory, and errors.
//
// A target has the arguments and results of its counterpart on CPU, and one more result for scratch
// memory: XLA plans it like any other array. Memory that a handler asked XLA for while it runs
// would be free again when a CUDA graph of its kernels is replayed.
#ifndef JAXFRAMES_KERNELS_BASE_CUDA_TARGET_H_
#define JAXFRAMES_KERNELS_BASE_CUDA_TARGET_H_

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "base/ffi_arguments.h"

// Exports a target whose kernels can be captured in a CUDA graph.
#define JAXFRAMES_DEFINE_CUDA_TARGET(name, function, binding)          \
  extern "C" JAXFRAMES_EXPORT XLA_FFI_Error* name(XLA_FFI_CallFrame*); \
  XLA_FFI_DEFINE_HANDLER_SYMBOL(name, function, binding, {::xla::ffi::Traits::kCmdBufferCompatible})

namespace jaxframes {

using CudaStream = ffi::PlatformStream<cudaStream_t>;

// The result of the kernels' launches.
inline ffi::Error launched(const char* target, cudaError_t status) {
  if (status == cudaSuccess) return ffi::Error::Success();
  return ffi::Error::Internal(std::string(target) + ": " + cudaGetErrorString(status) + ".");
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_BASE_CUDA_TARGET_H_
