/// The clocks of workers under a staleness bound.
///
/// Source: Q. Ho et al., "More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server", NIPS 2013.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

namespace simgrad::strategies {

/// How many gradients of its own each worker has given, and how far ahead of the slowest at work it was when it pulled.
class Clocks {
 public:
  explicit Clocks(int workers)
      : clock_(static_cast<std::size_t>(workers)), ahead_(clock_), here_(clock_.size(), true) {}

  void tick(int worker) { ++clock_[static_cast<std::size_t>(worker)]; }
  void leave(int worker) { here_[static_cast<std::size_t>(worker)] = false; }
  /// Who comes back is with the slowest.
  void come_back(int worker) {
    const auto i = static_cast<std::size_t>(worker);
    if (!here_[i]) clock_[i] = std::max(clock_[i], slowest().value_or(clock_[i]));
    here_[i] = true;
  }
  std::int64_t lead(int worker) const {
    const std::int64_t own = clock_[static_cast<std::size_t>(worker)];
    return own - slowest().value_or(own);
  }
  void pulls(int worker) { ahead_[static_cast<std::size_t>(worker)] = lead(worker); }
  std::int64_t clock(int worker) const { return clock_[static_cast<std::size_t>(worker)]; }
  /// Of the others at work; without any, a clock that nobody reaches.
  std::int64_t slowest_other(int worker) const {
    std::int64_t least = std::numeric_limits<std::int64_t>::max();
    for (std::size_t i = 0; i < clock_.size(); ++i)
      if (here_[i] && i != static_cast<std::size_t>(worker)) least = std::min(least, clock_[i]);
    return least;
  }
  std::int64_t staleness(int worker) const { return ahead_[static_cast<std::size_t>(worker)]; }

 private:
  std::optional<std::int64_t> slowest() const {
    std::optional<std::int64_t> least;
    for (std::size_t i = 0; i < clock_.size(); ++i)
      if (here_[i]) least = std::min(least.value_or(clock_[i]), clock_[i]);
    return least;
  }

  std::vector<std::int64_t> clock_, ahead_;
  std::vector<bool> here_;
};

}  // namespace simgrad::strategies
