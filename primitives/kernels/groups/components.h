// SPDX-License-Identifier: Apache-2.0
// Connected components by union-find, on any number of threads without locks.
//
// Jayanti and Tarjan (2016), "A randomized concurrent algorithm for disjoint set union": a root is
// linked to another by one compare-and-swap, and a search halves the path that it takes, by
// compare-and-swap too. Here the greater root is linked to the smaller one, so the root of a tree
// is its smallest node, in whatever order the edges arrive.
#ifndef JAXFRAMES_KERNELS_GROUPS_COMPONENTS_H_
#define JAXFRAMES_KERNELS_GROUPS_COMPONENTS_H_

#include <cstdint>
#include <utility>

#include "base/thread_pool.h"

namespace jaxframes {
namespace internal {

// The parents of all nodes. No parent is greater than its child, and none ever grows.
class Forest {
 public:
  explicit Forest(int32_t* parents) : parents_(parents) {}

  int32_t root_of(int32_t node) {
    int32_t parent = load(node);
    while (parent != node) {
      const int32_t grandparent = load(parent);
      // A plain store could replace the root that another thread has found in the meantime.
      if (grandparent != parent) replace(node, parent, grandparent);
      node = parent;
      parent = grandparent;
    }
    return node;
  }

  void connect(int32_t one, int32_t other) {
    for (;;) {
      one = root_of(one);
      other = root_of(other);
      if (one == other) return;
      if (one < other) std::swap(one, other);
      // Fails if another thread has linked this root in the meantime.
      if (replace(one, one, other)) return;
    }
  }

  void store(int32_t node, int32_t parent) {
    __atomic_store_n(&parents_[node], parent, __ATOMIC_RELAXED);
  }

 private:
  int32_t load(int32_t node) const { return __atomic_load_n(&parents_[node], __ATOMIC_RELAXED); }

  bool replace(int32_t node, int32_t expected, int32_t parent) {
    return __atomic_compare_exchange_n(&parents_[node], &expected, parent, false, __ATOMIC_RELAXED,
                                       __ATOMIC_RELAXED);
  }

  int32_t* parents_;
};

}  // namespace internal

// Writes the smallest node of each node's component. Edges with a node out of range are dropped.
inline void smallest_nodes(Executor& executor, const int32_t* senders, const int32_t* receivers,
                           int64_t num_edges, int64_t num_nodes, int32_t* smallest) {
  constexpr int64_t kRowsOfTask = 1 << 14;
  internal::Forest forest(smallest);
  const Chunks nodes(num_nodes, kRowsOfTask, executor.num_threads());
  parallel_for(executor, nodes.count, [&](int, int64_t chunk) {
    for (int64_t node = nodes.begin(chunk); node < nodes.end(chunk); ++node) {
      smallest[node] = static_cast<int32_t>(node);
    }
  });
  const Chunks edges(num_edges, kRowsOfTask, executor.num_threads());
  parallel_for(executor, edges.count, [&](int, int64_t chunk) {
    for (int64_t edge = edges.begin(chunk); edge < edges.end(chunk); ++edge) {
      const int64_t one = senders[edge], other = receivers[edge];
      if (one < 0 || one >= num_nodes || other < 0 || other >= num_nodes) continue;
      forest.connect(static_cast<int32_t>(one), static_cast<int32_t>(other));
    }
  });
  parallel_for(executor, nodes.count, [&](int, int64_t chunk) {
    for (int64_t node = nodes.begin(chunk); node < nodes.end(chunk); ++node) {
      forest.store(static_cast<int32_t>(node), forest.root_of(static_cast<int32_t>(node)));
    }
  });
}

}  // namespace jaxframes

#endif  // JAXFRAMES_KERNELS_GROUPS_COMPONENTS_H_
