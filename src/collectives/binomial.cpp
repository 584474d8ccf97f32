#include "collectives/binomial.h"

#include <algorithm>
#include <vector>

#include "cluster/recording/work_scope.h"
#include "collectives/binomial_rounds.h"
#include "collectives/run.h"

namespace simgrad::collectives {

using cluster::Communicator;
using cluster::Packet;
using values::Combination;
using values::Tensor;

namespace {

/// Up the tree to member 0, pairs 1, 2, 4, ... apart; then down again.
class TreeSchedule final : public JointSchedule {
 public:
  TreeSchedule(const Extent& x, int P) : JointSchedule(Split(x, 1)), P_(P), tree_(P, 0) {}

  std::string_view name() const override { return "tree"; }
  int rounds() const override { return 2 * tree_.count(); }
  Exchange exchange(int round, int r) const override {
    const bool up = round < tree_.count();
    const auto pair = tree_.pair(1 << (up ? round : 2 * tree_.count() - 1 - round), r);
    const int source = up ? pair.upper : pair.lower;
    const int target = up ? pair.lower : pair.upper;
    const Stretch all = split().whole();
    return {.target = target, .sent = all, .source = source, .received = all, .reduce = up};
  }
  std::vector<Tensor> results(std::vector<Tensor> brought, Combination how) const override {
    return std::vector(static_cast<std::size_t>(P_), total(brought, how, 0, 1 << tree_.count()));
  }

 private:
  /// Members first .. first + span - 1, the lower half before the upper; each is let go once it is used.
  Tensor total(std::vector<Tensor>& x, Combination how, int first, int span) const {
    if (span == 1) return std::move(x[static_cast<std::size_t>(first)]);
    const Tensor lower = total(x, how, first, span / 2);
    if (first + span / 2 >= P_) return lower;
    return values::combine(how, lower, total(x, how, first + span / 2, span / 2));
  }

  int P_;
  BinomialRounds tree_;
};

/// One way along the tree: all that the upper member of a pair stands for goes up to the lower one, or down from it.
class OneWay final : public Schedule {
 public:
  enum class What { broadcast, reduce, scatter, gather };
  OneWay(What what, std::int64_t length, int P, int root)
      : Schedule(from_the_root(length, P, root)), what_(what), P_(P), root_(root), tree_(P, root) {}

  int rounds() const override { return tree_.count(); }
  Exchange exchange(int round, int r) const override {
    const bool up = what_ == What::reduce || what_ == What::gather;
    const auto pair = tree_.pair(1 << (up ? round : tree_.count() - 1 - round), r);
    const bool parts = what_ == What::scatter || what_ == What::gather;
    const Stretch what = parts ? split().chunks(pair.first, pair.end) : split().whole();
    return {.target = up ? pair.lower : pair.upper,
            .sent = what,
            .source = up ? pair.upper : pair.lower,
            .received = what,
            .reduce = what_ == What::reduce};
  }
  Stretch brings(int r) const override {
    if (what_ == What::reduce) return split().whole();
    if (what_ == What::gather) return chunk_of(r);
    return r == root_ ? split().whole() : Stretch{};
  }
  Stretch keeps(int r) const override {
    if (what_ == What::broadcast) return split().whole();
    if (what_ == What::scatter) return chunk_of(r);
    return r == root_ ? split().whole() : Stretch{};
  }

 private:
  /// Chunks in the order of the tree: the root's first, though of the length that its rank has.
  static Split from_the_root(std::int64_t length, int P, int root) {
    const Split by_rank(length, P);
    std::vector<std::int64_t> counts;
    for (int v = 0; v < P; ++v) counts.push_back(by_rank.chunk((v + root) % P).count);
    return Split(counts);
  }
  Stretch chunk_of(int r) const { return split().chunk((r - root_ + P_) % P_); }

  What what_;
  int P_;
  int root_;
  BinomialRounds tree_;
};

/// The vector's chunks from those of `root` on, or the way back.
Tensor rotated(const Tensor& x, int P, int root, bool back) {
  if (root == 0) return x;
  const Split by_rank(x.size(), P);
  const std::int64_t front = back ? x.size() - by_rank.chunks(0, root).count : by_rank.chunks(0, root).count;
  const Tensor parts[] = {values::slice(x, front, x.size() - front), values::slice(x, 0, front)};
  return values::concatenate(parts);
}

}  // namespace

std::shared_ptr<const JointSchedule> Tree::schedule(const Extent& x, int P) const {
  return std::make_shared<TreeSchedule>(x, P);
}

Packet BinomialBroadcast::operator()(const Communicator& comm, int root, Packet packet, std::int64_t length) const {
  const cluster::WorkScope work_scope(comm, record::Work::broadcast);
  return run(comm, OneWay(OneWay::What::broadcast, length, comm.size(), root), std::move(packet));
}

Tensor reduce(const Communicator& comm, int root, const Tensor& x, Combination how) {
  const cluster::WorkScope work_scope(comm, record::Work::reduce);
  const Tensor total =
      run(comm, OneWay(OneWay::What::reduce, x.size(), comm.size(), root), comm.on_wire(x), how).tensor;
  return comm.rank() == root ? total : Tensor();
}

Tensor reduce(const Communicator& comm, int root, const Tensor& x, Reduction reduction) {
  const cluster::WorkScope work_scope(comm, record::Work::reduce);
  const Tensor total = reduce(comm, root, x, combination(reduction));
  return comm.rank() == root ? finish(comm, reduction, total) : Tensor();
}

Tensor scatter(const Communicator& comm, int root, const Tensor& x, std::int64_t length) {
  const cluster::WorkScope work_scope(comm, record::Work::scatter);
  const Tensor mine = comm.rank() == root ? rotated(x, comm.size(), root, false) : Tensor();
  return run(comm, OneWay(OneWay::What::scatter, length, comm.size(), root), mine).tensor;
}

Tensor gather(const Communicator& comm, int root, const Tensor& x, std::int64_t length) {
  const cluster::WorkScope work_scope(comm, record::Work::gather);
  const Tensor all = run(comm, OneWay(OneWay::What::gather, length, comm.size(), root), x).tensor;
  return comm.rank() == root ? rotated(all, comm.size(), root, true) : Tensor();
}

}  // namespace simgrad::collectives
