#include "training/session/replicas.h"

#include <algorithm>
#include <limits>

namespace simgrad::training {

void Replicas::begin(int workers) {
  all_.assign(static_cast<std::size_t>(workers), {});
  for (int rank = 0; rank < workers; ++rank) of(rank).active = alive_(rank);
}

bool Replicas::all_reported(std::int64_t step) const {
  return std::ranges::all_of(all_, [&](const ReplicaStatus& each) { return !each.active || each.reported >= step; });
}

int Replicas::active_count() const { return static_cast<int>(std::ranges::count_if(all_, &ReplicaStatus::active)); }

void Replicas::join(int rank, std::int64_t step, int from) {
  of(rank).since = step;
  of(rank).joins_from = from;
}

std::vector<int> Replicas::joiners(int from, std::int64_t step) {
  std::vector<int> joiners;
  for (int rank = 0; rank < size(); ++rank) {
    ReplicaStatus& each = of(rank);
    if (each.joins_from != from || each.since > step) continue;
    each.joins_from.reset();
    if (alive_(rank)) joiners.push_back(rank);
  }
  return joiners;
}

void Replicas::report(int rank, std::int64_t step) {
  of(rank).active = true;
  of(rank).reported = step;
}

void Replicas::lose(int rank) {
  of(rank).active = false;
  of(rank).joins_from.reset();
}

void Replicas::bring_back(int rank) {
  of(rank).rejoins = true;
  of(rank).since = std::numeric_limits<std::int64_t>::max();
}

}  // namespace simgrad::training
