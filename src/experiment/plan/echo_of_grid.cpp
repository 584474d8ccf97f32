#include "experiment/plan/echo_of_grid.h"

#include <algorithm>
#include <set>

#include "experiment/plan/job_training.h"

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
      const auto other = others.find(key);
      const bool there = other != others.end();
      if (there && *other == value) continue;
      const std::string path = prefix + key;
      if (varied_.contains(path) || (there && keep_within(value, *other, path))) continue;
      if (!document_.contains(path)) gone.push_back(key);
    }
    for (const std::string& key : gone) table.erase(key);
  }

 private:
  /// Does so within two tables, or two lists of as many tables. Returns whether the values are such.
  bool keep_within(ordered_json& value, const ordered_json& other, const std::string& path) const {
    if (value.is_object() && other.is_object()) {
      keep(value, other, path + ".");
      return true;
    }
    const auto is_table = [](const ordered_json& each) { return each.is_object(); };
    const bool lists = value.is_array() && other.is_array() && value.size() == other.size() &&
                       std::ranges::all_of(value, is_table) && std::ranges::all_of(other, is_table);
    if (!lists) return false;
    for (std::size_t k = 0; k < value.size(); ++k) keep(value[k], other[k], path + "." + std::to_string(k) + ".");
    return true;
  }

  const scenario::Document& document_;
  std::set<std::string> varied_;
};

}  // namespace

ordered_json echo_with_jobs(const Settings& settings, const std::string& directory) {
  ordered_json tree = scenario::echo(settings, directory);
  for (std::size_t j = 0; j < settings.jobs.size(); ++j) tree["job"][j].update(echo_of_own(settings, j, directory));
  return tree;
}

void leave_out_what_axes_change(ordered_json& tree, const std::vector<scenario::Axis>& axes,
                                const std::vector<Point>& points, const AllSettings& settings,
                                const std::string& directory) {
  const CommonToAll common(points.front().document, axes);
  for (std::size_t i = 1; i < points.size(); ++i) common.keep(tree, echo_with_jobs(*settings[i], directory), "");
}

}  // namespace simgrad::experiment
