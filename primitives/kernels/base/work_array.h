// SPDX-License-Identifier: Apache-2.0
#ifndef JAXFRAMES_KERNELS_BASE_WORK_ARRAY_H_
#define JAXFRAMES_KERNELS_BASE_WORK_ARRAY_H_

#include <cstdint>
#include <memory>
#include <type_traits>

#include "base/huge_pages.h"

namespace jaxframes {

// Uninitialized temporary memory. A vector would write zeros on one thread.
template <typename T>
class WorkArray {
  static_assert(std::is_trivially_default_constructible<T>::value, "");

 public:
  explicit WorkArray(int64_t size) : values_(new T[size]) {
    advise_huge_pages(values_.get(), size * static_cast<int64_t>(sizeof(T)));
  }

  T* data() { return values_.get(); }
  T& operator[](int64_t i) { return values_[i]; }

 private:
  const std::unique_ptr<T[]> values_;
};

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_BASE_WORK_ARRAY_H_
