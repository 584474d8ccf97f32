/// The cables of a graph, found by the two nodes that each joins.
#pragma once

#include <vector>

#include "cluster/topologies/wired.h"

namespace simgrad::cluster {

/// Memory: two entries a cable, whatever the number of paths. A search looks at the node that has fewer cables.
class Hops {
 public:
  explicit Hops(const std::vector<Cable>& cables);

  /// Twice the number of the cable between two nodes, plus 1 against the cable's direction; none: -1. The first of
  /// several cables between them.
  int between(int from, int to) const;

 private:
  struct End {
    int node = 0;  ///< at the other end
    int hop = 0;   ///< as between() says it
  };

  int ends_of(int node) const {
    return first_[static_cast<std::size_t>(node) + 1] - first_[static_cast<std::size_t>(node)];
  }
  int found(int from, int to) const;

  std::vector<int> first_;  ///< by node: the place of its first end; one more than nodes
  std::vector<End> ends_;   ///< of each node in the order of the other nodes
};

}  // namespace simgrad::cluster
