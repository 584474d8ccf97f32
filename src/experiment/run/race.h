/// A race: a strategy that is clearly behind at a grid point does not run there under further seeds.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"
#include "outputs/results.h"

namespace simgrad::experiment {

/// Strategies of a grid point are compared over the seeds that all of them have finished, in the order of the seeds: by
/// the time to the target where the scenario has one, else by the time per sample. After three seeds, and after every
/// one more, a strategy is dropped if the interval of its paired differences from the best one lies above 0. The
/// interval's confidence is 95 % for all looks together (Bonferroni's inequality). A strategy that has reached the
/// target in no seed, where the best one has in all, or that has diverged in all, is dropped, too. Decisions follow
/// from results alone, whatever the order in which runs end. Source: O. Maron, A. Moore, The Racing Algorithm: Model
/// Selection for Lazy Learners, 1997.
class Race {
 public:
  static constexpr std::size_t seeds_least = 3;

  /// Errors: ScenarioError for a plan in which nothing can be dropped: of too few seeds, or of jobs side by side.
  explicit Race(const Plan& plan);

  /// Whether the run may start: all earlier seeds of its grid point are decided.
  bool open(const RunPlan& run) const;
  bool dropped(const RunPlan& run) const;
  /// Takes a finished run. Returns whether another strategy is dropped by it.
  bool finished(const RunPlan& plan, const outputs::Run& run);

  /// The strategies that were dropped, in the order of the plan.
  std::vector<outputs::Dropped> all_dropped() const;

 private:
  struct Contestant {
    std::string label;
    std::vector<const RunPlan*> runs;  ///< by seed
    std::vector<std::optional<outputs::Run>> results;
    std::optional<outputs::Dropped> dropped = {};
  };
  struct Point {
    std::vector<Contestant> contestants;
    std::size_t decided = 0;  ///< seeds that everybody who is left has finished
    std::size_t seeds = 0;
  };
  struct Place {
    std::size_t point = 0, contestant = 0, seed = 0;
  };

  bool decide(Point& point) const;

  bool has_target_ = false;
  std::vector<Point> points_;
  std::map<const RunPlan*, Place> places_;
};

}  // namespace simgrad::experiment
