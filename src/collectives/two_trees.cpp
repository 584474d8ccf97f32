#include "collectives/two_trees.h"

#include <algorithm>
#include <map>

namespace simgrad::collectives {

namespace {

/// The parent in the in-order tree over 0 .. P-1: 0 is the root, with one child; leaves are odd.
int in_order_parent(int v, int P) {
  if (v == 0) return -1;
  const int lowest = v & -v;
  const int parent = (v ^ lowest) | (2 * lowest);
  return parent < P ? parent : v ^ lowest;
}

/// The first round from `earliest` on that has this colour: even rounds have colour 0, odd ones 1.
int next_of(int colour, int earliest) { return earliest + (earliest + colour) % 2; }

}  // namespace

std::shared_ptr<const TwoTrees> TwoTrees::of(int P) {
  static std::map<int, std::shared_ptr<const TwoTrees>> made;
  std::shared_ptr<const TwoTrees>& trees = made[P];
  if (!trees) trees = std::make_shared<const TwoTrees>(P);
  return trees;
}

TwoTrees::TwoTrees(int P) : P_(P), edges_(2 * P), children_(P) {
  const auto place = [P](int tree, int v) { return tree == 0 ? v : P % 2 == 0 ? P - 1 - v : (v + P - 1) % P; };
  const auto member = [P](int tree, int at) { return tree == 0 ? at : P % 2 == 0 ? P - 1 - at : (at + 1) % P; };
  for (int tree = 0; tree < 2; ++tree)
    for (int v = 0; v < P; ++v) {
      const int parent = in_order_parent(place(tree, v), P);
      if (parent < 0) {
        roots_[tree] = v;
        continue;
      }
      edges_[index(tree, v)].parent = member(tree, parent);
      children_[member(tree, parent)].push_back({tree, v});
    }
  colour();
  for (int tree = 0; tree < 2; ++tree) {
    time_up(tree, root(tree));
    time_down(tree, root(tree), 0);
  }
  for (std::vector<Child>& all : children_)
    std::sort(all.begin(), all.end(), [this](const Child& a, const Child& b) {
      return edge(a.tree, a.member).first_up < edge(b.tree, b.member).first_up;
    });
}

/// An edge shares its lower end with the same member's edge of the other tree, and its upper end with one other edge at
/// most. So the edges make paths and even cycles, whose colours alternate.
void TwoTrees::colour() {
  base::ByRank<char> done(edges_.size());
  for (int start = 0; start < 2 * P_; ++start) {
    std::vector<std::pair<int, int>> todo{{start, 0}};  // edge and its colour
    while (!todo.empty()) {
      const auto [at, its_colour] = todo.back();
      todo.pop_back();
      Edge& edge = edges_[at];
      if (edge.parent < 0 || done[at]) continue;
      done[at] = true;
      edge.colour = its_colour;
      todo.emplace_back((at + P_) % (2 * P_), 1 - its_colour);
      for (const Child& sibling : children_[edge.parent])
        todo.emplace_back(index(sibling.tree, sibling.member), 1 - its_colour);
    }
  }
}

/// Upwards: after all its children's. Returns the round after the member's own.
int TwoTrees::time_up(int tree, int member) {
  int earliest = 0;
  for (const Child& child : children_[member])
    if (child.tree == tree) earliest = std::max(earliest, time_up(tree, child.member));
  Edge& own = edges_[index(tree, member)];
  if (own.parent < 0) return earliest;
  own.first_up = next_of(own.colour, earliest);
  last_up_ = std::max(last_up_, own.first_up);
  return own.first_up + 1;
}

/// Downwards: after its parent's.
void TwoTrees::time_down(int tree, int member, int not_before) {
  Edge& own = edges_[index(tree, member)];
  if (own.parent >= 0) {
    own.first_down = next_of(own.colour, not_before);
    last_down_ = std::max(last_down_, own.first_down);
    not_before = own.first_down + 1;
  }
  for (const Child& child : children_[member])
    if (child.tree == tree) time_down(tree, child.member, not_before);
}

}  // namespace simgrad::collectives
