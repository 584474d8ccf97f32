/// The clocks of workers under a staleness bound.
///
/// Source: Q. Ho et al., "More Effective Distributed ML via a Stale Synchronous Parallel Parameter Server", NIPS 2013.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "strategies/servers/worker_listener.h"

namespace simgrad::strategies {

/// A worker's clock is the number of gradients that it has given; its lead is how far it is ahead of the slowest at
/// work.
class Clocks {
 public:
  explicit Clocks(int workers) : clock_(static_cast<std::size_t>(workers)), here_(clock_.size(), true) {}

  void tick(int worker) { ++clock_[static_cast<std::size_t>(worker)]; }
  void leave(int worker) { here_[static_cast<std::size_t>(worker)] = false; }
  /// A worker that comes back goes on from the slowest worker's clock, if its own is behind that.
  void come_back(int worker) {
    const auto i = static_cast<std::size_t>(worker);
    if (!here_[i]) clock_[i] = std::max(clock_[i], slowest().value_or(clock_[i]));
    here_[i] = true;
  }
  std::int64_t lead(int worker) const {
    const std::int64_t own = clock_[static_cast<std::size_t>(worker)];
    return own - slowest().value_or(own);
  }

 private:
  std::optional<std::int64_t> slowest() const {
    std::optional<std::int64_t> least;
    for (std::size_t i = 0; i < clock_.size(); ++i)
      if (here_[i]) least = std::min(least.value_or(clock_[i]), clock_[i]);
    return least;
  }

  std::vector<std::int64_t> clock_;
  std::vector<bool> here_;
};

/// Answers a worker's push as soon as the worker's lead is within the bound. No worker waits for a lost one.
class StalenessBound final : public WorkerListener {
 public:
  static constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();

  StalenessBound(int workers, std::int64_t bound, std::function<void(int worker)> answer)
      : clocks_(workers), bound_(bound), answer_(std::move(answer)) {}

  const Clocks& clocks() const { return clocks_; }
  /// The worker's gradient has been applied.
  void pushed(int worker) {
    clocks_.tick(worker);
    waiting_.push_back(worker);
    answer_within_bound();
  }
  void on_rejoin(int worker) override { clocks_.come_back(worker); }
  void on_lost(int worker) override {
    clocks_.leave(worker);
    std::erase(waiting_, worker);
    answer_within_bound();
  }

 private:
  void answer_within_bound() {
    std::erase_if(waiting_, [&](int worker) {
      if (clocks_.lead(worker) > bound_) return false;
      answer_(worker);
      return true;
    });
  }

  Clocks clocks_;
  std::int64_t bound_;
  std::function<void(int)> answer_;
  std::vector<int> waiting_;
};

}  // namespace simgrad::strategies
