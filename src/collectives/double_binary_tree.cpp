#include "collectives/double_binary_tree.h"

#include <cmath>
#include <vector>

#include "base/by_rank.h"
#include "cluster/ranks/local_groups.h"
#include "collectives/computed_only.h"
#include "collectives/trees_at_once.h"
#include "collectives/two_trees.h"

namespace simgrad::collectives {

using values::Combination;
using values::Tensor;

namespace {

/// Chunk i goes along an edge two rounds after chunk i - 1; first all the way up, then all the way down.
class TwoTreesSchedule final : public JointSchedule {
 public:
  TwoTreesSchedule(const Extent& x, int P, int chunks, std::string_view name)
      : JointSchedule(Split(x, 2)), name_(name), chunks_(chunks), trees_(TwoTrees::of(P)) {
    for (int half = 0; half < 2; ++half) halves_.push_back(Split(split().chunk(half).count, chunks));
  }

  std::string_view name() const override { return name_; }
  /// Chunks of many rounds are under way together: which of two comes first is decided by their last digits, and all
  /// later shares with it.
  bool may_share_links() const override { return false; }
  int rounds() const override { return rounds_up() + trees_->last_first_down() + 2 * chunks_ - 1; }

  Exchange exchange(int round, int r) const override {
    const bool up = round < rounds_up();
    const int t = up ? round : round - rounds_up();
    Exchange exchange{.reduce = up};
    for (int tree = 0; tree < 2; ++tree)
      if (const auto& edge = trees_->edge(tree, r); edge.parent >= 0)
        if (const auto chunk = moving(t, up ? edge.first_up : edge.first_down); chunk >= 0) {
          (up ? exchange.target : exchange.source) = edge.parent;
          (up ? exchange.sent : exchange.received) = place(tree, chunk);
        }
    for (const auto& [tree, child] : trees_->children(r)) {
      const auto& edge = trees_->edge(tree, child);
      if (const auto chunk = moving(t, up ? edge.first_up : edge.first_down); chunk >= 0) {
        (up ? exchange.source : exchange.target) = child;
        (up ? exchange.received : exchange.sent) = place(tree, chunk);
      }
    }
    return exchange;
  }

  std::vector<Tensor> results(std::vector<Tensor> brought, Combination how) const override {
    const Tensor halves[] = {total(0, trees_->root(0), brought, how), total(1, trees_->root(1), brought, how)};
    return std::vector(brought.size(), values::concatenate(halves));
  }

 private:
  int rounds_up() const { return trees_->last_first_up() + 2 * chunks_ - 1; }

  /// The chunk on its way along an edge in round t.  first: the edge's first round.  -1: none.
  int moving(int t, int first) const {
    const int since = t - first;
    return since >= 0 && since % 2 == 0 && since / 2 < chunks_ ? since / 2 : -1;
  }

  Stretch place(int tree, int chunk) const {
    const Stretch within = halves_[tree].chunk(chunk);
    return {split().chunk(tree).first + within.first, within.count};
  }

  /// A member's half with those of all below it, the children as they come.
  Tensor total(int tree, int member, const std::vector<Tensor>& x, Combination how) const {
    const Stretch half = split().chunk(tree);
    Tensor sum = values::slice(x[static_cast<std::size_t>(member)], half.first, half.count);
    for (const auto& [its_tree, child] : trees_->children(member))
      if (its_tree == tree) sum = values::combine(how, sum, total(tree, child, x, how));
    return sum;
  }

  std::string_view name_;
  int chunks_;
  std::shared_ptr<const TwoTrees> trees_;
  base::ByRank<Split> halves_;
};

}  // namespace

void DoubleBinaryTree::describe(base::Describer& d) {
  d.quantity("chunk", chunk_bytes, base::Unit::bytes, "the largest chunk that travels at a time",
             base::Bounds::between(64, 1e15));
  d.flag("overlap", overlap,
         "whether chunks go down while later ones go up, each as soon as it can, as in NCCL, and the members of a host "
         "are a chain; the links are divided evenly among the trees' hops; it is then always computed at the last "
         "arrival, as if its links carried nothing else");
}

std::string DoubleBinaryTree::refusal(const cluster::Options& cluster) const {
  return overlap ? computed_only_refusal("overlap = true", cluster) : std::string();
}

Tensor DoubleBinaryTree::combine(const cluster::Communicator& comm, Tensor x, Combination how) const {
  if (!overlap || comm.size() == 1) return ScheduledAllreduce::combine(comm, std::move(x), how);
  const Extent extent(x);
  return run_computed_only(
      comm, "overlap = true", [&] { return timing(comm, extent, how); }, std::move(x));
}

std::shared_ptr<const cluster::CollectiveTiming> DoubleBinaryTree::timing(const cluster::Communicator& comm,
                                                                          const Extent& x, Combination how) const {
  if (!overlap) return ScheduledAllreduce::timing(comm, x, how);
  return timing_of_trees(trees_of_hosts(comm.local_groups().hosts), x, chunk_bytes, called, how);
}

std::shared_ptr<const JointSchedule> DoubleBinaryTree::schedule(const Extent& x, int P) const {
  const double half = static_cast<double>(x.wire.bytes((x.length + 1) / 2));
  const int chunks = std::max(1, static_cast<int>(std::ceil(half / chunk_bytes)));
  return std::make_shared<TwoTreesSchedule>(x, P, chunks, called);
}

}  // namespace simgrad::collectives
