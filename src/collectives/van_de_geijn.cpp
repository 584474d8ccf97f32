#include "collectives/van_de_geijn.h"

#include "cluster/recording/work_scope.h"
#include "collectives/binomial_rounds.h"
#include "collectives/run.h"

namespace simgrad::collectives {

namespace {

/// Members counted from the root on; chunk v is first the v-th member's.
class ScatterAllGather final : public Schedule {
 public:
  ScatterAllGather(std::int64_t length, int P, int root)
      : Schedule(Split(length, P)), P_(P), root_(root), tree_(P, root) {}

  int rounds() const override { return tree_.count() + P_ - 1; }
  Exchange exchange(int round, int r) const override {
    if (round < tree_.count()) {
      const auto pair = tree_.pair(1 << (tree_.count() - 1 - round), r);
      const Stretch what = split().chunks(pair.first, pair.end);
      return {.target = pair.upper, .sent = what, .source = pair.lower, .received = what};
    }
    const int v = (r - root_ + P_) % P_ - (round - tree_.count());
    const auto chunk = [&](int k) { return split().chunk((k % P_ + P_) % P_); };
    return {.target = (r + 1) % P_, .sent = chunk(v), .source = (r + P_ - 1) % P_, .received = chunk(v - 1)};
  }
  Stretch brings(int r) const override { return r == root_ ? split().whole() : Stretch{}; }

 private:
  int P_;
  int root_;
  BinomialRounds tree_;
};

}  // namespace

cluster::Packet VanDeGeijnBroadcast::operator()(const cluster::Communicator& comm, int root, cluster::Packet packet,
                                                std::int64_t length) const {
  const cluster::WorkScope work_scope(comm, record::Work::broadcast);
  return run(comm, ScatterAllGather(length, comm.size(), root), std::move(packet));
}

}  // namespace simgrad::collectives
