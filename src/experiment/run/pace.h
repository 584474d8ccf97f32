/// The real time that an experiment still takes, from the runs that are finished and under way.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace simgrad::experiment {

/// Runs of one group (a strategy on so many workers) are expected to take equally long, and others as the mean of all.
class Pace {
 public:
  /// groups: of each run.  jobs: runs at a time.
  Pace(std::vector<std::string> groups, int jobs);

  /// A run is so far after so much real time.
  void at(std::size_t run, double share, double elapsed_s);
  void ended(std::size_t run, double wall_s);

  /// Nothing before the first run is far enough.
  std::optional<double> left_s() const;

 private:
  struct Run {
    double elapsed_s = 0.0;
    std::optional<double> total_s = {};  ///< measured or extrapolated
    bool ended = false;
  };

  std::vector<std::string> groups_;
  std::vector<Run> runs_;
  int jobs_;
};

}  // namespace simgrad::experiment
