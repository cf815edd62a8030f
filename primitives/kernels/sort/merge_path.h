// SPDX-License-Identifier: Apache-2.0
// The path of a stable merge through its two sequences (Green, McColl, Bader 2012, "GPU merge path:
// a GPU merging algorithm").
#ifndef JAXFRAMES_KERNELS_SORT_MERGE_PATH_H_
#define JAXFRAMES_KERNELS_SORT_MERGE_PATH_H_

#include <cstdint>

#include "base/host_device.h"

namespace jaxframes {

// The number of rows of a among the first `diagonal` merged rows: the largest i such that a[i - 1]
// is not after b[diagonal - i]. `takes_a(i, j)` tells whether a[i] is not after b[j].
template <typename TakesA>
JAXFRAMES_HOST_DEVICE int64_t merge_path(int64_t size_a, int64_t size_b, int64_t diagonal,
                                         const TakesA& takes_a) {
  int64_t low = diagonal < size_b ? 0 : diagonal - size_b;
  int64_t high = diagonal < size_a ? diagonal : size_a;
  while (low < high) {
    const int64_t i = low + (high - low) / 2;
    if (takes_a(i, diagonal - i - 1)) {
      low = i + 1;
    } else {
      high = i;
    }
  }
  return low;
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_SORT_MERGE_PATH_H_
