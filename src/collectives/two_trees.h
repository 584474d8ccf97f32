/// Two binary trees over the same members, in which no member has more than two children altogether.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "base/by_rank.h"

namespace simgrad::collectives {

/// The first tree is in-order: odd members are leaves. The second is its mirror image where P is even, and shifted by
/// one where it is odd, so that an inner member of one tree is a leaf of the other (0 excepted, which has a child in
/// each). Every edge has one of two colours. A member's two edges to its parents have different colours, and so have
/// two edges from its children.
class TwoTrees {
 public:
  explicit TwoTrees(int P);
  static std::shared_ptr<const TwoTrees> of(int P);  ///< made once

  /// The edge from a member to its parent in a tree, and when it is used first: on the way up and on the way down, a
  /// round of its colour after all that it depends on.
  struct Edge {
    int parent = -1;  ///< -1: a root
    int colour = 0;
    int first_up = 0;
    int first_down = 0;
  };
  const Edge& edge(int tree, int member) const { return edges_[index(tree, member)]; }

  struct Child {
    int tree = 0;
    int member = 0;
  };
  /// In the order in which they send upwards.
  const std::vector<Child>& children(int member) const { return children_[member]; }
  int root(int tree) const { return roots_[tree]; }
  int last_first_up() const { return last_up_; }
  int last_first_down() const { return last_down_; }

 private:
  int index(int tree, int member) const { return tree * P_ + member; }
  void colour();
  void time_down(int tree, int member, int not_before);
  int time_up(int tree, int member);

  int P_;
  base::ByRank<Edge> edges_;  ///< by tree, by member
  base::ByRank<std::vector<Child>> children_;
  base::ByRank<int> roots_{2};
  int last_up_ = -1;
  int last_down_ = -1;
};

}  // namespace simgrad::collectives
