// SPDX-License-Identifier: Apache-2.0
// The vector instructions of a processor. What depends on the kind of processor stands here alone:
// AVX2 and AVX-512 on x86-64, whose baseline is SSE2, and NEON on aarch64, which all of them have.
#ifndef JAXFRAMES_KERNELS_BASE_VECTOR_UNIT_H_
#define JAXFRAMES_KERNELS_BASE_VECTOR_UNIT_H_

#if defined(__x86_64__)
#include <immintrin.h>
#define JAXFRAMES_AVX2 __attribute__((target("avx2")))
#define JAXFRAMES_AVX512 __attribute__((target("avx512f,avx512bw,popcnt")))
#endif

#define JAXFRAMES_ALWAYS_INLINE __attribute__((always_inline)) inline

namespace jaxframes {

// Lanes of the compiler's vectors, one of NEON's and SSE2's registers, or one of AVX2's.
template <typename T>
using Lanes16 __attribute__((vector_size(16))) = T;
template <typename T>
using Lanes32 __attribute__((vector_size(32))) = T;

#if defined(__x86_64__)
inline bool has_avx512() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw");
}

namespace internal {

template <typename Loop, typename... Arguments>
JAXFRAMES_AVX2 void run_with_avx2(Arguments... arguments) {
  Loop::run(arguments...);
}

}  // namespace internal
#endif

// Calls `Loop::run`, which is always inlined, compiled for the widest vectors of this processor. The
// results are the same for all: no instruction rounds less often than another.
template <typename Loop, typename... Arguments>
void run_with_widest_vectors(Arguments... arguments) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2")) return internal::run_with_avx2<Loop>(arguments...);
#endif
  Loop::run(arguments...);
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_BASE_VECTOR_UNIT_H_
