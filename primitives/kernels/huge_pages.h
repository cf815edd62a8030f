// SPDX-License-Identifier: Apache-2.0
#ifndef JAXFRAMES_KERNELS_HUGE_PAGES_H_
#define JAXFRAMES_KERNELS_HUGE_PAGES_H_

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace jaxframes {

// Asks for huge pages under a large buffer that is about to be written for the
// first time. Only a hint: without it the kernels are slower, not wrong.
inline void advise_huge_pages(void* begin, int64_t num_bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr uintptr_t kHugePageBytes = uintptr_t{1} << 21;
  // Below some pages the system call costs as much as it saves.
  if (num_bytes < static_cast<int64_t>(4 * kHugePageBytes)) return;
  const uintptr_t address = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t first = (address + kHugePageBytes - 1) & ~(kHugePageBytes - 1);
  const uintptr_t last = (address + num_bytes) & ~(kHugePageBytes - 1);
  if (first < last) {
    madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
  }
#else
  (void)begin;
  (void)num_bytes;
#endif
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_HUGE_PAGES_H_
