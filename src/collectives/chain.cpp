#include "collectives/chain.h"

#include <algorithm>
#include <utility>

#include "cluster/recording/work_scope.h"
#include "collectives/run.h"

namespace simgrad::collectives {

namespace {

/// Away from the root, or to it: a reduction.
enum class Way : unsigned char { from_root, to_root };

class Chain final : public Schedule {
 public:
  Chain(Split chunks, int P, int root, Way way) : Schedule(std::move(chunks)), P_(P), root_(root), way_(way) {}

  int rounds() const override { return P_ == 1 ? 0 : P_ - 2 + split().chunks(); }
  /// In round t the v-th member of the chain passes chunk t - v on.
  Exchange exchange(int t, int r) const override {
    const int from_root = (r - root_ + P_) % P_, v = reduces() ? P_ - 1 - from_root : from_root;
    const int next = (r + 1) % P_, before = (r + P_ - 1) % P_;
    Exchange exchange{.reduce = reduces()};
    if (in_range(t - v) && v + 1 < P_) {
      exchange.target = reduces() ? before : next;
      exchange.sent = split().chunk(t - v);
    }
    if (in_range(t - v + 1) && v > 0) {
      exchange.source = reduces() ? next : before;
      exchange.received = split().chunk(t - v + 1);
    }
    return exchange;
  }
  Stretch brings(int r) const override { return reduces() || r == root_ ? split().whole() : Stretch{}; }
  Stretch keeps(int r) const override { return reduces() && r != root_ ? Stretch{} : split().whole(); }

 private:
  bool reduces() const { return way_ == Way::to_root; }
  bool in_range(int chunk) const { return chunk >= 0 && chunk < split().chunks(); }

  int P_;
  int root_;
  Way way_;
};

/// Chunks of which none is empty.
Split chunks_of(std::int64_t length, std::int64_t chunks) {
  return {length, static_cast<int>(std::clamp<std::int64_t>(length, 1, chunks))};
}

}  // namespace

void ChainBroadcast::describe(base::Describer& d) {
  d.integer("chunks", chunks, "the number of chunks in which the vector travels, at most one per number",
            base::Bounds::between(1, 1'000'000));
}

cluster::Packet ChainBroadcast::operator()(const cluster::Communicator& comm, int root, cluster::Packet packet,
                                           std::int64_t length) const {
  const cluster::WorkScope work_scope(comm, record::Work::broadcast);
  return run(comm, Chain(chunks_of(length, chunks), comm.size(), root, Way::from_root), std::move(packet));
}

values::Tensor chain_reduce(const cluster::Communicator& comm, int root, const values::Tensor& x, std::int64_t chunks) {
  const cluster::WorkScope work_scope(comm, record::Work::reduce);
  const Chain chain(chunks_of(x.size(), chunks), comm.size(), root, Way::to_root);
  return run(comm, chain, comm.on_wire(x)).tensor;
}

}  // namespace simgrad::collectives
