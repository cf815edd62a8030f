// SPDX-License-Identifier: Apache-2.0
// The division of scratch memory on a GPU into arrays.
#ifndef JAXFRAMES_KERNELS_BASE_CUDA_SCRATCH_H_
#define JAXFRAMES_KERNELS_BASE_CUDA_SCRATCH_H_

#include <cstdint>

namespace jaxframes {

// Hands out arrays one after the other. Without memory it only counts their bytes, so that one
// function both plans the arrays of a kernel and places them.
class CudaScratch {
 public:
  explicit CudaScratch(void* memory = nullptr) : memory_(static_cast<char*>(memory)) {}

  template <typename T>
  T* take(int64_t count) {
    T* const array = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + bytes_);
    // CUB and wide loads want aligned arrays.
    bytes_ += (count * static_cast<int64_t>(sizeof(T)) + 255) / 256 * 256;
    return array;
  }
  int64_t bytes() const { return bytes_; }

 private:
  char* memory_;
  int64_t bytes_ = 0;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_BASE_CUDA_SCRATCH_H_
