/// The ranks of a run as devices for operators: how long work takes on each, and messages between them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cluster/options.h"
#include "strategies/operators/placing.h"
#include "training/learning/rank_work.h"
#include "training/memory/formula.h"

namespace simgrad::strategies {

/// The memory of a worker's device, where it is known.
std::optional<double> memory_of(const cluster::Options& options, int worker);

class ClusterDevices {
 public:
  /// terms: with the run's cluster; outlives this object, as the layers do.  Rank r lives on host r.
  ClusterDevices(const training::MemoryTerms& terms, std::span<const models::Layer> layers);

  int count() const { return static_cast<int>(work_.size()); }
  /// Seconds of a layer's pass over so many rows, recomputation included.
  double pass_s(int device, std::size_t layer, std::int64_t rows, bool backward) const;
  double update_s(int device, double parameters) const;
  /// Memory and paths, as the network is when nothing is on it.
  Devices devices(bool limits_memory) const;

 private:
  double speed(int device) const { return speeds_[static_cast<std::size_t>(device)]; }

  const training::MemoryTerms& terms_;
  std::vector<training::RankWork> work_;
  std::vector<double> speeds_;  ///< flop/s, slower or faster ranks included
};

}  // namespace simgrad::strategies
