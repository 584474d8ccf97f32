#include "collectives/chain.h"

#include <algorithm>

#include "cluster/recording/work_scope.h"
#include "collectives/run.h"

namespace simgrad::collectives {

namespace {

class Chain final : public Schedule {
 public:
  Chain(std::int64_t length, int chunks, int P, int root) : Schedule(Split(length, chunks)), P_(P), root_(root) {}

  int rounds() const override { return P_ == 1 ? 0 : P_ - 2 + split().chunks(); }
  /// In round t the v-th member passes chunk t - v on.
  Exchange exchange(int t, int r) const override {
    const int v = (r - root_ + P_) % P_;
    Exchange exchange;
    if (in_range(t - v) && v + 1 < P_) {
      exchange.target = (r + 1) % P_;
      exchange.sent = split().chunk(t - v);
    }
    if (in_range(t - v + 1) && v > 0) {
      exchange.source = (r + P_ - 1) % P_;
      exchange.received = split().chunk(t - v + 1);
    }
    return exchange;
  }
  Stretch brings(int r) const override { return r == root_ ? split().whole() : Stretch{}; }

 private:
  bool in_range(int chunk) const { return chunk >= 0 && chunk < split().chunks(); }

  int P_;
  int root_;
};

}  // namespace

void ChainBroadcast::describe(base::Describer& d) {
  d.integer("chunks", chunks, "intervals that the vector travels in, at most one a number",
            base::Bounds::between(1, 1'000'000));
}

cluster::Packet ChainBroadcast::operator()(const cluster::Communicator& comm, int root, cluster::Packet packet,
                                           std::int64_t length) const {
  const cluster::WorkScope work_scope(comm, record::Work::broadcast);
  const auto intervals = static_cast<int>(std::clamp<std::int64_t>(length, 1, chunks));  // none is empty
  return run(comm, Chain(length, intervals, comm.size(), root), std::move(packet));
}

}  // namespace simgrad::collectives
