/// A fault that many points of a grid have is told once: with the first value, the others, and the points that have it.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "experiment/plan/points.h"

namespace simgrad::experiment {

/// The faults of all grid points. Faults at one place that differ only in the point's value there are one: the values
/// of a formula, or of an option --grid. The points must outlive this.
class ValueFaults {
 public:
  void add(const Point& point, const scenario::Faults& found);
  /// Adds them to the faults, in the order in which they were found.  cut: more points have not been looked at.
  void tell(scenario::Faults& faults, bool cut) const;

 private:
  struct Fault {
    scenario::Position position;
    std::string message;              ///< with the first value
    std::string key;                  ///< of the axis whose value the message names; empty: it names none
    std::vector<std::string> others;  ///< further values of that axis, as TOML writes them
    std::vector<std::size_t> points;  ///< those that have the fault
  };
  std::vector<Fault> faults_;
  std::vector<const Point*> points_;
  std::map<std::string, std::size_t> places_;  ///< in faults_, by place and message without the value
};

}  // namespace simgrad::experiment
