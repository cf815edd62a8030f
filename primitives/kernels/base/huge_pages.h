// SPDX-License-Identifier: Apache-2.0
#ifndef JAXFRAMES_KERNELS_BASE_HUGE_PAGES_H_
#define JAXFRAMES_KERNELS_BASE_HUGE_PAGES_H_

#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace jaxframes {

// Requests huge pages for a large buffer before its first write, including its first and last page:
// two adjacent buffers may share a huge page if both request it. This is a hint only: without it
// the kernels are slower, not wrong.
inline void advise_huge_pages(void* begin, int64_t num_bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  // For a few pages the system call costs as much as it saves.
  constexpr int64_t kLeastBytes = int64_t{8} << 20;
  if (num_bytes < kLeastBytes) return;
  static const uintptr_t page_bytes = static_cast<uintptr_t>(sysconf(_SC_PAGESIZE));
  const uintptr_t address = reinterpret_cast<uintptr_t>(begin);
  const uintptr_t first = address / page_bytes * page_bytes;
  madvise(reinterpret_cast<void*>(first), address + num_bytes - first, MADV_HUGEPAGE);
#else
  (void)begin;
  (void)num_bytes;
#endif
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_BASE_HUGE_PAGES_H_
