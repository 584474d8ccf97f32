/// A fault that many values of one list have is told once: with the first value, and the number of the others.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "experiment/plan/points.h"

namespace simgrad::experiment {

/// The faults of all grid points. Faults at one place that differ only in the point's value there are one: the values
/// of a formula, or of an option --grid.
class ValueFaults {
 public:
  void add(const Point& point, const scenario::Faults& found);
  /// Adds them to the faults, in the order in which they were found.  cut: more points have not been looked at.
  void tell(scenario::Faults& faults, bool cut) const;

 private:
  struct Fault {
    scenario::Position position;
    std::string message;           ///< with the first value
    std::set<std::string> others;  ///< the messages with other values
  };
  std::vector<Fault> faults_;
  std::map<std::string, std::size_t> places_;  ///< in faults_, by place and message without the value
};

}  // namespace simgrad::experiment
