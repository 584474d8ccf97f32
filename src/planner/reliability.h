/// The failures, checkpoints and spares of candidates whose goal is an amount of training, as their scenarios say.
/// Their steps are timed without these.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "capacity/computing.h"
#include "capacity/expected_time.h"
#include "planner/candidate.h"

namespace simgrad::planner {

/// The failures of a candidate's servers, and how it recovers.  Virtual seconds.
struct Reliability {
  std::shared_ptr<const experiment::Settings> settings;  ///< has the processes
  const cluster::FailureProcess* failures = nullptr;
  const cluster::Repair* repair = nullptr;
  capacity::ServerLife life = {};
  bool exponential = true;                   ///< else the closed form is an approximation
  int servers = 1;                           ///< that fail, and of which the training needs all
  std::vector<int> spares{0};                ///< to choose among, ascending
  std::vector<record::HostUse> timed = {};   ///< the hosts of the runs that time the steps
  std::vector<record::HostUse> rented = {};  ///< likewise on their market, with the spares of [cluster.failures]
  std::vector<record::HostUse> spare = {};   ///< what one spare of [capacity] rents
  double detection_s = 0.0, restart_s = 0.0, warm_up_s = 0.0;
  bool reads_checkpoint = false;                             ///< a restart takes the reading of one, too
  bool from_memory = false;                                  ///< a failure loses the step alone
  std::optional<std::string> rule = {};                      ///< of checkpoints, as capacity::interval_s takes it
  double every_steps = 0.0;                                  ///< in place of a rule; 0: not by steps
  std::optional<capacity::CheckpointTimes> checkpoint = {};  ///< none: as two timing runs say

  double mtbf_s() const { return life.mtbf_s / servers; }
  bool fails() const { return failures->happens() && servers > 0; }
  /// Whether servers are down as often as in the long run. All are up at first, and a training that is shorter than a
  /// repair does not see more.  work_s: without failures.
  bool settled(double work_s) const { return std::max(warm_up_s, work_s) >= life.repair_s; }
  /// A share of its time that useful work of so long or longer never exceeds.
  double goodput_most(double work_s) const;
};

/// Whether the training's failures, or its checkpoints where nothing fails, are those of [capacity].
bool takes_capacity(const experiment::Settings& settings);

/// Whether the closed form takes in what the candidate's scenario says about failures and checkpoints. It does for an
/// amount of training, by [capacity], else by [cluster.failures] and [training] if hosts fail at random and the
/// training restarts or waits.
bool by_closed_form(const experiment::Settings& settings, std::size_t strategy);

/// Nothing if nothing fails and no checkpoint takes time, or where by_closed_form() does not hold.  settings: the
/// candidate's, or those under other assumptions.
std::optional<Reliability> reliability_of(const Candidate& candidate,
                                          const std::shared_ptr<const experiment::Settings>& settings);

/// The reason why failures of an amount of training are not taken in; or empty.
std::string refusal_of_failures(const Candidate& candidate);

}  // namespace simgrad::planner
