/// The real time that an experiment still takes, from the runs that are finished and under way.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace simgrad::experiment {

/// Runs of one group (a strategy on so many workers) are expected to take equally long, and others as the mean of all.
/// Cost: of each call that of the groups and of the runs under way, not of all runs.
class Pace {
 public:
  /// groups: of each run.  jobs: runs at a time.
  Pace(const std::vector<std::string>& groups, int jobs);

  /// A run is now of another group.
  void regroup(std::size_t run, const std::string& group);
  /// A run is so far after so much real time.
  void at(std::size_t run, double share, double elapsed_s);
  void ended(std::size_t run, double wall_s);
  /// A run is not to be done after all.
  void removed(std::size_t run);

  /// The real time that a run of this one's group takes; nothing before one has ended.
  std::optional<double> expected_s(std::size_t run) const { return group_of_[run]->second.ended.value(); }
  /// A run under way counts by the share that it reports, not by the time since its start.
  /// Returns nothing before the first run is far enough.
  std::optional<double> left_s() const;

 private:
  struct Mean {
    double sum = 0.0;
    int count = 0;

    void add(double value) {
      sum += value;
      ++count;
    }
    std::optional<double> value() const { return count > 0 ? std::optional(sum / count) : std::nullopt; }
  };
  struct Group {
    Mean ended;
    int waiting = 0;  ///< runs that have not been heard of
  };
  struct UnderWay {
    double elapsed_s = 0.0;
    double share = 0.0;
    std::optional<double> total_s = {};  ///< extrapolated
  };

  std::map<std::string, Group> groups_;
  std::vector<std::map<std::string, Group>::iterator> group_of_;  ///< by run
  std::map<std::size_t, UnderWay> under_way_;
  int jobs_;
};

}  // namespace simgrad::experiment
