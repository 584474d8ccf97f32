/// Hosts whose speed changes with virtual time.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <simgrid/kernel/ProfileBuilder.hpp>
#include <simgrid/s4u.hpp>
#include <utility>

#include "cluster/fabric/cluster.h"

namespace simgrad::cluster {

namespace profile = simgrid::kernel::profile;

namespace {

/// SimGrid 3.32 may abort where what is computed has no speed at all.
constexpr double standstill = 1e-15;

/// The changes as SimGrid wants them: each some seconds after the one before, for it aborts at two of one date. A clock
/// of changes without end hides from SimGrid that nobody moves; so `look` is asked now and then.
class Feed {
 public:
  static constexpr std::size_t looks_every = 1000;  ///< changes

  Feed(std::unique_ptr<SpeedChanges> changes, std::function<void(double until_s)> look, std::function<bool()> ended)
      : changes_(std::move(changes)), look_(std::move(look)), ended_(std::move(ended)) {}

  void operator()(std::vector<profile::DatedValue>& values) {
    if (ended_()) return;  // nobody moves any more: the rest of the clock is not worth its changes
    std::optional<SpeedChange> change = std::exchange(following_, {});
    if (!change) change = changes_->next();
    if (!change) return;
    while ((following_ = changes_->next()) && following_->at_s <= change->at_s) change = following_;
    values.emplace_back(change->at_s - last_s_, std::max(change->factor, standstill));
    last_s_ = change->at_s;
    if (++count_ % looks_every == 0) look_(last_s_);
  }

 private:
  std::shared_ptr<SpeedChanges> changes_;
  std::function<void(double)> look_;
  std::function<bool()> ended_;
  std::optional<SpeedChange> following_;
  double last_s_ = 0.0;
  std::size_t count_ = 0;
};

}  // namespace

void Cluster::vary_speed(int index, std::optional<int> worker, bool shares_cores) {
  if (timelines_.contains(index)) return;
  const auto changes = [&] {
    return options_.stragglers->speed_changes(
        worker,
        base::Stream({.seed = seed_, .purpose = base::Purpose::straggler, .rank = static_cast<std::uint32_t>(index)}));
  };
  auto own = changes();
  if (!own) return;
  timelines_.emplace(index, SpeedTimeline(std::move(own), options_.watchdog.events));
  if (!shares_cores) return;
  // The watchdog counts as many events as one host has changes, on average over the hosts.
  const auto changes_left = std::make_shared<std::size_t>(0);  // that are no event yet
  const auto look = [this, changes_left](double at_s) {
    at(at_s, [this, changes_left] {
      *changes_left += Feed::looks_every;
      for (; *changes_left >= timelines_.size() && !failed(); *changes_left -= timelines_.size()) fail_if_stuck();
    });
  };
  host(index)->set_speed_profile(profile::ProfileBuilder::from_callback(
      fmt::format("speed-{}", index), Feed(changes(), look, [this] { return over(); }), -1.0));
}

double Cluster::varied_duration(int index, double work_s) const {
  const auto found = timelines_.find(index);
  if (found == timelines_.end()) return work_s;
  const double seconds = found->second.seconds(now(), work_s);
  if (std::isinf(seconds))
    throw std::runtime_error(fmt::format("host {} stands still for ever: the last factor of its speed is 0", index));
  return seconds;
}

}  // namespace simgrad::cluster
