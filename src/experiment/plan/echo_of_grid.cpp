#include "experiment/plan/echo_of_grid.h"

#include <algorithm>
#include <set>

namespace simgrad::experiment {

using nlohmann::ordered_json;

namespace {

class CommonToAll {
 public:
  CommonToAll(const scenario::Document& document, const std::vector<scenario::Axis>& axes) : document_(document) {
    for (const scenario::Axis& axis : axes) varied_.insert(axis.key);
  }

  /// Erases from a table what the same table of another point does not have, or has otherwise.
  void keep(ordered_json& table, const ordered_json& others, const std::string& prefix) const {
    std::vector<std::string> gone;
    for (auto& [key, value] : table.items()) {
      const std::string path = prefix + key;
      if (varied_.contains(path)) continue;
      const auto other = others.find(key);
      if (other != others.end() && *other == value) continue;
      if (other != others.end() && value.is_object() && other->is_object())
        keep(value, *other, path + ".");
      else if (!document_.contains(path))
        gone.push_back(key);
    }
    for (const std::string& key : gone) table.erase(key);
  }

 private:
  const scenario::Document& document_;
  std::set<std::string> varied_;
};

/// The dimensions of the grid in which two points differ: axes of a zip are one.
std::size_t differences(const Point& a, const Point& b, const std::vector<scenario::Axis>& axes) {
  std::set<std::string> found;
  for (const scenario::Axis& axis : axes)
    if (a.parameters.value(axis.key, ordered_json()) != b.parameters.value(axis.key, ordered_json()))
      found.insert(axis.zip > 0 ? std::to_string(axis.zip) : axis.key);
  return found.size();
}

}  // namespace

void leave_out_what_axes_change(ordered_json& tree, const std::vector<scenario::Axis>& axes,
                                const std::vector<Point>& points, const AllSettings& settings,
                                const std::string& directory) {
  const CommonToAll common(points.front().document, axes);
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (differences(points.front(), points[i], axes) != 1) continue;
    ordered_json other = scenario::echo(*settings[i], directory);
    for (const char* section : {"cluster", "data", "model", "training", "parallel", "stop", "evaluate"})
      if (tree.contains(section) && tree[section].is_object())
        common.keep(tree[section], other[section], std::string(section) + ".");
  }
}

}  // namespace simgrad::experiment
