// SPDX-License-Identifier: Apache-2.0
// What the handlers for GPU need of CUDA's header, for a build of them that runs on the host.
#ifndef JAXFRAMES_TESTS_CUDA_STUB_CUDA_RUNTIME_API_H_
#define JAXFRAMES_TESTS_CUDA_STUB_CUDA_RUNTIME_API_H_

#define CUDART_VERSION 13000

enum cudaError_t { cudaSuccess = 0 };
using cudaStream_t = struct CUstream_st*;

inline const char* cudaGetErrorString(cudaError_t) { return "no error"; }
inline cudaError_t cudaDriverGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}

#endif  // JAXFRAMES_TESTS_CUDA_STUB_CUDA_RUNTIME_API_H_
