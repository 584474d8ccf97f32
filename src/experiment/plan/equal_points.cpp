#include "experiment/plan/equal_points.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "experiment/plan/job_training.h"
#include "outputs/summary.h"
#include "scenario/json.h"

namespace simgrad::experiment {

using scenario::Axis;
using scenario::Faults;
using scenario::inline_toml;

namespace {

/// Equal for equal values: 1 and 1.0 are one number.
std::string spelling(const nlohmann::ordered_json& value) {
  constexpr double exact = 0x1p53;
  const double number = value.is_number_float() ? value.get<double>() : 0.5;
  const bool whole = number == std::floor(number) && std::abs(number) < exact;
  return whole ? std::to_string(static_cast<std::int64_t>(number)) : value.dump();
}

/// k = 1; of a zip: k = 1, l = 2
std::string values_text(const Dimension& dimension, std::size_t k) {
  std::string text;
  for (const Axis* axis : dimension.axes)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", axis->key, axis->values[k].toml);
  return text;
}

/// "k" takes the value 1 twice; of a zip: "k" takes the value 1 while "l" takes the value 2 twice.
std::string twice_alike(const Dimension& dimension, std::size_t k) {
  std::string text;
  for (const Axis* axis : dimension.axes)
    text += fmt::format("{}\"{}\" takes the value {}", text.empty() ? "" : " while ", axis->key, axis->values[k].toml);
  return text + " twice";
}

std::string one_value_text(const std::string& key, const std::string& first, const std::string& second) {
  return fmt::format("\"{}\" takes one value twice, as {} and as {}; leave one of them out", key, first, second);
}

std::string equal_points_text(const std::string& first, const std::string& second) {
  return fmt::format("two points of the grid are equal: {}, and {}; leave one of them out", first, second);
}

using Keys = std::vector<std::string>;

/// The keys of the grid in which two points differ.
Keys differing_keys(const Point& first, const Point& second) {
  Keys keys;
  for (const auto& [key, value] : second.parameters.items())
    if (first.parameters.at(key) != value) keys.push_back(key);
  return keys;
}

/// a = 1, b = "2s"
std::string values_text(const Point& point, const Keys& keys) {
  std::string text;
  for (const std::string& key : keys)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, inline_toml(point.parameters.at(key)));
  return text;
}

void add_fault(const Point& first, const Point& second, const Keys& keys, Faults& faults) {
  const auto at = [&](const Point& point) { return inline_toml(point.parameters.at(keys.front())); };
  faults.add(second.document.position(keys.back()),
             keys.size() == 1 ? one_value_text(keys.front(), at(first), at(second))
                              : equal_points_text(values_text(first, keys), values_text(second, keys)));
}

/// Adds a fault for each point that equals one before it, and names the one that differs in the fewest keys.
void refuse_all_but_first(const std::vector<Point>& points, const std::vector<std::size_t>& equal, Faults& faults) {
  constexpr std::size_t most = 20;
  for (std::size_t i = 1; i < std::min(equal.size(), most); ++i) {
    std::size_t nearest = equal.front();
    Keys keys = differing_keys(points[nearest], points[equal[i]]);
    for (std::size_t j = 1; j < i; ++j)
      if (Keys fewer = differing_keys(points[equal[j]], points[equal[i]]); fewer.size() < keys.size()) {
        nearest = equal[j];
        keys = std::move(fewer);
      }
    add_fault(points[nearest], points[equal[i]], keys, faults);
  }
}

/// All that the settings say, with the tables of jobs.
std::string text_of(const Settings& settings) {
  std::string text = outputs::compact(scenario::echo(settings));
  for (std::size_t j = 0; j < settings.jobs.size(); ++j) text += outputs::compact(echo_of_own(settings, j, ""));
  return text;
}

}  // namespace

void refuse_repeated_values(const Dimension& dimension, Faults& faults) {
  std::map<std::string, std::size_t> seen;
  for (std::size_t k = 0; k < dimension.size(); ++k) {
    std::string values;
    for (const Axis* axis : dimension.axes) values += spelling(scenario::json_of(axis->values[k])) + '\n';
    const auto [first, fresh] = seen.emplace(values, k);
    if (fresh) continue;
    const std::string before = values_text(dimension, first->second), now = values_text(dimension, k);
    const std::vector<scenario::Value>& values_of_axis = dimension.axes.front()->values;
    const auto text = [&] {
      if (before == now) return twice_alike(dimension, k);
      if (dimension.axes.size() > 1) return equal_points_text(before, now);
      return one_value_text(dimension.axes.front()->key, values_of_axis[first->second].toml, values_of_axis[k].toml);
    };
    faults.add(values_of_axis[k].position, text());
  }
}

void refuse_equal_points(const std::vector<Point>& points, const AllSettings& settings,
                         const std::vector<RunPlan>& runs, const std::vector<std::size_t>& first_runs) {
  std::map<std::string, std::vector<std::size_t>> by_ids;
  for (std::size_t p = 0; p < points.size(); ++p) {
    const std::size_t end = p + 1 < points.size() ? first_runs[p + 1] : runs.size();
    std::string ids;
    for (std::size_t run = first_runs[p]; run < end; ++run) ids += runs[run].id;
    if (!ids.empty()) by_ids[std::move(ids)].push_back(p);
  }
  Faults faults;
  for (const auto& [ids, alike] : by_ids) {
    if (alike.size() < 2) continue;
    std::map<std::string, std::vector<std::size_t>> by_settings;
    for (const std::size_t p : alike) by_settings[text_of(*settings[p])].push_back(p);
    for (const auto& [text, equal] : by_settings) refuse_all_but_first(points, equal, faults);
  }
  faults.raise_if_any();
}

}  // namespace simgrad::experiment
