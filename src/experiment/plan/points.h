/// The points of a grid: a scenario's document under every combination of the values that its axes take.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "experiment/plan/settings.h"
#include "scenario/document.h"

namespace simgrad::experiment {

/// A hash of each file, joined by "+".  Errors: EnvironmentError for a file that cannot be read.
std::string contents_of(const std::vector<std::string>& files);

/// One grid point: its document, and what it has of its own.
struct Point {
  scenario::Document document;
  nlohmann::ordered_json parameters = nlohmann::ordered_json::object();
};

/// The key of `--set key=value`.
std::string_view assigned_key(std::string_view assignment);

/// The document's [grid], which is taken out of it, and that of `--grid`; zips last, numbered from 1 on. A key that the
/// command line sets or varies leaves the scenario's grid, and its zip.  Faults: a key in two options --grid, a value
/// that an axis takes twice.
std::vector<scenario::Axis> all_axes(scenario::Document& document, const std::vector<std::string>& sets,
                                     const std::vector<std::string>& grids, scenario::Faults& faults);

/// The product of the axes, the last one varying fastest; axes of a zip vary together. Points share what is equal in
/// their documents.
std::vector<Point> expand(const scenario::Document& document, const std::vector<scenario::Axis>& axes);

using AllSettings = std::vector<std::shared_ptr<const Settings>>;

/// A grid point as it was read: its settings, and the faults for which it cannot run.
struct PointRead {
  std::shared_ptr<const Settings> settings;
  scenario::Faults faults = {};
};

/// Reads each point.  names: of the strategies that will run; none: all.  advises: as Settings has it.  goes_on: asked
/// before each point but the first, with the first one's settings; if not, the points from there on are not read.
/// faults_most: nor are those behind so many faults.  Errors: as read_points.
std::vector<PointRead> read_each(const std::vector<Point>& points, const std::vector<std::string>& names = {},
                                 bool advises = true, const std::function<bool(const Settings& first)>& goes_on = {},
                                 std::size_t faults_most = std::numeric_limits<std::size_t>::max());

/// The settings of each point, with the facts about the files that it names. Faults of some points are found in one
/// pass with the faults of all; behind some hundreds of them no other point is read.  Errors: EnvironmentError for
/// files that cannot be read.
AllSettings read_points(const std::vector<Point>& points, const std::vector<std::string>& names,
                        scenario::Faults& faults);

/// Hashes of the contents of the files that the points name, each once, ascending.
/// Errors: EnvironmentError for a file that cannot be read.
std::vector<std::string> files_of(const AllSettings& points);

}  // namespace simgrad::experiment
