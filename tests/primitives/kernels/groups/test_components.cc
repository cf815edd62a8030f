// SPDX-License-Identifier: Apache-2.0
#include "groups/components.h"

#include <functional>

#include "check.h"

using namespace jaxframes;
using namespace jaxframes_tests;

// Labels that spread along the edges until none changes.
std::vector<int32_t> spread(const std::vector<int32_t>& senders,
                            const std::vector<int32_t>& receivers, int64_t num_nodes) {
  std::vector<int32_t> labels(num_nodes);
  for (int64_t node = 0; node < num_nodes; ++node) labels[node] = static_cast<int32_t>(node);
  for (bool changes = true; changes;) {
    changes = false;
    // Both ways, so that a path in any direction takes few rounds.
    const auto visit = [&](size_t edge) {
      const int64_t one = senders[edge], other = receivers[edge];
      if (one < 0 || one >= num_nodes || other < 0 || other >= num_nodes) return;
      const int32_t least = std::min(labels[one], labels[other]);
      changes = changes || labels[one] != least || labels[other] != least;
      labels[one] = labels[other] = least;
    };
    for (size_t edge = 0; edge < senders.size(); ++edge) visit(edge);
    for (size_t edge = senders.size(); edge-- > 0;) visit(edge);
  }
  return labels;
}

void check_graph(Executor& executor, const std::string& name, int64_t num_edges, int64_t num_nodes,
                 const std::function<int64_t(int64_t)>& sender,
                 const std::function<int64_t(int64_t)>& receiver) {
  current_case() = name + ", " + std::to_string(num_edges) + " edges, " +
                   std::to_string(num_nodes) + " nodes, " +
                   std::to_string(executor.num_threads()) + " threads";
  std::vector<int32_t> senders(num_edges), receivers(num_edges);
  for (int64_t edge = 0; edge < num_edges; ++edge) {
    senders[edge] = static_cast<int32_t>(sender(edge));
    receivers[edge] = static_cast<int32_t>(receiver(edge));
  }
  GuardedArray<int32_t> guarded_senders(senders), guarded_receivers(receivers);
  guarded_senders.protect();
  guarded_receivers.protect();
  GuardedArray<int32_t> smallest(num_nodes);
  smallest_nodes(executor, guarded_senders.data(), guarded_receivers.data(), num_edges, num_nodes,
                 smallest.data());
  CHECK(smallest.values() == spread(senders, receivers, num_nodes));
}

int main() {
  Executors executors;
  const auto random = [](int64_t bound) {
    return [bound](int64_t) { return static_cast<int64_t>(random_bits()() % bound); };
  };
  for (int64_t num_nodes : {0, 1, 2, 9, 1000, 70000}) {
    for (int64_t num_edges : {0, 1, 7, 1000, 90000}) {
      for (int repeat = 0; repeat < 3; ++repeat) {
        Executor& executor = executors.next(num_edges + num_nodes);
        // Some edges have a node on either side of the range.
        const auto any = [&](int64_t) {
          return static_cast<int64_t>(random_bits()() % (num_nodes + 4)) - 2;
        };
        check_graph(executor, "random", num_edges, num_nodes, any, any);
        if (num_nodes == 0) continue;
        check_graph(executor, "few nodes", num_edges, num_nodes, random(std::min<int64_t>(num_nodes, 20)),
                    random(std::min<int64_t>(num_nodes, 20)));
        const int64_t last = num_nodes - 1;
        check_graph(executor, "star", num_edges, num_nodes, random(num_nodes),
                    [last](int64_t) { return last; });
        check_graph(executor, "path", num_edges, num_nodes,
                    [last](int64_t edge) { return std::min(edge, last); },
                    [last](int64_t edge) { return std::min(edge + 1, last); });
        check_graph(executor, "path downwards", num_edges, num_nodes,
                    [last](int64_t edge) { return std::max<int64_t>(last - edge, 0); },
                    [last](int64_t edge) { return std::max<int64_t>(last - edge - 1, 0); });
      }
    }
  }
  // Trees as deep as can be, on threads that all search them while others end theirs.
  for (int repeat = 0; repeat < 60; ++repeat) {
    const int64_t num_edges = 90000, num_nodes = 70000;
    check_graph(executors.next(num_edges), "deep", num_edges, num_nodes,
                [](int64_t edge) { return std::max<int64_t>(num_nodes - 1 - edge, 0); },
                [](int64_t edge) { return std::max<int64_t>(num_nodes - 2 - edge, 0); });
  }
  return finish("components");
}
