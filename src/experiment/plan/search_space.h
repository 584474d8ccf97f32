/// The points that `simgrad plan` searches: all combinations of the values in [grid] and [plan.space].
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "experiment/plan/plan.h"
#include "experiment/plan/points.h"

namespace simgrad::experiment {

struct SearchSpace {
  std::string name;       ///< the stem of the scenario's file
  std::string directory;  ///< of the scenario's file
  std::string title;
  scenario::Document document;       ///< the file with --set laid over it, without its axes
  std::vector<scenario::Axis> axes;  ///< of the grid, then of the space
  std::vector<Point> points;
  std::vector<PointRead> reads;  ///< of each point; a point with faults cannot run as it is
  std::size_t unread = 0;        ///< points behind these, for which there was no time
};

/// goes_on: asked before each point but the first is read, with the first one's settings; if not, the others are left
/// out.
/// Errors: ScenarioError for faults of the file that no point can be without: bad axes, unknown keys, or too many
/// points; EnvironmentError for files that cannot be read.
SearchSpace make_search_space(const std::string& file, const Selection& selection,
                              const std::function<bool(const Settings& first)>& goes_on = {});

/// The resolved scenario of the first point, with the axes as its grid.
nlohmann::ordered_json resolved(const SearchSpace& space);

/// The resolved scenario of one strategy at one point, without a grid, [plan] and expectations.
/// directory: of the file to be, for paths.
nlohmann::ordered_json resolved_alone(const Settings& settings, std::size_t strategy, const std::string& directory);

}  // namespace simgrad::experiment
