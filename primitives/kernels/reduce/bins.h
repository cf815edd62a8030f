// SPDX-License-Identifier: Apache-2.0
// The bin of a number between the outer edges, on every platform.
#ifndef JAXFRAMES_KERNELS_REDUCE_BINS_H_
#define JAXFRAMES_KERNELS_REDUCE_BINS_H_

#include <cstdint>

#include "base/host_device.h"

namespace jaxframes {
namespace internal {

// Finds the bin by binary search.
template <typename Edge>
struct SearchedBins {
  const Edge* edges;
  int64_t num_bins;

  JAXFRAMES_HOST_DEVICE int64_t of(Edge number) const {
    int64_t bin = 0;
    for (int64_t length = num_bins; length > 1;) {
      const int64_t half = length / 2;
      bin = number >= edges[bin + half] ? bin + half : bin;
      length -= half;
    }
    return bin;
  }
};

// Computes the bin; rounding may give a neighbour of the right one.
template <typename Edge>
struct UniformBins {
  const Edge* edges;
  int64_t num_bins;
  Edge first;
  Edge bins_per_unit;

  JAXFRAMES_HOST_DEVICE int64_t of(Edge number) const {
    int64_t bin = static_cast<int64_t>((number - first) * bins_per_unit);
    bin = bin < num_bins - 1 ? bin : num_bins - 1;
    while (number < edges[bin]) --bin;
    while (bin < num_bins - 1 && number >= edges[bin + 1]) ++bin;
    return bin;
  }
};

}  // namespace internal
}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_REDUCE_BINS_H_
