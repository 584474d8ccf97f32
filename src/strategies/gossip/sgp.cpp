#include "strategies/gossip/sgp.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "strategies/gossip/graphs/powers.h"
#include "strategies/gossip/neighbourhood.h"
#include "training/compressors/encoder.h"

namespace simgrad::strategies {

using cluster::Packet;

namespace {

/// What is pushed: a share of x, and one of its weight.
struct Mass {
  Tensor x;
  double omega = 1.0;

  Packet packet() const {
    Packet packet(x, std::bit_cast<std::int64_t>(omega));
    packet.more_bytes = 8;
    return packet;
  }
  Mass share(double part) const { return {part * x, part * omega}; }
  void add(const Packet& came) {
    x += values::decoded(came.tensor);
    omega += std::bit_cast<double>(came.version);
  }
  Tensor z() const { return omega == 1.0 ? x : (1.0 / omega) * x; }
};

std::vector<Mass> masses(const State& state) {
  std::vector<Mass> all;
  for (std::size_t i = 0; i < state.carried.vectors.size(); ++i)
    all.push_back({state.carried.vectors[i], state.carried.numbers[i]});
  return all;
}

}  // namespace

Sgp::Sgp() {
  auto directed = std::make_unique<Exponential>();
  directed->one_way = true;
  graph = base::Slot<Graph>(graphs(), std::move(directed));
}

void Sgp::describe(base::Describer& d) {
  describe_graph(d);
  d.flag("one_peer", one_peer, "whether a rank sends to one of its neighbours a step, to each in turn; else to all");
  d.flag("overlap", overlap,
         "whether what is sent travels while the next gradient is computed, and counts a step later");
  describe_parameter_compression(
      d, "compression", compression,
      "what is sent instead of shares of parameters; what it leaves out stays with the sender");
}

std::optional<Strategy::Unfit> Sgp::unfit(const Fit& fit) const {
  if (auto why = OnGraph::unfit(fit)) return why;
  const Adjacency all = drawn(static_cast<int>(fit.workers), fit.seed);
  if (strong_components(all) == static_cast<int>(components(all).size())) return {};
  return Unfit{
      "graph",
      "sgp hands parameters and their weights on along the edges, but from some ranks of this graph no way leads "
      "back: they would give away all that they have; add edges that close the ways to rings"};
}

Sgp::Peers Sgp::peers(const Adjacency& to, const Adjacency& from, int rank, std::int64_t step) const {
  const std::vector<int>& own = to[static_cast<std::size_t>(rank)];
  const std::vector<int>& into = from[static_cast<std::size_t>(rank)];
  if (!one_peer) return {own, into};
  const auto turn = [&](const std::vector<int>& all) { return all[static_cast<std::size_t>(step) % all.size()]; };
  Peers peers;
  if (!own.empty()) peers.targets = {turn(own)};
  for (const int j : into)
    if (turn(to[static_cast<std::size_t>(j)]) == rank) peers.sources.push_back(j);
  return peers;
}

std::vector<MixingMatrix> Sgp::turns(const Adjacency& to, const Adjacency& from) const {
  std::size_t count = 1;
  if (one_peer)
    for (const std::vector<int>& targets : to) count = std::lcm(count, std::max<std::size_t>(1, targets.size()));
  constexpr std::size_t most = 64;  // of graphs whose degrees have little in common
  if (count > most) return {};
  std::vector<MixingMatrix> all(count);
  const int P = static_cast<int>(to.size());
  for (std::size_t t = 0; t < count; ++t) {
    const auto step = static_cast<std::int64_t>(t);
    const auto share = [&](int rank) {
      return 1.0 / (1.0 + static_cast<double>(peers(to, from, rank, step).targets.size()));
    };
    for (int rank = 0; rank < P; ++rank) {
      MixingRow row{.neighbours = peers(to, from, rank, step).sources, .weights = {}, .targets = {}};
      const auto own = std::ranges::lower_bound(row.neighbours, rank) - row.neighbours.begin();
      for (const int j : row.neighbours) row.weights.push_back(share(j));
      row.weights.insert(row.weights.begin() + own, share(rank));
      all[t].rows.push_back(std::move(row));
    }
  }
  return all;
}

void Sgp::operator()(Worker& worker) const {
  const int P = worker.workers();
  const int rank = worker.comm().rank();
  note_warnings(worker);
  const auto to = edges(worker);
  const Adjacency from = sources(*to);
  if (rank == 0)
    if (const auto all = turns(*to, from); !all.empty())
      if (const auto gap = spectral_gap_of_turns(all)) worker.training().set_spectral_gap(*gap);
  const MixingRow joined{.neighbours = from[static_cast<std::size_t>(rank)], .weights = {}, .targets = {}};
  const Neighbourhood neighbours(worker, joined);
  training::Encoder encoder(*compression, worker);
  State state = neighbours.start();
  std::vector<Mass> carried = masses(state);  // x and omega; overlapped, also the code that was sent in the step before
  Mass mass = carried.empty() ? Mass{state.w} : carried.front();
  std::optional<Neighbourhood::Exchange> under_way;
  const auto push = [&](const Mass& part, std::int64_t step) {
    const Peers now = peers(*to, from, rank, step);
    return neighbours.start(part.packet(), step, now.sources, now.targets);
  };
  if (carried.size() > 1) under_way = push(carried[1], state.step - 1);
  while (worker.continues(state)) {
    neighbours.welcome(state);
    const std::int64_t step = state.step;
    const Tensor g = P * worker.gradient(state.w);
    state.w = mass.x;
    worker.update(state, g);
    mass.x = state.w;
    int targets = 0;
    for (const int j : peers(*to, from, rank, step).targets) targets += neighbours.takes_part(j, step) ? 1 : 0;
    Mass part = mass.share(1.0 / (1.0 + targets));
    mass = part;
    if (targets > 0 && !compression->exact()) {
      part.x = encoder(worker.comm(), part.x);
      worker.comm().charge_reduction(3.0 * static_cast<double>(g.size()), record::Work::update);
      mass.x = values::add_scaled(mass.x, targets, mass.x - values::decoded(part.x));
    }
    std::vector<Packet> received;
    if (overlap && under_way) received = neighbours.finish(std::move(*under_way));
    under_way = push(part, step);
    if (!overlap) received = neighbours.finish(*std::exchange(under_way, std::nullopt));
    std::int64_t additions = 0;
    for (const Packet& came : received) {
      if (!came.tensor) continue;
      mass.add(came);
      ++additions;
    }
    encoder.charge_decoding(worker.comm(), g.size(), additions);
    worker.comm().charge_reduction((2.0 + static_cast<double>(additions)) * static_cast<double>(g.size()),
                                   record::Work::average);
    state.w = mass.z();
    state.carried = {{mass.x}, {mass.omega}};
    if (overlap) {
      state.carried.vectors.push_back(part.x);
      state.carried.numbers.push_back(part.omega);
    }
  }
  if (under_way) neighbours.finish(std::move(*under_way));  // others may still be a step behind
}

}  // namespace simgrad::strategies
