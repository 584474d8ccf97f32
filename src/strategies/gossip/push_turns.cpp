#include "strategies/gossip/push_turns.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "strategies/gossip/graphs/lines.h"
#include "strategies/gossip/mixing/spectrum.h"

namespace simgrad::strategies {

PushTurns::PushTurns(std::shared_ptr<const Adjacency> edges, bool one_peer)
    : to_(std::move(edges)), from_(simgrad::strategies::sources(*to_)), one_peer_(one_peer) {}

PushPeers PushTurns::peers(int rank, std::int64_t step) const {
  const std::vector<int>& own = (*to_)[static_cast<std::size_t>(rank)];
  const std::vector<int>& into = sources(rank);
  if (!one_peer_) return {own, into};
  const auto turn = [&](const std::vector<int>& all) { return all[static_cast<std::size_t>(step) % all.size()]; };
  PushPeers peers;
  if (!own.empty()) peers.targets = {turn(own)};
  for (const int j : into)
    if (turn((*to_)[static_cast<std::size_t>(j)]) == rank) peers.sources.push_back(j);
  return peers;
}

MixingMatrix PushTurns::shares(std::int64_t step) const {
  MixingMatrix W;
  const auto share = [&](int rank) { return 1.0 / (1.0 + static_cast<double>(peers(rank, step).targets.size())); };
  for (int rank = 0; rank < static_cast<int>(to_->size()); ++rank) {
    PushPeers push_peers = peers(rank, step);
    MixingRow row{.neighbours = std::move(push_peers.sources), .weights = {}, .targets = std::move(push_peers.targets)};
    const auto own = std::ranges::lower_bound(row.neighbours, rank) - row.neighbours.begin();
    for (const int j : row.neighbours) row.weights.push_back(share(j));
    row.weights.insert(row.weights.begin() + own, share(rank));
    W.rows.push_back(std::move(row));
  }
  return W;
}

std::size_t PushTurns::cycle() const {
  std::size_t count = 1;
  for (const std::vector<int>& targets : *to_) {
    if (one_peer_) count = std::lcm(count, std::max<std::size_t>(1, targets.size()));
    if (count > cycle_max) break;
  }
  return count;
}

MixingTurns PushTurns::matrices() const {
  MixingTurns all;
  if (const std::size_t count = cycle(); count <= cycle_max)
    for (std::size_t t = 0; t < count; ++t) all.push_back(shares(static_cast<std::int64_t>(t)));
  return all;
}

std::optional<double> PushTurns::spectral_gap() const {
  const MixingTurns all = matrices();
  return all.empty() ? std::nullopt : spectral_gap_of_turns(all);
}

}  // namespace simgrad::strategies
