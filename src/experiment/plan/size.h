/// The size of an experiment, counted before any of it is planned.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "scenario/document.h"

namespace simgrad::experiment {

/// Axes that are varied together: one by itself, or those of a zip.
struct Dimension {
  std::vector<const scenario::Axis*> axes;

  std::size_t size() const { return axes.front()->values.size(); }
};

/// The dimensions whose product is the grid, in the order of their first axes.
std::vector<Dimension> dimensions(const std::vector<scenario::Axis>& axes);

/// The most points and runs that are planned: so many points are checked in some 2 s and 0.2 GB, and each further
/// strategy at all of them takes some 0.6 s.
inline constexpr std::size_t points_most = 20'000;
inline constexpr std::size_t runs_most = 100'000;

/// Errors: ScenarioError with the exact numbers of points and of runs, if there are more than are planned. Nothing is
/// expanded for it.  strategies: those that run at a point, or the jobs.
/// file: the scenario's, for the error.
void refuse_too_many(const std::string& file, const std::vector<scenario::Axis>& axes, std::size_t strategies,
                     std::size_t seeds);
/// Refuses a number of runs that is known otherwise.
void refuse_too_many_runs(const std::string& file, std::size_t runs);

}  // namespace simgrad::experiment
